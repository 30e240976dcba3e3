//! Tracks the origin of bytes in a changed text.

use std::sync::Arc;

use ctx_types::{Segment, Source, SourcedText, Span, segments_in};

use super::rule::Rule;

#[derive(Clone, Debug)]
pub(super) struct TextPiece {
    pub(super) len: usize,
    pub(super) from: PieceOrigin,
}

#[derive(Clone, Debug)]
pub(super) enum PieceOrigin {
    /// Unchanged bytes, from `start` in the first text.
    Kept {
        start: usize,
    },
    Written(Arc<RuleOutput>),
}

#[derive(Clone, Debug)]
pub(super) struct RuleOutput {
    /// Numbers of the rules, last rule first.
    rules: Vec<usize>,
    /// Replaced ranges of the first text.
    over: Vec<Span>,
}

pub(super) struct Cursor<'a> {
    rest: &'a [TextPiece],
    taken: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(pieces: &'a [TextPiece]) -> Self {
        Self { rest: pieces, taken: 0 }
    }

    pub(super) fn take(&mut self, len: usize) -> Vec<TextPiece> {
        let mut taken = Vec::new();
        let mut left = len;
        while left > 0 {
            let Some((first, rest)) = self.rest.split_first() else { break };
            let count = left.min(first.len - self.taken);
            let from = match &first.from {
                PieceOrigin::Kept { start } => PieceOrigin::Kept { start: start + self.taken },
                PieceOrigin::Written(writing) => PieceOrigin::Written(writing.clone()),
            };
            taken.push(TextPiece { len: count, from });
            left -= count;
            self.taken += count;
            if self.taken == first.len {
                self.rest = rest;
                self.taken = 0;
            }
        }
        taken
    }
}

/// Merges unchanged bytes that were adjacent in the first text.
pub(super) fn push_all(pieces: &mut Vec<TextPiece>, more: Vec<TextPiece>) {
    for piece in more {
        match (pieces.last_mut(), &piece.from) {
            (Some(last), PieceOrigin::Kept { start }) if last.is_kept_up_to(*start) => last.len += piece.len,
            _ => pieces.push(piece),
        }
    }
}

impl TextPiece {
    fn is_kept_up_to(&self, end: usize) -> bool {
        matches!(self.from, PieceOrigin::Kept { start } if start + self.len == end)
    }
}

pub(super) fn rule_piece(rule: usize, len: usize, over: &[TextPiece]) -> TextPiece {
    let mut writing = RuleOutput { rules: vec![rule], over: Vec::new() };
    for piece in over {
        match &piece.from {
            PieceOrigin::Kept { start } => writing.over.push(Span::new(*start, start + piece.len)),
            PieceOrigin::Written(earlier) => {
                for rule in &earlier.rules {
                    if !writing.rules.contains(rule) {
                        writing.rules.push(*rule);
                    }
                }
                writing.over.extend(earlier.over.iter().copied());
            }
        }
    }
    TextPiece { len, from: PieceOrigin::Written(Arc::new(writing)) }
}

const MAX_VIA: usize = 16;

/// Linear in all inputs and the replaced ranges.
pub(super) fn segments(text: &str, pieces: &[TextPiece], rules: &[Rule], first: &[Segment]) -> Vec<Segment> {
    let mut new = SourcedText::default();
    for piece in pieces {
        let at = new.text.len();
        let text = &text[at..at + piece.len];
        match &piece.from {
            PieceOrigin::Kept { start } => new.copy(text, first, *start),
            PieceOrigin::Written(output) => {
                let (source, via) = output.sources(rules, first);
                new.push(text, source, via);
            }
        }
    }
    new.segments
}

impl RuleOutput {
    fn sources(&self, rules: &[Rule], first: &[Segment]) -> (Source, Vec<Source>) {
        let mut written = self.rules.iter().map(|rule| rules[*rule].source().clone());
        let mut source = written.next().expect("a rule wrote it");
        let mut via: Vec<Source> = Vec::new();
        let mut add = |found: Source| {
            if via.len() < MAX_VIA && !via.contains(&found) {
                via.push(found);
            }
        };
        written.for_each(&mut add);
        for part in self.over.iter().flat_map(|span| segments_in(first, *span)) {
            // A rule may copy words, so it cannot raise their trust.
            source.trust = source.trust.max(part.source.trust);
            std::iter::once(&part.source).chain(&part.via).cloned().for_each(&mut add);
        }
        (source, via)
    }
}
