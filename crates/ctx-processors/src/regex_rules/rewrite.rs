//! One rule on one text.

use ctx_macros::Template;
use ctx_regex::{Error, Flags, Regex, Steps};
use ctx_types::{Segment, Text};

use super::pieces::{self, Cursor, Origin, Piece};
use super::replace::Expand;
use super::rule::Rule;

/// A text after rules ran.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The text.
    pub text: Text,
    /// Where its bytes come from; empty if no rule changed it.
    pub(super) pieces: Vec<Piece>,
    /// The rules that changed it, in order, by their numbers in the set.
    pub(super) changed_by: Vec<usize>,
    /// Whether macros were expanded, so that another run may give another text.
    pub(super) is_volatile: bool,
}

impl Rewritten {
    pub(super) fn unchanged(text: Text) -> Self {
        Self { text, pieces: Vec::new(), changed_by: Vec::new(), is_volatile: false }
    }

    /// Tells whether any rule changed the text.
    pub fn is_changed(&self) -> bool {
        !self.changed_by.is_empty()
    }

    /// Returns the positions of the rules that changed the text in [`RuleSet::rules`](super::RuleSet::rules), in
    /// the order in which they ran.
    pub fn changed_by(&self) -> &[usize] {
        &self.changed_by
    }

    /// Returns the segments of the changed text, from those of the text that was given.
    ///
    /// Bytes that no rule wrote keep their source. What a rule wrote for one match is one segment, via the rules
    /// and sources of what stood there; nothing is known of a text that is empty. `rules` is the set that made it.
    pub fn segments(&self, rules: &super::RuleSet, before: &[Segment]) -> Vec<Segment> {
        if !self.is_changed() {
            return before.to_vec();
        }
        pieces::segments(&self.pieces, rules.rules(), before)
    }
}

/// A rule about to change a text.
pub(super) struct Rewriting<'a> {
    pub(super) number: usize,
    pub(super) rule: &'a Rule,
    pub(super) regex: &'a Regex,
    pub(super) trims: &'a [Text],
    /// The longest text that may come out, in bytes.
    pub(super) output_bytes: usize,
}

impl Rewriting<'_> {
    /// Replaces the first match, or with the flag `g` all; the text is as it was if that fails.
    pub(super) fn apply(
        &self,
        before: &mut Rewritten,
        steps: &mut Steps,
        expand: &mut Expand<'_>,
    ) -> Result<(), Error> {
        let whole = [Piece { len: before.text.len(), from: Origin::Kept { start: 0 } }];
        let is_first = before.pieces.is_empty() && before.changed_by.is_empty();
        let mut cursor = Cursor::new(if is_first { &whole } else { &before.pieces });
        let mut out = String::new();
        let mut pieces = Vec::new();
        let (mut copied, mut is_matched) = (0, false);
        let text = before.text.clone();
        let count = if self.regex.flags().contains(Flags::GLOBAL) { usize::MAX } else { 1 };
        for found in self.regex.find_iter_within(&text, steps).take(count) {
            let found = found?;
            is_matched = true;
            let range = found.range();
            out.push_str(text.get(copied..range.start).unwrap_or_default());
            pieces::push_all(&mut pieces, cursor.take(range.start - copied));
            let over = cursor.take(range.len());
            let start = out.len();
            let mut expand = |template: &Template| expand(template, self.rule.source()).text;
            self.rule.replace().append(&found, self.trims, &mut expand, &mut out);
            match out.len() - start {
                0 => {}
                // What is replaced by itself was not written.
                _ if out.get(start..) == Some(found.as_str()) => {
                    pieces::push_all(&mut pieces, over);
                }
                len => pieces.push(pieces::written(self.number, len, &over)),
            }
            self.check_length(out.len())?;
            copied = range.end;
        }
        if !is_matched {
            return Ok(());
        }
        let rest = text.get(copied..).unwrap_or_default();
        self.check_length(out.len() + rest.len())?;
        out.push_str(rest);
        before.is_volatile |= self.rule.replace().has_macros();
        if out == *text {
            return Ok(());
        }
        pieces::push_all(&mut pieces, cursor.take(rest.len()));
        before.changed_by.push(self.number);
        before.pieces = pieces;
        before.text = Text::from(out);
        Ok(())
    }

    fn check_length(&self, bytes: usize) -> Result<(), Error> {
        match bytes > self.output_bytes {
            true => Err(Error::OutputTooLong { limit: self.output_bytes }),
            false => Ok(()),
        }
    }
}
