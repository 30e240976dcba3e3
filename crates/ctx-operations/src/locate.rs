//! From JSON pointers to places in a source text.

mod json;
mod toml;
mod wanted;
mod yaml;

use std::collections::BTreeMap;
use std::ops::Range;

use ctx_types::Span;

use wanted::Wanted;

/// A value in a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its bytes in the source text; of a YAML list or object at least the first line.
    pub range: Range<usize>,
    /// What it says, if it is a text that was asked for.
    text: Option<String>,
    /// The bytes of its key, if it is the value of one that was found as it is written.
    pub key: Option<Range<usize>>,
}

/// The places of values, by their JSON pointers.
#[derive(Debug, Default)]
pub struct Places(BTreeMap<String, Place>);

impl Places {
    /// Finds values, and all that they are in, in a TOML text.
    pub(crate) fn find_in_toml<'a>(source: &str, pointers: impl IntoIterator<Item = &'a str>) -> Self {
        Self(toml::find(source, &Wanted::of(pointers)))
    }

    /// Finds values, and all that they are in, in a JSON, JSON Lines or YAML text.
    ///
    /// O(size of the text · depth of the pointers) for any number of pointers. Made only when something is to
    /// be shown. A file that is not what its reader took it for gives fewer places, and never an error.
    pub fn find<'a>(source: &str, pointers: impl IntoIterator<Item = &'a str>) -> Self {
        let wanted = Wanted::of(pointers);
        let found = json::find(source, &wanted).or_else(|| json::find_in_lines(source, &wanted));
        Self(found.unwrap_or_else(|| yaml::find(source, &wanted)))
    }

    /// Returns the place of the value at a pointer, if the text has it there.
    pub fn at(&self, pointer: &str) -> Option<&Place> {
        self.0.get(pointer)
    }

    /// Returns the place of the value at a pointer, or else of the nearest value above it that exists.
    pub fn nearest(&self, pointer: &str) -> Option<&Place> {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.0.get(pointer) {
                return Some(place);
            }
            (pointer, _) = pointer.rsplit_once('/')?;
        }
    }
}

pub(crate) use yaml::properties_length;

/// The bytes of a text in quotes at the beginning of another one; none if it begins otherwise or does not end.
pub fn quoted_length(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let mut rest = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = rest.next() {
        let is_doubled = quote == '\'' && rest.peek().is_some_and(|(_, next)| *next == quote);
        if (c == '\\' && quote == '"') || (c == quote && is_doubled) {
            rest.next();
        } else if c == quote {
            return Some(at + 1);
        }
    }
    None
}

impl Place {
    /// Returns the bytes of the source text for a range of bytes of what the value says.
    ///
    /// The file may spell the value with escapes, in other lines or indented. So the part is searched in it:
    /// the second `{{user}}` of the value is the second one in the file. What is not found gives all of the value.
    pub fn part(&self, source: &str, span: Option<Span>) -> Range<usize> {
        span.and_then(|span| self.search(source, span)).unwrap_or_else(|| self.range.clone())
    }

    fn search(&self, source: &str, span: Span) -> Option<Range<usize>> {
        let text = self.text.as_deref()?;
        let marked = text.get(span.start..span.end)?;
        let part = Some(marked.trim()).filter(|part| !part.is_empty())?;
        let start = span.start + marked.find(part)?;
        let earlier = text.get(..start)?.matches(part).count();
        let file = source.get(self.range.clone())?;
        let escaped = serde_json::to_string(part).ok()?;
        [part, escaped.get(1..escaped.len() - 1)?].into_iter().find_map(|spelled| {
            let (at, _) = file.match_indices(spelled).nth(earlier)?;
            let start = self.range.start + at;
            Some(start..start + spelled.len())
        })
    }
}

#[cfg(test)]
mod tests;
