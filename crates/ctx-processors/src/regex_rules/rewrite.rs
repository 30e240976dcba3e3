use ctx_macros::Template;
use ctx_regex::{Error, Flags, Match, Regex, Steps};
use ctx_types::{Segment, Text};

use super::pieces::{self, Cursor, PieceOrigin, TextPiece};
use super::replace::Expand;
use super::rule::Rule;

/// A text after rules ran.
#[derive(Clone, Debug)]
pub struct RewrittenText {
    /// The text.
    pub text: Text,
    /// Empty if no rule changed the text.
    pub(super) pieces: Vec<TextPiece>,
    pub(super) changed_by: Vec<usize>,
    /// Whether macros were expanded: another run may give another text.
    pub(super) is_volatile: bool,
}

impl RewrittenText {
    pub(super) fn unchanged(text: Text) -> Self {
        Self { text, pieces: Vec::new(), changed_by: Vec::new(), is_volatile: false }
    }

    /// Returns whether a rule changed the text.
    pub fn is_changed(&self) -> bool {
        !self.changed_by.is_empty()
    }

    /// Returns the positions in [`RuleSet::rules`](super::RuleSet::rules) of the rules that changed the text,
    /// in run order.
    pub fn changed_by(&self) -> &[usize] {
        &self.changed_by
    }

    /// Returns the segments of the changed text. `before` are the segments of the original, and `rules` is
    /// the set that ran.
    ///
    /// Unchanged bytes keep their source. Each replacement is one segment, via earlier rules and the replaced
    /// sources.
    pub fn segments(&self, rules: &super::RuleSet, before: &[Segment]) -> Vec<Segment> {
        if !self.is_changed() {
            return before.to_vec();
        }
        pieces::segments(&self.text, &self.pieces, rules.rules(), before)
    }
}

pub(super) struct RuleApplication<'a> {
    pub(super) number: usize,
    pub(super) rule: &'a Rule,
    pub(super) regex: &'a Regex,
    pub(super) trims: &'a [Text],
    pub(super) output_bytes: usize,
}

impl RuleApplication<'_> {
    /// Replaces the first match, or all with the flag `g`. On error, the text stays unchanged.
    pub(super) fn apply(
        &self,
        before: &mut RewrittenText,
        steps: &mut Steps,
        expand: &mut Expand<'_>,
    ) -> Result<(), Error> {
        let text = before.text.clone();
        let whole = [TextPiece { len: text.len(), from: PieceOrigin::Kept { start: 0 } }];
        let is_first = before.pieces.is_empty() && before.changed_by.is_empty();
        let cursor = Cursor::new(if is_first { &whole } else { &before.pieces });
        let mut after =
            OutputBuilder { text: &text, copied: 0, cursor, out: String::new(), pieces: Vec::new() };
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
        let OutputBuilder { out, pieces, .. } = after;
        if out != *text {
            before.changed_by.push(self.number);
            before.pieces = pieces;
            before.text = Text::from(out);
        }
        Ok(())
    }

    fn replace(&self, found: &Match<'_>, after: &mut OutputBuilder<'_>, expand: &mut Expand<'_>) {
        let range = found.range();
        after.copy_to(range.start);
        let over = after.cursor.take(range.len());
        after.copied = range.end;
        let start = after.out.len();
        let mut expand = |template: &Template| expand(template, self.rule.source()).text;
        self.rule.replace().append(found, self.trims, &mut expand, &mut after.out);
        match after.out.len() - start {
            0 => {}
            // A match replaced with the same text keeps its source.
            _ if after.out.get(start..) == Some(found.as_str()) => pieces::push_all(&mut after.pieces, over),
            len => after.pieces.push(pieces::rule_piece(self.number, len, &over)),
        }
    }

    fn check_length(&self, bytes: usize) -> Result<(), Error> {
        if bytes > self.output_bytes {
            Err(Error::OutputTooLong { limit: self.output_bytes })
        } else {
            Ok(())
        }
    }
}

struct OutputBuilder<'t> {
    text: &'t str,
    copied: usize,
    cursor: Cursor<'t>,
    out: String,
    pieces: Vec<TextPiece>,
}

impl OutputBuilder<'_> {
    fn copy_to(&mut self, end: usize) {
        self.out.push_str(self.text.get(self.copied..end).unwrap_or_default());
        pieces::push_all(&mut self.pieces, self.cursor.take(end - self.copied));
        self.copied = end;
    }
}
