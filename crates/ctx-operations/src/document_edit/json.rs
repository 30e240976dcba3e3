//! Changes of a JSON file by replacing the bytes of what changed: all others stay as somebody wrote them.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::Range;

use ctx_preset_import::repaired_json;
use ctx_types::{Phrase, phrase};
use serde::Serialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{split_mark, without_mark};
use crate::edits::{Replacement, replaced};

/// Returns whether bytes are one JSON value in UTF-8, and can be edited.
pub fn is_editable(bytes: &[u8]) -> bool {
    Json::of(bytes).is_some()
}

/// Returns the bytes of a JSON file with another value, or why that cannot be done.
///
/// Bytes outside of what changed stay: layout, order, escapes, numbers of any length. What is new is laid out as its
/// neighbours are, and a number that memory does not hold to the last digit goes where its object goes; where nothing
/// tells which of several that is, nothing is written. O(bytes · depth of what changed), and for each new object with
/// such a number O(objects that have one).
pub fn edited(bytes: &[u8], value: &Value) -> Result<Vec<u8>, Phrase> {
    let not_json = || phrase!("it is not plain JSON");
    let Json { text, parsed, value: old } = Json::of(bytes).ok_or_else(not_json)?;
    let root: &RawValue = serde_json::from_str(&parsed).map_err(|_| not_json())?;
    let mut edit = Edit::new(text, &parsed);
    edit.value(root.get(), &old, value, "");
    if edit.is_unclear.get() {
        return Err(phrase!("its long numbers cannot be matched to their places"));
    }
    let text = replaced(text, edit.replacements).ok_or_else(|| phrase!("the changes overlap"))?;
    let bytes = [split_mark(bytes).0, text.as_bytes()].concat();
    // Nothing else than what was asked for may come out.
    let is_meant = Json::of(&bytes).is_some_and(|came_out| came_out.value == *value);
    if is_meant { Ok(bytes) } else { Err(phrase!("the result would differ from the requested value")) }
}

/// A file of JSON.
struct Json<'b> {
    text: &'b str,
    /// The text as a parser takes it, of the same length.
    parsed: Cow<'b, str>,
    value: Value,
}

impl<'b> Json<'b> {
    fn of(bytes: &'b [u8]) -> Option<Self> {
        let text = std::str::from_utf8(without_mark(bytes)).ok()?;
        if let Ok(value) = serde_json::from_str(text) {
            return Some(Self { text, parsed: text.into(), value });
        }
        let parsed = repaired_json(text).filter(|repaired| repaired.len() == text.len())?;
        let value = serde_json::from_str(&parsed).ok()?;
        Some(Self { text, parsed: parsed.into(), value })
    }
}

/// An edit under way.
struct Edit<'s> {
    /// What people see.
    text: &'s str,
    /// What is parsed, of the same length.
    source: &'s str,
    replacements: Vec<Replacement>,
    /// What a level is indented by, where the file has lines.
    indent: &'s str,
    exact: Exact<'s>,
    /// Whether a number of many digits was written of which nothing tells which one it is.
    is_unclear: Cell<bool>,
}

/// A member of an object, or an element of a list.
struct Item<'s> {
    key: Option<String>,
    /// From its key, if it has one, to the end of its value.
    range: Range<usize>,
    value: &'s str,
}

/// What becomes of the items of a container.
struct Change {
    /// Whether each stays.
    kept: Vec<bool>,
    /// What comes before each item, and at the end what comes behind all.
    inserted: Vec<Vec<String>>,
}

/// How the items of a container are laid out.
#[derive(Clone, Debug)]
struct Layout {
    /// What stands before an item: a blank, nothing, or a new line with its indentation.
    gap: String,
    /// What stands between key and value.
    colon: String,
}

impl Layout {
    fn new(gap: &str) -> Self {
        Self { gap: gap.to_owned(), colon: if gap.is_empty() { ":" } else { ": " }.to_owned() }
    }

    fn has_lines(&self) -> bool {
        self.gap.contains('\n')
    }
}

impl<'s> Edit<'s> {
    fn new(text: &'s str, source: &'s str) -> Self {
        let exact = if has_other_numbers(source) { Exact::of(source) } else { Exact::default() };
        let (replacements, is_unclear) = (Vec::new(), Cell::new(false));
        Self { text, source, replacements, indent: indent(source), exact, is_unclear }
    }

    /// Edits a value that stands behind a gap.
    fn value(&mut self, raw: &'s str, old: &Value, new: &Value, gap: &str) {
        if old == new {
            return;
        }
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => self.object(raw, old, new, gap),
            (Value::Array(old), Value::Array(new)) => self.array(raw, old, new, gap),
            (_, new) => {
                let text = self.written(new, &Layout::new(gap), Some(raw));
                self.replacements.push((self.range(raw), text));
            }
        }
    }

    fn object(&mut self, raw: &'s str, old: &Map<String, Value>, new: &Map<String, Value>, gap: &str) {
        let items = self.items(raw);
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (index, item) in items.iter().enumerate() {
            // Of two members with one key the last counts.
            places.insert(item.key.as_deref().unwrap_or_default(), index);
        }
        let layout = self.layout(raw, &items, gap);
        let kept: Vec<bool> =
            items.iter().map(|item| item.key.as_deref().is_some_and(|key| new.contains_key(key))).collect();
        // What comes behind each item; at the front what comes before all.
        let mut inserted: Vec<Vec<String>> = vec![Vec::new(); items.len() + 1];
        let mut behind = 0;
        for (key, value) in new {
            if let Some(index) = places.get(key.as_str()) {
                behind = index + 1;
                let old = old.get(key).unwrap_or(&Value::Null);
                self.value(items[*index].value, old, value, &layout.gap);
            } else {
                let key = Value::from(key.as_str());
                inserted[behind].push(format!("{key}{}{}", layout.colon, self.written(value, &layout, None)));
            }
        }
        self.rearrange(raw, &items, &Change { kept, inserted }, &layout);
    }

    fn array(&mut self, raw: &'s str, old: &[Value], new: &[Value], gap: &str) {
        let items = self.items(raw);
        let layout = self.layout(raw, &items, gap);
        let mut kept = vec![false; items.len()];
        let mut inserted: Vec<Vec<String>> = vec![Vec::new(); items.len() + 1];
        let mut behind = 0;
        for (value, partner) in new.iter().zip(self.partners(&items, old, new)) {
            if let Some(index) = partner {
                (kept[index], behind) = (true, index + 1);
                self.value(items[index].value, &old[index], value, &layout.gap);
            } else {
                inserted[behind].push(self.written(value, &layout, None));
            }
        }
        self.rearrange(raw, &items, &Change { kept, inserted }, &layout);
    }

    /// Finds for each new element the old one that it is, if there is one: equal ones, those with one id, and between
    /// these, one after the other, those that have nothing by which they are known.
    fn partners(&self, items: &[Item<'_>], old: &[Value], new: &[Value]) -> Vec<Option<usize>> {
        let equal = |(old, new): &(&Value, &Value)| old == new;
        let before = old.iter().zip(new).take_while(equal).count();
        let rest = old.len().min(new.len()) - before;
        let behind = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(equal).count();
        let (old_end, new_end) = (old.len() - behind, new.len() - behind);
        let mut places: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (index, value) in old.iter().enumerate().take(old_end).skip(before) {
            places.entry(identity(value)).or_default().push_back(index);
        }
        let mut partners: Vec<Option<usize>> = vec![None; new.len()];
        let mut from = before;
        for (value, partner) in new[before..new_end].iter().zip(&mut partners[before..new_end]) {
            let Some(known) = places.get_mut(&identity(value)) else { continue };
            while known.front().is_some_and(|index| *index < from) {
                known.pop_front();
            }
            *partner = known.pop_front();
            from = partner.map_or(from, |index| index + 1);
        }
        // What is left between two that are known stands for each other in its order.
        let mut next = before;
        for at in before..new_end {
            if let Some(index) = partners[at] {
                next = index + 1;
                continue;
            }
            let until = partners[at..new_end].iter().flatten().next().copied().unwrap_or(old_end);
            // One without an id on either side can be no other; of several, nothing tells whose number is meant.
            let is_only = until.checked_sub(next) == Some(1)
                && partners[at + 1..new_end].first().is_none_or(Option::is_some)
                && old[next].get("id").or_else(|| new[at].get("id")).is_none();
            let is_left = next < until && (is_only || !has_other_numbers(items[next].value));
            if is_left {
                partners[at] = Some(next);
                next += 1;
            }
        }
        (0..before).for_each(|index| partners[index] = Some(index));
        (0..behind).for_each(|index| partners[new_end + index] = Some(old_end + index));
        if old.len() != new.len() && old.iter().any(|value| self.exact.is_several(value)) {
            self.is_unclear.set(true);
        }
        partners
    }

    /// Takes items out of a container and puts new ones in.
    fn rearrange(&mut self, raw: &str, items: &[Item<'_>], change: &Change, layout: &Layout) {
        let Change { kept, inserted } = change;
        let whole = self.range(raw);
        let inside = whole.start + 1..whole.end - 1;
        if !kept.contains(&true) {
            let new: Vec<&str> = inserted.iter().flatten().map(String::as_str).collect();
            if !new.is_empty() || !items.is_empty() {
                self.replacements.push((inside, self.content(&new, layout)));
            }
            return;
        }
        let separator = format!(",{}", layout.gap);
        // The end of the last item that stays, behind which others are put.
        let mut last: Option<usize> = None;
        let mut waiting: Vec<&str> = Vec::new();
        for (index, new) in inserted.iter().enumerate() {
            waiting.extend(new.iter().map(String::as_str));
            if let Some(end) = last.filter(|_| !waiting.is_empty()) {
                let text = format!("{separator}{}", waiting.join(&separator));
                waiting.clear();
                self.replacements.push((end..end, text));
            }
            let Some(item) = items.get(index) else { break };
            if !kept[index] {
                // With the comma before it; what stands at the front goes with the one behind it.
                let start = last.map_or(item.range.start, |_| items[index - 1].range.end);
                let next = || items.get(index + 1).map_or(item.range.end, |next| next.range.start);
                let end = if last.is_some() { item.range.end } else { next() };
                self.replacements.push((start..end, String::new()));
                continue;
            }
            if !waiting.is_empty() {
                let text = format!("{}{separator}", waiting.join(&separator));
                waiting.clear();
                self.replacements.push((item.range.start..item.range.start, text));
            }
            last = Some(item.range.end);
        }
    }

    /// Writes what stands between the brackets of a container.
    fn content(&self, items: &[&str], layout: &Layout) -> String {
        if items.is_empty() {
            return String::new();
        }
        let outer = || layout.gap.strip_suffix(self.indent).unwrap_or(&layout.gap);
        let (begin, end) = if layout.has_lines() { (&*layout.gap, outer()) } else { ("", "") };
        format!("{begin}{}{end}", items.join(&format!(",{}", layout.gap)))
    }

    /// Writes a value that stands in a container with a layout; `was` is what it was before, where that is known.
    fn written(&self, value: &Value, layout: &Layout, was: Option<&'s str>) -> String {
        let was = if self.exact.is_empty() { None } else { was.or_else(|| self.exact.origin(value)) };
        if let Some(was) = was
            && serde_json::from_str::<Value>(was).is_ok_and(|was| was == *value)
        {
            return self.text.get(self.range(was)).unwrap_or(was).to_owned();
        }
        let inner = &self.deeper(layout);
        let texts: Vec<String> = match value {
            Value::Object(map) => {
                let known: HashMap<String, &RawValue> =
                    was.map(members).unwrap_or_default().into_iter().collect();
                let member = |(key, value): (&String, &Value)| {
                    let was = known.get(key).map(|raw| raw.get());
                    format!(
                        "{}{}{}",
                        Value::from(key.as_str()),
                        layout.colon,
                        self.written(value, inner, was)
                    )
                };
                map.iter().map(member).collect()
            }
            Value::Array(items) => items.iter().map(|item| self.written(item, inner, None)).collect(),
            scalar => {
                if self.exact.is_several(scalar) {
                    self.is_unclear.set(true);
                }
                return scalar.to_string();
            }
        };
        let items: Vec<&str> = texts.iter().map(String::as_str).collect();
        let content = self.content(&items, inner);
        if value.is_object() { format!("{{{content}}}") } else { format!("[{content}]") }
    }

    /// The layout of what stands a level deeper.
    fn deeper(&self, layout: &Layout) -> Layout {
        let indent = if layout.has_lines() { self.indent } else { "" };
        Layout { gap: format!("{}{indent}", layout.gap), colon: layout.colon.clone() }
    }

    /// Finds how a container is laid out: as its own items are, or as what is around it.
    fn layout(&self, raw: &str, items: &[Item<'s>], outer: &str) -> Layout {
        let open = self.range(raw).start + 1;
        let between = |start: usize, end: usize| self.source.get(start..end).unwrap_or_default();
        let mut layout = self.deeper(&Layout::new(outer));
        if let Some(first) = items.first().filter(|first| first.key.is_some()) {
            let member = between(first.range.start, self.range(first.value).start);
            member.rsplit('"').next().unwrap_or(":").clone_into(&mut layout.colon);
        }
        match items {
            [first, second, ..] => {
                let text = between(first.range.end, second.range.start);
                text.split_once(',').map_or("", |(_, gap)| gap).clone_into(&mut layout.gap);
            }
            [only] => {
                let gap = between(open, only.range.start);
                let is_spaced = layout.colon.ends_with(' ');
                let one_line = if is_spaced { " " } else { "" };
                let gap = if gap.contains('\n') { gap } else { one_line };
                gap.clone_into(&mut layout.gap);
            }
            [] => {}
        }
        layout
    }

    /// Finds the items of a container.
    fn items(&self, raw: &'s str) -> Vec<Item<'s>> {
        let values: Vec<(Option<String>, &'s RawValue)> = if raw.starts_with('{') {
            members(raw).into_iter().map(|(key, value)| (Some(key), value)).collect()
        } else {
            let items: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
            items.into_iter().map(|item| (None, item)).collect()
        };
        let mut from = self.range(raw).start + 1;
        let item = |(key, value): (Option<String>, &'s RawValue)| {
            let value = value.get();
            let Range { start, end } = self.range(value);
            let start = if key.is_some() { self.first_quote(from, start) } else { start };
            from = end;
            Item { key, range: start..end, value }
        };
        values.into_iter().map(item).collect()
    }

    /// Where the key begins that stands between two places.
    fn first_quote(&self, from: usize, to: usize) -> usize {
        let between = self.source.get(from..to).unwrap_or_default();
        between.find('"').map_or(to, |quote| from + quote)
    }

    /// Where a part of the source stands in it.
    fn range(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.source.as_ptr() as usize);
        start..start + part.len()
    }
}

/// Reads the members of an object in their order, those with one key too.
fn members(raw: &str) -> Vec<(String, &RawValue)> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(raw).deserialize_map(Members).unwrap_or_default()
}

/// Finds what a level is indented by: the first line that is indented tells.
fn indent(source: &str) -> &str {
    let lines = source.lines().skip(1).filter(|line| !line.trim().is_empty());
    let mut indented = lines.map(|line| &line[..line.len() - line.trim_start().len()]);
    indented.find(|blank| !blank.is_empty()).unwrap_or("  ")
}

/// Returns whether a number is written in another way than we would write it, because memory does not hold all of its
/// digits, or for its looks. O(bytes).
fn has_other_numbers(source: &str) -> bool {
    numbers(source).any(is_other_number)
}

fn is_other_number(text: &str) -> bool {
    let number = serde_json::from_str::<serde_json::Number>(text);
    number.is_ok_and(|number| number.to_string().as_str() != text)
}

/// Where a text ends that begins at a quotation mark.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') | None => return at + 1,
            Some(_) => at += 1,
        }
    }
}

/// What an element of a list is known by: its id, or all of it.
fn identity(value: &Value) -> String {
    value.get("id").unwrap_or(value).to_string()
}

/// The values with numbers that are written in another way than we would write them.
#[derive(Default)]
struct Exact<'s> {
    /// Each by how we would write it; none where it is written in several ways with other digits.
    texts: HashMap<String, Option<&'s str>>,
    /// The objects among them, with the members of each.
    objects: Vec<(&'s str, Map<String, Value>)>,
}

impl<'s> Exact<'s> {
    /// Finds them. O(bytes · depth).
    fn of(source: &'s str) -> Self {
        let mut exact = Self::default();
        if let Ok(root) = serde_json::from_str::<&RawValue>(source) {
            exact.collect(root.get());
        }
        exact
    }

    fn collect(&mut self, raw: &'s str) -> bool {
        let is_exact = match raw.as_bytes().first() {
            Some(b'{') => {
                members(raw).into_iter().fold(false, |any, (_, value)| self.collect(value.get()) | any)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
                items.into_iter().fold(false, |any, item| self.collect(item.get()) | any)
            }
            _ => is_other_number(raw),
        };
        if is_exact && let Ok(value) = serde_json::from_str::<Value>(raw) {
            let known = self.texts.entry(value.to_string()).or_insert(Some(raw));
            if known.is_some_and(|known| numbers(known).ne(numbers(raw))) {
                *known = None;
            }
            if let Value::Object(map) = value {
                self.objects.push((raw, map));
            }
        }
        is_exact
    }

    fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns whether values that memory holds alike are written with several digits.
    fn is_several(&self, value: &Value) -> bool {
        !self.texts.is_empty() && self.texts.get(&value.to_string()).is_some_and(Option::is_none)
    }

    /// Returns the text from which a value came: an equal one, or the object that shares most members with it. None
    /// where several do that have other digits.
    fn origin(&self, value: &Value) -> Option<&'s str> {
        if let Some(Some(raw)) = self.texts.get(&value.to_string()) {
            return Some(raw);
        }
        let map = value.as_object()?;
        let shared = |known: &Map<String, Value>| {
            map.iter().filter(|(key, value)| known.get(*key) == Some(value)).count()
        };
        let scores: Vec<usize> = self.objects.iter().map(|(_, known)| shared(known)).collect();
        let best = scores.iter().copied().max().filter(|best| *best > 0)?;
        let mut nearest =
            self.objects.iter().zip(&scores).filter(|(_, score)| **score == best).map(|((raw, _), _)| *raw);
        let first = nearest.next()?;
        nearest.all(|other| numbers(other).eq(numbers(first))).then_some(first)
    }
}

/// The numbers of a document as they are written.
pub fn numbers(source: &str) -> impl Iterator<Item = &str> {
    let bytes = source.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => at = end_of_text(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let is_of_number =
                        |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                    let start = at;
                    at += bytes[at..].iter().take_while(is_of_number).count();
                    return source.get(start..at);
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// Writes JSON as people read it: indented by two blanks, with the end of a line behind it.
///
/// The values are ours, with texts as keys, so that it cannot fail.
pub fn pretty_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests;
