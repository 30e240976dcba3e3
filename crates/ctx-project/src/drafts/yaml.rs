//! Edits of a YAML text.
//!
//! Scalars, keys and items of flow lists are replaced in the lossless tree of `yaml-edit`. Items of block lists are
//! ranges of lines, so that the comment lines directly above an item go where it goes.

use std::ops::Range;
use std::str::FromStr as _;

use ctx_preset_import::write_document;
use serde_json::Value;
use yaml_edit::{AsYaml, Document, Mapping, ScalarValue, Sequence, YamlNode};

use super::edit::{Edit, EditError, index, unescaped};

/// Whether a text is written in the quotes of the one that it replaces, which cannot express every text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    Kept,
    Chosen,
}

/// Returns the text after an edit; whether it holds what was asked for is for the caller to see.
pub(super) fn edited(text: &str, edit: &Edit, quotes: Quotes) -> Result<String, EditError> {
    let document = Document::from_str(text).map_err(|_| EditError::ChangesMore)?;
    match edit {
        Edit::Set { pointer, value } => {
            let (parent, key) = parent(&document, pointer)?;
            let replaced = parent.get(&key).ok().filter(|_| quotes == Quotes::Kept);
            let value = match (value, replaced.as_ref().and_then(YamlNode::as_scalar)) {
                (Value::String(text), Some(old)) => quoted_as(text, &old.value()),
                _ => node(value)?,
            };
            let is_set = match parent {
                Parent::Mapping(mapping) => {
                    mapping.set(key.as_str(), &*value);
                    true
                }
                Parent::Sequence(list) => list.set(index(&key)?, &*value),
            };
            if !is_set {
                return Err(EditError::NotFound);
            }
        }
        Edit::Rename { pointer, key: new } => {
            let (Parent::Mapping(mapping), key) = parent(&document, pointer)? else {
                return Err(EditError::NotFound);
            };
            mapping.rename_key(key.as_str(), new.as_str());
        }
        Edit::Remove { pointer } => match parent(&document, pointer)? {
            (Parent::Mapping(mapping), key) => drop(mapping.remove(key.as_str())),
            (Parent::Sequence(list), key) if list.is_flow_style() => drop(list.remove(index(&key)?)),
            (Parent::Sequence(list), key) => {
                let items = items(text, &list)?;
                let item = items.get(index(&key)?).ok_or(EditError::NotFound)?;
                if items.len() == 1 {
                    // A block list cannot be empty.
                    list.remove(0);
                    return Ok(document.to_string());
                }
                return Ok(replaced(text, item.clone(), ""));
            }
        },
        Edit::Insert { pointer, value } => {
            let (Parent::Sequence(list), key) = parent(&document, pointer)? else {
                return Err(EditError::NotFound);
            };
            let length = list.len();
            let at = if key == "-" { length } else { index(&key)? };
            let value = node(value)?;
            if list.is_flow_style() || at == length {
                list.insert(at, &*value);
                return Ok(document.to_string());
            }
            list.insert(length, &*value);
            return moved(&document.to_string(), pointer, length, at);
        }
        Edit::Move { pointer, to } => {
            let (Parent::Sequence(list), key) = parent(&document, pointer)? else {
                return Err(EditError::NotFound);
            };
            let from = index(&key)?;
            if !list.is_flow_style() {
                return moved(text, pointer, from, *to);
            }
            let item = list.remove(from).ok_or(EditError::NotFound)?;
            list.insert(*to, item);
        }
    }
    Ok(document.to_string())
}

/// Moves the lines of an item of a block list.
fn moved(text: &str, pointer: &str, from: usize, to: usize) -> Result<String, EditError> {
    let document = Document::from_str(text).map_err(|_| EditError::ChangesMore)?;
    let (Parent::Sequence(list), _) = parent(&document, pointer)? else { return Err(EditError::NotFound) };
    let items = items(text, &list)?;
    let item = items.get(from).ok_or(EditError::NotFound)?.clone();
    let target = items.get(to).ok_or(EditError::NotFound)?;
    let lines = text.get(item.clone()).ok_or(EditError::ChangesMore)?;
    let lines = if lines.ends_with('\n') { lines.to_owned() } else { format!("{lines}\n") };
    if to < from {
        let rest = replaced(text, item, "");
        return Ok(replaced(&rest, target.start..target.start, &lines));
    }
    let mut text = text.to_owned();
    let mut end = target.end;
    if !text.get(..end).is_some_and(|before| before.ends_with('\n')) {
        text.insert(end, '\n');
        end += 1;
    }
    let with = replaced(&text, end..end, &lines);
    Ok(replaced(&with, item, ""))
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    let mut text = text.to_owned();
    text.replace_range(range, by);
    text
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
            Self::Sequence(list) => list.get(index(key)?),
        }
        .ok_or(EditError::NotFound)
    }
}

/// The list or object that a pointer leads into, and the last step of the pointer.
fn parent(document: &Document, pointer: &str) -> Result<(Parent, String), EditError> {
    let mapping = document.as_mapping().map(Parent::Mapping);
    let root = mapping.or_else(|| document.as_sequence().map(Parent::Sequence));
    let mut parent = root.ok_or(EditError::NotFound)?;
    let mut steps = pointer.split('/').skip(1).map(unescaped).peekable();
    while let Some(step) = steps.next() {
        if steps.peek().is_none() {
            return Ok((parent, step));
        }
        parent = Parent::of(&parent.get(&step)?)?;
    }
    Err(EditError::NotFound)
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

/// The lines of the items of a block list, each with the comment lines directly above it and the blank lines below.
fn items(text: &str, list: &Sequence) -> Result<Vec<Range<usize>>, EditError> {
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
        let is_blank = line.trim().is_empty();
        let is_comment = line.trim_start().starts_with('#');
        if is_blank {
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
    if ranges.len() == list.len() { Ok(ranges) } else { Err(EditError::ChangesMore) }
}
