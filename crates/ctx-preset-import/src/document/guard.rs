//! What a YAML document would cost, before anything is built from it.
//!
//! The parser behind `serde_yaml` takes quadratic time on deep flow nesting, and aliases can stand for far
//! more than the document holds. So the document first passes an event parser that stops at the first limit.
//! It is linear and costs about as much as parsing does.

use std::collections::BTreeMap;
use std::str::Chars;

use saphyr_parser::{Event, Marker, Parser, Span};

use crate::error::ImportError;
use crate::limits::{Limits, MAX_DEPTH};

/// How many `[` and `{` a document may have that the event parser cannot follow.
///
/// On so many the quadratic parser spends about a millisecond.
const MAX_UNSEEN_BRACKETS: usize = 4_096;

/// What ends a line in YAML 1.1, which the parser speaks, and not in YAML 1.2 and the event parser.
const OLD_LINE_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Refuses a document whose depth or number of values, aliases expanded, is beyond its limit.
pub(super) fn check(text: &str, limits: &Limits) -> Result<(), ImportError> {
    let mut lost = follow(text, limits)?;
    if text.contains(OLD_LINE_BREAKS) {
        lost = follow(&text.replace(OLD_LINE_BREAKS, "\n"), limits)?.or(lost);
    }
    let brackets = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    match lost {
        Some(error) if brackets > MAX_UNSEEN_BRACKETS => Err(error),
        _ => Ok(()),
    }
}

/// Follows the events of a text; returns the error at which the trace is lost, if it is.
///
/// That is no reason to refuse the document: the two parsers disagree on what is valid.
fn follow(text: &str, limits: &Limits) -> Result<Option<ImportError>, ImportError> {
    let mut weight = Weight::new(text, limits);
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => weight.add(&event, span)?,
            // The event parser's own limit on flow nesting, which it reaches while it looks ahead.
            Err(error) if error.info().contains("recursion limit") => {
                return Err(too_deep(limits.flow_depth, *error.marker()));
            }
            Err(error) => {
                let at = error.marker();
                let message = error.info().to_owned();
                let (line, column) = (at.line(), at.col() + 1);
                return Ok(Some(ImportError::Yaml { line, column, message, help: None }));
            }
        }
    }
    Ok(None)
}

fn too_deep(limit: usize, at: Marker) -> ImportError {
    ImportError::TooDeep { limit, line: at.line(), column: at.col() + 1 }
}

/// The number of values that a document stands for.
#[derive(Debug)]
struct Weight<'a> {
    limits: &'a Limits,
    cursor: Cursor<'a>,
    total: usize,
    /// What each anchor stands for, once it is complete.
    anchors: BTreeMap<usize, usize>,
    /// The open lists and objects.
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    anchor: usize,
    total_before: usize,
    /// How many `[` and `{` are open, this one included.
    flow: usize,
}

/// The id that the event parser gives to what has no anchor.
const NO_ANCHOR: usize = 0;

impl<'a> Weight<'a> {
    fn new(text: &'a str, limits: &'a Limits) -> Self {
        let cursor = Cursor { rest: text.chars(), index: 0 };
        Self { limits, cursor, total: 0, anchors: BTreeMap::new(), open: Vec::new() }
    }

    fn add(&mut self, event: &Event<'_>, span: Span) -> Result<(), ImportError> {
        match event {
            Event::Scalar(_, _, anchor, _) => {
                self.total += 1;
                self.anchored(*anchor, 1);
            }
            // An alias inside its own anchor never ends; the parser refuses it by its depth.
            Event::Alias(anchor) => {
                let stands_for = self.anchors.get(anchor).copied().unwrap_or(1);
                self.total = self.total.saturating_add(stands_for);
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => self.open(*anchor, span)?,
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            _ => {}
        }
        if self.total > self.limits.yaml_nodes {
            Err(ImportError::TooManyNodes { limit: self.limits.yaml_nodes })
        } else {
            Ok(())
        }
    }

    fn open(&mut self, anchor: usize, span: Span) -> Result<(), ImportError> {
        // Only a flow collection's opening has a bracket of its own, as its last character.
        let bracket = !span.is_empty() && matches!(self.cursor.at(span.end.index() - 1), Some('[' | '{'));
        let flow = self.open.last().map_or(0, |open| open.flow) + usize::from(bracket);
        self.open.push(Open { anchor, total_before: self.total, flow });
        self.total += 1;
        let depth_limit = self.limits.depth.min(MAX_DEPTH);
        if flow > self.limits.flow_depth {
            return Err(too_deep(self.limits.flow_depth, span.start));
        }
        if self.open.len() > depth_limit { Err(too_deep(depth_limit, span.start)) } else { Ok(()) }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            self.anchored(open.anchor, self.total - open.total_before);
        }
    }

    fn anchored(&mut self, anchor: usize, weight: usize) {
        if anchor != NO_ANCHOR {
            self.anchors.insert(anchor, weight);
        }
    }
}

/// Finds characters by their index, forwards only; linear in all.
#[derive(Debug)]
struct Cursor<'a> {
    rest: Chars<'a>,
    /// The index of the next character.
    index: usize,
}

impl Cursor<'_> {
    fn at(&mut self, index: usize) -> Option<char> {
        let skipped = index.checked_sub(self.index)?;
        self.index = index + 1;
        self.rest.nth(skipped)
    }
}
