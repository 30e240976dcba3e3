//! Edits of a YAML text.
//!
//! Scalars, keys and items of flow lists are replaced in the lossless tree of `yaml-edit`. Items of block lists are
//! ranges of lines, so that the comment lines directly above an item go where it goes. Of very many scalars the bytes are
//! replaced at their places, all in one pass: an edit of the tree walks the list that it is in. So are the lines of a
//! text in a block.

use std::borrow::Cow;
use std::ops::Range;
use std::str::FromStr as _;

use ctx_preset_import::write_document;
use serde_json::Value;
use yaml_edit::{AsYaml, Document, Mapping, ScalarValue, Sequence, YamlNode};

use super::{Edit, EditError, block_range, block_written, index, unescaped};
use crate::edits::{replaced, value_in_text};
use crate::locate::Places;

/// Whether a text is written in the quotes of the one that it replaces, which cannot express every text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    Kept,
    Chosen,
}

/// From how many edits on scalars are replaced at their places.
const MANY: usize = 100;

/// Returns the text after edits, one after the other; `old` is what the text holds, and `holds` tells whether a text
/// holds what was asked for.
///
/// # Errors
///
/// The text cannot express the edits, or not all of them together.
pub fn edited(
    text: &str,
    edits: &[Edit],
    old: &Value,
    holds: &dyn Fn(&str) -> bool,
) -> Result<String, EditError> {
    if edits.len() >= MANY && edits.iter().all(|edit| edit.is_of_scalar(old)) {
        return with_scalars(text, edits).filter(|text| holds(text)).ok_or(EditError::ChangesMore);
    }
    if let Some(text) = with_block(text, edits, old).filter(|text| holds(text)) {
        return Ok(text);
    }
    // Most texts fit into the quotes of the one before; only for others is the text written again.
    match in_tree_or_lines(text, edits, Quotes::Kept)? {
        text if holds(&text) => return Ok(text),
        _ if edits.len() > 1 => return Err(EditError::ChangesMore),
        _ => {}
    }
    let text = in_tree_or_lines(text, edits, Quotes::Chosen)?;
    holds(&text).then_some(text).ok_or(EditError::ChangesMore)
}

/// Replaces the bytes of scalars by those of others; none where that cannot be said. O(bytes of the text).
fn with_scalars(text: &str, edits: &[Edit]) -> Option<String> {
    let places = Places::find(text, edits.iter().map(Edit::pointer));
    let replacement = |edit: &Edit| match edit {
        Edit::Set { pointer, value } => value_in_text(text, places.at(pointer)?, value, true).ok(),
        _ => None,
    };
    replaced(text, edits.iter().map(replacement).collect::<Option<Vec<_>>>()?)
}

/// Replaces the lines of a text in a block, which the tree takes the blank lines below for; none for any other edit.
fn with_block(text: &str, edits: &[Edit], old: &Value) -> Option<String> {
    let [Edit::Set { pointer, value: Value::String(new) }] = edits else { return None };
    let was = old.pointer(pointer)?.as_str()?;
    let range = block_range(text, Places::find(text, [pointer.as_str()]).at(pointer)?.range.start)?;
    let block = text.get(range.clone())?;
    let quoted = || format!("{}\n", Value::from(new.as_str()));
    let written = block_written(block, was, new).unwrap_or_else(quoted);
    replaced(text, vec![(range, written)])
}

/// Makes edits in the tree, or in the lines of block lists.
///
/// The text is read once for edits of scalars and keys in a row, and once for edits of the items of one block list.
fn in_tree_or_lines(text: &str, edits: &[Edit], quotes: Quotes) -> Result<String, EditError> {
    let mut text = text.to_owned();
    let mut rest = edits;
    while !rest.is_empty() {
        let document = Document::from_str(&text).map_err(|_| EditError::ChangesMore)?;
        let run = of_one_list(&document, rest)?;
        let (list, others) = rest.split_at(run);
        rest = others;
        if let Some(first) = list.first() {
            text = with_items(&document, first.pointer(), list)?;
            continue;
        }
        while let Some((edit, others)) = rest.split_first() {
            if block_list(&document, edit)?.is_some() {
                break;
            }
            in_tree(&document, edit, quotes)?;
            rest = others;
        }
        text = document.to_string();
    }
    Ok(text)
}

/// Makes an edit in the tree.
fn in_tree(document: &Document, edit: &Edit, quotes: Quotes) -> Result<(), EditError> {
    let (parent, key) = parent(document, edit.pointer())?;
    let is_made = match (edit, parent) {
        (Edit::Set { value, .. }, parent) => {
            let replaced = parent.get(&key).ok().filter(|_| quotes == Quotes::Kept);
            let value = match (value, replaced.as_ref().and_then(YamlNode::as_scalar)) {
                (Value::String(text), Some(old)) => quoted_as(text, &old.value()),
                _ => node(value)?,
            };
            match parent {
                Parent::Mapping(mapping) => {
                    mapping.set(key.as_str(), &*value);
                    true
                }
                Parent::Sequence(list) => list.set(at(&key)?, &*value),
            }
        }
        (Edit::Rename { key: new, .. }, Parent::Mapping(mapping)) => {
            mapping.rename_key(key.as_str(), new.as_str());
            true
        }
        (Edit::Remove { .. }, Parent::Mapping(mapping)) => {
            drop(mapping.remove(key.as_str()));
            true
        }
        (Edit::Remove { .. }, Parent::Sequence(list)) => list.remove(at(&key)?).is_some(),
        (Edit::Insert { value, .. }, Parent::Sequence(list)) => {
            let at = if key == "-" { list.len() } else { at(&key)? };
            list.insert(at, &*node(value)?);
            true
        }
        (Edit::Move { to, .. }, Parent::Sequence(list)) => match list.remove(at(&key)?) {
            Some(item) => {
                list.insert(*to, item);
                true
            }
            None => false,
        },
        _ => false,
    };
    is_made.then_some(()).ok_or(EditError::ChangesMore)
}

/// Returns how many of the first edits are about items of one block list.
fn of_one_list(document: &Document, edits: &[Edit]) -> Result<usize, EditError> {
    let Some(first) = edits.first() else { return Ok(0) };
    let Some(list) = block_list(document, first)? else { return Ok(0) };
    let is_of_list = |edit: &&Edit| {
        let above = edit.pointer().rsplit_once('/').map(|(above, _)| above);
        above == Some(list) && !matches!(edit, Edit::Set { .. } | Edit::Rename { .. })
    };
    Ok(edits.iter().take_while(is_of_list).count())
}

/// Returns the pointer of the block list whose items an edit removes, inserts or moves.
fn block_list<'e>(document: &Document, edit: &'e Edit) -> Result<Option<&'e str>, EditError> {
    if matches!(edit, Edit::Set { .. } | Edit::Rename { .. }) {
        return Ok(None);
    }
    let is_block = match parent(document, edit.pointer())? {
        (Parent::Sequence(list), _) => !list.is_flow_style(),
        (Parent::Mapping(_), _) => false,
    };
    Ok(edit.pointer().rsplit_once('/').filter(|_| is_block).map(|(list, _)| list))
}

/// Removes, inserts and moves items of a block list: their lines are put in another order.
fn with_items(document: &Document, pointer: &str, edits: &[Edit]) -> Result<String, EditError> {
    let text = document.to_string();
    let Parent::Sequence(list) = parent(document, pointer)?.0 else { return Err(EditError::ChangesMore) };
    let Items { column, ranges } = items(&text, &list)?;
    let part = |range: &Range<usize>| text.get(range.clone()).map(Cow::Borrowed);
    let mut order = ranges.iter().map(part).collect::<Option<Vec<_>>>().ok_or(EditError::ChangesMore)?;
    let mut is_emptied = false;
    for edit in edits {
        let (_, key) = edit.pointer().rsplit_once('/').ok_or(EditError::ChangesMore)?;
        let item = at(key).ok().filter(|at| *at < order.len() && !is_emptied).ok_or(EditError::ChangesMore);
        match edit {
            Edit::Insert { value, .. } => {
                let gap = if key == "-" { order.len() } else { at(key)? };
                if gap > order.len() || is_emptied {
                    return Err(EditError::ChangesMore);
                }
                order.insert(gap, Cow::Owned(new_item(value, column, text.contains("\r\n"))?));
            }
            Edit::Move { to, .. } => {
                let moved = order.remove(item?);
                if *to > order.len() {
                    return Err(EditError::ChangesMore);
                }
                order.insert(*to, moved);
            }
            // A block list cannot be empty.
            Edit::Remove { .. } if order.len() == 1 => is_emptied = item.map(|_| true)?,
            Edit::Remove { .. } => drop(order.remove(item?)),
            Edit::Set { .. } | Edit::Rename { .. } => return Err(EditError::ChangesMore),
        }
    }
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
        return Err(EditError::ChangesMore);
    };
    let around = [text.get(..first.start), text.get(last.end..)].map(Option::unwrap_or_default);
    let made = joined(around, &order);
    if !is_emptied {
        return Ok(made);
    }
    let left = Document::from_str(&made).map_err(|_| EditError::ChangesMore)?;
    if let Parent::Sequence(list) = parent(&left, pointer)?.0 {
        list.remove(0);
    }
    Ok(left.to_string())
}

/// Puts lines between others, each item on lines of its own.
fn joined([above, below]: [&str; 2], items: &[Cow<'_, str>]) -> String {
    let mut made = above.to_owned();
    for part in items.iter().map(|item| &**item).chain([below]) {
        if !part.is_empty() && !made.is_empty() && !made.ends_with('\n') {
            made.push('\n');
        }
        made.push_str(part);
    }
    made
}

/// Writes an item of a block list whose dashes stand in a column.
fn new_item(value: &Value, column: usize, has_returns: bool) -> Result<String, EditError> {
    let document =
        Document::from_str(&format!("{:column$}- first\n", "")).map_err(|_| EditError::ChangesMore)?;
    let list = document.as_sequence().ok_or(EditError::ChangesMore)?;
    list.insert(1, &*node(value)?);
    let text = document.to_string();
    let item = items(&text, &list)?.ranges.pop().and_then(|range| text.get(range)).map(str::to_owned);
    let mut item = item.ok_or(EditError::ChangesMore)?;
    if !item.ends_with('\n') {
        item.push('\n');
    }
    Ok(if has_returns { item.replace('\n', "\r\n") } else { item })
}

/// What a pointer leads into.
enum Parent {
    Mapping(Mapping),
    Sequence(Sequence),
}

impl Parent {
    fn of(node: &YamlNode) -> Result<Self, EditError> {
        let mapping = node.as_mapping().cloned().map(Self::Mapping);
        let list = || node.as_sequence().cloned().map(Self::Sequence);
        mapping.or_else(list).ok_or(EditError::ChangesMore)
    }

    fn get(&self, key: &str) -> Result<YamlNode, EditError> {
        match self {
            Self::Mapping(mapping) => mapping.get(key),
            Self::Sequence(list) => list.get(at(key)?),
        }
        .ok_or(EditError::ChangesMore)
    }
}

/// The list or object that a pointer leads into, and the last step of the pointer.
fn parent(document: &Document, pointer: &str) -> Result<(Parent, String), EditError> {
    let mapping = document.as_mapping().map(Parent::Mapping);
    let root = mapping.or_else(|| document.as_sequence().map(Parent::Sequence));
    let mut parent = root.ok_or(EditError::ChangesMore)?;
    let mut steps = pointer.split('/').skip(1).map(unescaped).peekable();
    while let Some(step) = steps.next() {
        if steps.peek().is_none() {
            return Ok((parent, step));
        }
        parent = Parent::of(&parent.get(&step)?)?;
    }
    Err(EditError::ChangesMore)
}

fn at(key: &str) -> Result<usize, EditError> {
    index(key).ok_or(EditError::ChangesMore)
}

/// A text in the quotes of another one.
fn quoted_as(text: &str, old: &str) -> Box<dyn AsYaml> {
    match old.chars().next() {
        Some('"') => Box::new(ScalarValue::double_quoted(text)),
        Some('\'') => Box::new(ScalarValue::single_quoted(text)),
        Some('|') => Box::new(ScalarValue::literal(text)),
        _ => Box::new(text.to_owned()),
    }
}

/// A value as YAML.
fn node(value: &Value) -> Result<Box<dyn AsYaml>, EditError> {
    Ok(match value {
        Value::String(text) => Box::new(text.clone()),
        Value::Bool(is) => Box::new(*is),
        _ => {
            let document = Document::from_str(&write_document(value)).map_err(|_| EditError::ChangesMore)?;
            let mapping = document.as_mapping().map(YamlNode::Mapping);
            let list = || document.as_sequence().map(YamlNode::Sequence);
            let scalar = || document.as_scalar().map(YamlNode::Scalar);
            Box::new(mapping.or_else(list).or_else(scalar).ok_or(EditError::ChangesMore)?)
        }
    })
}

/// The lines of the items of a block list.
struct Items {
    /// Where the dashes stand.
    column: usize,
    /// Each with the comment lines directly above it and the blank lines below.
    ranges: Vec<Range<usize>>,
}

/// Finds the lines of the items of a block list.
fn items(text: &str, list: &Sequence) -> Result<Items, EditError> {
    let start = list.byte_range().start as usize;
    let above = text.get(..start).unwrap_or_default();
    let mut first = above.rfind('\n').map_or(0, |at| at + 1);
    for line in text.get(..first).unwrap_or_default().split_inclusive('\n').rev() {
        if !line.trim_start().starts_with('#') {
            break;
        }
        first -= line.len();
    }
    let mut lines = Vec::new();
    let mut at = first;
    for line in text.get(first..).unwrap_or_default().split_inclusive('\n') {
        lines.push((at, line));
        at += line.len();
    }
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let is_dash = |line: &str| {
        let rest = line.trim_start_matches(' ');
        rest.starts_with("- ") || rest.trim_end() == "-"
    };
    let (_, head) = lines.iter().find(|(_, line)| is_dash(line)).ok_or(EditError::ChangesMore)?;
    let column = indent(head);
    let mut starts = Vec::new();
    let mut end = first;
    for (number, (at, line)) in lines.iter().enumerate() {
        let is_comment = line.trim_start().starts_with('#');
        if line.trim().is_empty() {
            // What stands below a comment is not below the item.
            end = if end == *at { at + line.len() } else { end };
            continue;
        }
        if indent(line) == column && is_dash(line) {
            let above = lines.get(..number).unwrap_or_default().iter().rev();
            let comments = above.take_while(|(at, line)| line.trim_start().starts_with('#') && *at >= end);
            starts.push(comments.last().map_or(*at, |(at, _)| *at));
        } else if indent(line) <= column && !is_comment && !starts.is_empty() {
            break;
        }
        if !is_comment || indent(line) > column {
            end = at + line.len();
        }
    }
    let ends = starts.iter().skip(1).copied().chain([end]).collect::<Vec<_>>();
    let ranges: Vec<Range<usize>> = starts.into_iter().zip(ends).map(|(start, end)| start..end).collect();
    if ranges.len() == list.len() { Ok(Items { column, ranges }) } else { Err(EditError::ChangesMore) }
}
