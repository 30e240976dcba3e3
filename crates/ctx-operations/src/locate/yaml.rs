//! Places in YAML.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, Span};

use super::Place;
use super::wanted::{Wanted, step};

/// Finds values in a YAML document, as far as it can be followed.
pub(super) fn find(source: &str, wanted: &Wanted) -> BTreeMap<String, Place> {
    match follow(source, wanted) {
        Ok(found) => in_bytes(source, found),
        // This parser takes no tab between a key and its value; characters keep their places without it.
        Err(found) if source.contains('\t') => {
            in_bytes(source, follow(&source.replace('\t', " "), wanted).unwrap_or(found))
        }
        Err(found) => in_bytes(source, found),
    }
}

/// Follows a document to its end, or says what was found before it cannot be followed.
fn follow(source: &str, wanted: &Wanted) -> Result<Vec<FoundValue>, Vec<FoundValue>> {
    let mut search = Search { wanted, path: Vec::new(), found: Vec::new() };
    for event in Parser::new_from_str(source) {
        let Ok((event, span)) = event else { return Err(search.found) };
        search.event(&event, span);
    }
    Ok(search.found)
}

/// The bytes of a scalar without the blanks and the comment that a YAML parser counts to it; the anchor and the tag
/// before it are counted.
pub(super) fn scalar_length(text: &str) -> usize {
    let start = properties_length(text);
    let rest = text.get(start..).unwrap_or_default();
    start + crate::locate::quoted_length(rest).unwrap_or_else(|| rest.trim_end().len())
}

/// The bytes of the anchor and the tag that stand before a YAML value, and of the blanks behind them.
pub(crate) fn properties_length(text: &str) -> usize {
    let mut rest = text;
    while rest.starts_with(['&', '!']) {
        rest = rest.trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
    }
    text.len() - rest.len()
}

/// A value that was found; the parser counts characters.
struct FoundValue {
    pointer: String,
    start: usize,
    end: usize,
    text: Option<String>,
    is_scalar: bool,
    /// The characters of its key.
    key: Option<(usize, usize)>,
}

impl FoundValue {
    fn indexes(&self) -> impl Iterator<Item = usize> {
        let key = self.key.into_iter().flat_map(|(start, end)| [start, end]);
        [self.start, self.end].into_iter().chain(key)
    }
}

/// A list or object that the parser is inside of.
struct Level<'w> {
    /// What is searched in it, if anything is, and where it is.
    wanted: Option<(&'w Wanted, String)>,
    /// Which of the found values it is.
    found: Option<usize>,
    at: At,
}

/// Where in a list or object the parser is.
enum At {
    /// Before the item with this index.
    Item(usize),
    /// Before a key.
    Key,
    /// Before the value of a key, which has its place; of none if the key is no text.
    Value(Option<(String, usize, usize)>),
}

struct Search<'w> {
    wanted: &'w Wanted,
    path: Vec<Level<'w>>,
    found: Vec<FoundValue>,
}

impl<'w> Search<'w> {
    fn event(&mut self, event: &Event<'_>, span: Span) {
        match event {
            Event::Scalar(text, ..) => {
                if let Some(Level { at: at @ At::Key, .. }) = self.path.last_mut() {
                    *at = At::Value(Some((text.to_string(), span.start.index(), span.end.index())));
                    return;
                }
                self.value(span, Some(text));
                self.next();
            }
            Event::Alias(_) => {
                self.value(span, None);
                self.next();
            }
            Event::SequenceStart(..) => self.open(span, At::Item(0)),
            Event::MappingStart(..) => self.open(span, At::Key),
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            _ => {}
        }
    }

    fn open(&mut self, span: Span, at: At) {
        let wanted = self.value(span, None);
        let found = wanted.as_ref().map(|_| self.found.len() - 1);
        self.path.push(Level { wanted, found, at });
    }

    fn close(&mut self, span: Span) {
        let found = self.path.pop().and_then(|level| level.found);
        if let Some(found) = found.and_then(|index| self.found.get_mut(index)) {
            found.end = span.end.index();
        }
        self.next();
    }

    /// Notes the value that begins here if it is searched, or something in it is.
    fn value(&mut self, span: Span, text: Option<&str>) -> Option<(&'w Wanted, String)> {
        let is_scalar = text.is_some();
        let (wanted, pointer) = self.wanted_here()?;
        let key = match self.path.last().map(|level| &level.at) {
            Some(At::Value(Some((_, start, end)))) => Some((*start, *end)),
            _ => None,
        };
        let text = text.filter(|_| wanted.is_leaf()).map(str::to_owned);
        let (start, end) = (span.start.index(), span.end.index());
        self.found.push(FoundValue { pointer: pointer.clone(), start, end, text, is_scalar, key });
        Some((wanted, pointer))
    }

    fn wanted_here(&self) -> Option<(&'w Wanted, String)> {
        let Some(level) = self.path.last() else { return Some((self.wanted, String::new())) };
        let (wanted, pointer) = level.wanted.as_ref()?;
        let key = match &level.at {
            At::Item(index) => &index.to_string(),
            At::Value(Some((key, ..))) => key,
            At::Key | At::Value(None) => return None,
        };
        Some((wanted.below.get(key)?, step(pointer, key)))
    }

    /// Goes on behind a key or a value.
    fn next(&mut self) {
        if let Some(level) = self.path.last_mut() {
            match &mut level.at {
                At::Item(index) => *index += 1,
                at @ At::Key => *at = At::Value(None),
                at @ At::Value(_) => *at = At::Key,
            }
        }
    }
}

/// Turns characters into bytes, in one pass; of a key that stands twice the last value counts.
fn in_bytes(source: &str, found: Vec<FoundValue>) -> BTreeMap<String, Place> {
    let mut indexes: Vec<usize> = found.iter().flat_map(FoundValue::indexes).collect();
    indexes.sort_unstable();
    indexes.dedup();
    let mut bytes = BTreeMap::new();
    let mut characters = source.char_indices().map(|(byte, _)| byte).enumerate();
    for index in indexes {
        let byte = characters.by_ref().find(|(character, _)| *character == index);
        bytes.insert(index, byte.map_or(source.len(), |(_, byte)| byte));
    }
    let byte = |index: &usize| bytes.get(index).copied().unwrap_or(source.len());
    let place = |found: FoundValue| {
        let start = byte(&found.start);
        let end = byte(&found.end).max(start);
        let end = match source.get(start..end).filter(|_| found.is_scalar) {
            Some(scalar) => start + scalar_length(scalar),
            None => end,
        };
        let range = start..end;
        let key = found.key.map(|(start, end)| byte(&start)..byte(&end));
        (found.pointer, Place { range, text: found.text, key })
    };
    found.into_iter().map(place).collect()
}
