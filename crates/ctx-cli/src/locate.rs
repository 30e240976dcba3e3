//! From JSON pointers to places in a source text.

use std::ops::Range;

use saphyr_parser::{Event, Parser, Span};

/// Finds the bytes of the value at a JSON pointer in a JSON or YAML text.
///
/// Where the pointer does not lead to a value, the nearest value above it is found. One pass over the text,
/// made only when something is to be shown.
pub(crate) fn locate(text: &str, pointer: &str) -> Option<Range<usize>> {
    let wanted: Vec<String> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let mut search = Search { wanted, path: Vec::new(), best: None };
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { break };
        search.event(&event, span);
    }
    search.best.map(|(_, span)| bytes_of(text, span))
}

/// A collection that the parser is inside of.
enum Level {
    /// A list, with the index of its next item.
    List(usize),
    /// A mapping that waits for a key.
    Key,
    /// A mapping that waits for the value of a key.
    Value(String),
}

struct Search {
    wanted: Vec<String>,
    path: Vec<Level>,
    /// How many steps of the pointer the best value so far matches, and where it is.
    best: Option<(usize, Span)>,
}

impl Search {
    fn event(&mut self, event: &Event<'_>, span: Span) {
        match event {
            Event::Scalar(value, ..) => {
                if let Some(level @ Level::Key) = self.path.last_mut() {
                    *level = Level::Value(value.to_string());
                    return;
                }
                self.value(span);
                self.next();
            }
            Event::Alias(_) => {
                self.value(span);
                self.next();
            }
            Event::SequenceStart(..) => {
                self.value(span);
                self.path.push(Level::List(0));
            }
            Event::MappingStart(..) => {
                self.value(span);
                self.path.push(Level::Key);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.path.pop();
                self.next();
            }
            _ => {}
        }
    }

    /// Notes a value if its path is a longer part of the pointer than the best so far.
    fn value(&mut self, span: Span) {
        let depth = self.path.len();
        let matches = self.path.iter().zip(&self.wanted).all(|(level, step)| match level {
            Level::List(index) => index.to_string() == *step,
            Level::Value(key) => key == step,
            Level::Key => false,
        });
        let is_better = self.best.is_none_or(|(best, _)| depth > best);
        if matches && depth <= self.wanted.len() && is_better {
            self.best = Some((depth, span));
        }
    }

    fn next(&mut self) {
        match self.path.last_mut() {
            Some(Level::List(index)) => *index += 1,
            Some(level @ Level::Value(_)) => *level = Level::Key,
            Some(Level::Key) | None => {}
        }
    }
}

/// The parser counts characters.
fn bytes_of(text: &str, span: Span) -> Range<usize> {
    let byte = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(byte, _)| byte);
    let start = byte(span.start.index());
    start..byte(span.end.index()).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, pointer: &str, expected: &str) {
        let range = locate(text, pointer).unwrap();
        assert_eq!(text[range].trim_end(), expected, "{pointer}");
    }

    #[test]
    fn a_scalar_is_found_in_json_and_yaml() {
        check(r#"{"a": [{"b": "x"}, {"b": "é"}]}"#, "/a/1/b", r#""é""#);
        check("a:\n  - b: x\n  - b: é y\n", "/a/1/b", "é y");
    }

    #[test]
    fn keys_may_hold_slashes_and_tildes() {
        check(r#"{"a/b": {"~": 1}}"#, "/a~1b/~0", "1");
    }

    #[test]
    fn a_missing_value_gives_the_one_above() {
        check(r#"{"a": {"b": 7}}"#, "/a/b/c", "7");
    }

    #[test]
    fn text_that_is_neither_gives_nothing_or_what_was_found() {
        assert!(locate("", "/a").is_none());
        assert!(locate("[1, 2", "/1").is_some());
    }
}
