//! Tracks the origin of bytes in a changed text.

use std::ops::Range;
use std::sync::Arc;

use ctx_types::{Segment, Source, Span};

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
    over: Vec<Range<usize>>,
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
            PieceOrigin::Kept { start } => writing.over.push(*start..start + piece.len),
            PieceOrigin::Written(earlier) => {
                for rule in &earlier.rules {
                    if !writing.rules.contains(rule) {
                        writing.rules.push(*rule);
                    }
                }
                writing.over.extend(earlier.over.iter().cloned());
            }
        }
    }
    TextPiece { len, from: PieceOrigin::Written(Arc::new(writing)) }
}

const MAX_VIA: usize = 16;

/// Linear in all inputs and the replaced ranges.
pub(super) fn segments(pieces: &[TextPiece], rules: &[Rule], first: &[Segment]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut at = 0;
    for piece in pieces {
        match &piece.from {
            PieceOrigin::Kept { start } => {
                for segment in overlapping(first, *start..start + piece.len) {
                    let from = segment.span.start.max(*start) - start + at;
                    let to = segment.span.end.min(start + piece.len) - start + at;
                    push_segment(&mut segments, Segment { span: Span::new(from, to), ..segment.clone() });
                }
            }
            PieceOrigin::Written(writing) => {
                let segment = writing.segment(Span::new(at, at + piece.len), rules, first);
                segments.extend(segment);
            }
        }
        at += piece.len;
    }
    segments
}

impl RuleOutput {
    fn segment(&self, span: Span, rules: &[Rule], first: &[Segment]) -> Option<Segment> {
        let (last, earlier) = self.rules.split_first()?;
        let mut source = rules.get(*last)?.source().clone();
        let mut via: Vec<Source> = Vec::new();
        let mut add = |found: &Source| {
            if via.len() < MAX_VIA && !via.contains(found) {
                via.push(found.clone());
            }
        };
        earlier.iter().filter_map(|rule| rules.get(*rule)).for_each(|rule| add(rule.source()));
        for range in &self.over {
            for segment in overlapping(first, range.clone()) {
                add(&segment.source);
                segment.via.iter().for_each(&mut add);
                // A rule may copy words, so it cannot raise their trust.
                source.trust = source.trust.max(segment.source.trust);
            }
        }
        Some(Segment { span, source, via })
    }
}

fn overlapping(segments: &[Segment], range: Range<usize>) -> impl Iterator<Item = &Segment> {
    let begin = segments.partition_point(|segment| segment.span.end <= range.start);
    let rest = segments.get(begin..).unwrap_or_default();
    rest.iter().take_while(move |segment| segment.span.start < range.end)
}

fn push_segment(segments: &mut Vec<Segment>, segment: Segment) {
    match segments.last_mut() {
        Some(last) if last.source == segment.source && last.via == segment.via => {
            last.span = Span::new(last.span.start, segment.span.end);
        }
        _ => segments.push(segment),
    }
}
