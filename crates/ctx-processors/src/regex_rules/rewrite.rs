//! One rule on one text.

use ctx_macros::Template;
use ctx_regex::{Error, Flags, Match, Regex, Steps};
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

    /// Returns whether any rule changed the text.
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
        let text = before.text.clone();
        let whole = [Piece { len: text.len(), from: Origin::Kept { start: 0 } }];
        let is_first = before.pieces.is_empty() && before.changed_by.is_empty();
        let cursor = Cursor::new(if is_first { &whole } else { &before.pieces });
        let mut after = After { text: &text, copied: 0, cursor, out: String::new(), pieces: Vec::new() };
        let mut is_matched = false;
        let count = if self.regex.flags().contains(Flags::GLOBAL) { usize::MAX } else { 1 };
        for found in self.regex.find_iter_within(&text, steps).take(count) {
            is_matched = true;
            self.replace(&found?, &mut after, expand);
            self.check_length(after.out.len())?;
        }
        if !is_matched {
            return Ok(());
        }
        after.copy_to(text.len());
        self.check_length(after.out.len())?;
        before.is_volatile |= self.rule.replace().has_macros();
        let After { out, pieces, .. } = after;
        if out != *text {
            before.changed_by.push(self.number);
            before.pieces = pieces;
            before.text = Text::from(out);
        }
        Ok(())
    }

    /// Writes what stands before a match and what the rule puts in its place.
    fn replace(&self, found: &Match<'_>, after: &mut After<'_>, expand: &mut Expand<'_>) {
        let range = found.range();
        after.copy_to(range.start);
        let over = after.cursor.take(range.len());
        after.copied = range.end;
        let start = after.out.len();
        let mut expand = |template: &Template| expand(template, self.rule.source()).text;
        self.rule.replace().append(found, self.trims, &mut expand, &mut after.out);
        match after.out.len() - start {
            0 => {}
            // What is replaced by itself was not written.
            _ if after.out.get(start..) == Some(found.as_str()) => pieces::push_all(&mut after.pieces, over),
            len => after.pieces.push(pieces::written(self.number, len, &over)),
        }
    }

    fn check_length(&self, bytes: usize) -> Result<(), Error> {
        match bytes > self.output_bytes {
            true => Err(Error::OutputTooLong { limit: self.output_bytes }),
            false => Ok(()),
        }
    }
}

/// A text that a rule rewrites, as far as it has come.
struct After<'t> {
    text: &'t str,
    /// How much of the text is copied or replaced.
    copied: usize,
    cursor: Cursor<'t>,
    out: String,
    pieces: Vec<Piece>,
}

impl After<'_> {
    /// Copies the text up to a byte.
    fn copy_to(&mut self, end: usize) {
        self.out.push_str(self.text.get(self.copied..end).unwrap_or_default());
        pieces::push_all(&mut self.pieces, self.cursor.take(end - self.copied));
        self.copied = end;
    }
}
