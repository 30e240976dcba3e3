use ctx_macros::Template;
use ctx_regex::{Error, Flags, Regex, Steps};
use ctx_types::internal::{SourcedText, segments_in};
use ctx_types::{Segment, Source, SourceKind, Span, Text};

use super::replace::Expand;
use super::rule::Rule;

/// A text after rules ran.
#[derive(Clone, Debug)]
pub struct RewrittenText {
    /// The text.
    pub text: Text,
    /// The rules that changed the text, in run order.
    pub(super) changes: Vec<RuleChange>,
    /// Whether macros were expanded: another run may give another text.
    pub(super) is_volatile: bool,
}

/// The change of a text by a rule.
#[derive(Clone, Debug)]
pub(super) struct RuleChange {
    rule: usize,
    /// The text before the change.
    text: Text,
    matches: Vec<ReplacedMatch>,
}

#[derive(Clone, Debug)]
struct ReplacedMatch {
    span: Span,
    text: String,
}

const MAX_VIA: usize = 16;

impl RewrittenText {
    pub(super) fn unchanged(text: Text) -> Self {
        Self { text, changes: Vec::new(), is_volatile: false }
    }

    /// Returns whether a rule changed the text.
    pub fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Returns the positions in [`RuleSet::rules`](super::RuleSet::rules) of the rules that changed the text,
    /// in run order.
    pub fn changed_by(&self) -> impl Iterator<Item = usize> {
        self.changes.iter().map(|change| change.rule)
    }

    /// Returns the segments of the changed text. `before` are the segments of the original, and `rules` is
    /// the set that ran.
    ///
    /// Unchanged bytes keep their source. Each replacement is one segment, via earlier rules and the replaced
    /// sources.
    pub fn segments(&self, rules: &super::RuleSet, before: &[Segment]) -> Vec<Segment> {
        let mut segments = before.to_vec();
        for RuleChange { rule, text, matches } in &self.changes {
            let (mut new, mut from) = (SourcedText::default(), 0);
            for ReplacedMatch { span, text: words } in matches {
                new.copy(&text[from..span.start], &segments, from);
                let (source, via) = sources(rules.rules()[*rule].source(), &segments, *span);
                new.push(words, source, via);
                from = span.end;
            }
            new.copy(&text[from..], &segments, from);
            segments = new.segments;
        }
        segments
    }

    /// Size of the changes in bytes.
    pub(super) fn size(&self) -> usize {
        let size = |change: &RuleChange| {
            change.text.len() + change.matches.iter().map(|replaced| replaced.text.len()).sum::<usize>()
        };
        self.changes.iter().map(size).sum()
    }
}

/// Returns the source of replaced text, and the sources of the text before, earlier rules first. O(segments).
fn sources(rule: &Source, segments: &[Segment], span: Span) -> (Source, Vec<Source>) {
    let all = || segments_in(segments, span).flat_map(|part| std::iter::once(&part.source).chain(&part.via));
    let is_rule = |source: &&Source| source.kind == SourceKind::Rule;
    let mut via: Vec<Source> = Vec::new();
    for source in all().filter(is_rule).chain(all().filter(|source| !is_rule(source))) {
        if via.len() < MAX_VIA && !via.contains(source) {
            via.push(source.clone());
        }
    }
    // A rule may copy words, so it cannot raise their trust.
    let trusts = segments_in(segments, span).map(|part| part.source.trust);
    let trust = trusts.max().map_or(rule.trust, |trust| trust.max(rule.trust));
    (Source { trust, ..rule.clone() }, via)
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
        let (mut out, mut matches) = (String::new(), Vec::new());
        let (mut copied, mut is_matched) = (0, false);
        let mut expand = |template: &Template| expand(template, self.rule.source()).text;
        let count = if self.regex.flags().contains(Flags::GLOBAL) { usize::MAX } else { 1 };
        for found in self.regex.find_iter_within(&text, steps).take(count) {
            let found = found?;
            let range = found.range();
            is_matched = true;
            out.push_str(&text[copied..range.start]);
            let start = out.len();
            self.rule.replace.append(&found, self.trims, &mut expand, &mut out);
            copied = range.end;
            // A match replaced with the same text keeps its source.
            if out[start..] != *found.as_str() {
                let span = Span::new(range.start, range.end);
                matches.push(ReplacedMatch { span, text: out[start..].to_owned() });
            }
            self.check_length(out.len())?;
        }
        if !is_matched {
            return Ok(());
        }
        out.push_str(&text[copied..]);
        self.check_length(out.len())?;
        before.is_volatile |= self.rule.replace.has_macros();
        if out != *text {
            before.changes.push(RuleChange { rule: self.number, text, matches });
            before.text = Text::from(out);
        }
        Ok(())
    }

    fn check_length(&self, bytes: usize) -> Result<(), Error> {
        if bytes > self.output_bytes {
            Err(Error::OutputTooLong { limit: self.output_bytes })
        } else {
            Ok(())
        }
    }
}
