//! Where the bytes of a changed text come from.

use std::ops::Range;
use std::sync::Arc;

use ctx_types::{Segment, Source, Span};

use super::rule::Rule;

/// Some bytes of a changed text, from the end of the piece before.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) len: usize,
    pub(super) from: Origin,
}

/// Where bytes come from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// They stand as they stood in the first text, there from `start` on.
    Kept { start: usize },
    /// Rules wrote them.
    Written(Arc<Writing>),
}

/// What rules wrote over.
#[derive(Clone, Debug)]
pub(super) struct Writing {
    /// The rules, by their numbers, the last one first.
    rules: Vec<usize>,
    /// Bytes of the first text that stood there.
    over: Vec<Range<usize>>,
}

/// Goes through pieces from left to right.
pub(super) struct Cursor<'a> {
    rest: &'a [Piece],
    /// How many bytes of the first one are taken.
    taken: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(pieces: &'a [Piece]) -> Self {
        Self { rest: pieces, taken: 0 }
    }

    /// Takes the next `len` bytes.
    pub(super) fn take(&mut self, len: usize) -> Vec<Piece> {
        let mut taken = Vec::new();
        let mut left = len;
        while left > 0 {
            let Some((first, rest)) = self.rest.split_first() else { break };
            let count = left.min(first.len - self.taken);
            let from = match &first.from {
                Origin::Kept { start } => Origin::Kept { start: start + self.taken },
                Origin::Written(writing) => Origin::Written(writing.clone()),
            };
            taken.push(Piece { len: count, from });
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

/// Adds pieces; one that was kept becomes one with the last if they stood together.
pub(super) fn push_all(pieces: &mut Vec<Piece>, more: Vec<Piece>) {
    for piece in more {
        match (pieces.last_mut(), &piece.from) {
            (Some(last), Origin::Kept { start }) if last.is_kept_up_to(*start) => last.len += piece.len,
            _ => pieces.push(piece),
        }
    }
}

impl Piece {
    fn is_kept_up_to(&self, end: usize) -> bool {
        matches!(self.from, Origin::Kept { start } if start + self.len == end)
    }
}

/// The piece that a rule wrote over others.
pub(super) fn written(rule: usize, len: usize, over: &[Piece]) -> Piece {
    let mut writing = Writing { rules: vec![rule], over: Vec::new() };
    for piece in over {
        match &piece.from {
            Origin::Kept { start } => writing.over.push(*start..start + piece.len),
            Origin::Written(earlier) => {
                for rule in &earlier.rules {
                    if !writing.rules.contains(rule) {
                        writing.rules.push(*rule);
                    }
                }
                writing.over.extend(earlier.over.iter().cloned());
            }
        }
    }
    Piece { len, from: Origin::Written(Arc::new(writing)) }
}

/// How many sources of what stood there before a segment names.
const MAX_VIA: usize = 16;

/// The segments of a changed text, from those of the first one.
///
/// O(pieces + segments), and for each written piece what it stands over.
pub(super) fn segments(pieces: &[Piece], rules: &[Rule], first: &[Segment]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut at = 0;
    for piece in pieces {
        match &piece.from {
            Origin::Kept { start } => {
                for segment in overlapping(first, *start..start + piece.len) {
                    let from = segment.span.start.max(*start) - start + at;
                    let to = segment.span.end.min(start + piece.len) - start + at;
                    push_segment(&mut segments, Segment { span: Span::new(from, to), ..segment.clone() });
                }
            }
            Origin::Written(writing) => {
                let segment = writing.segment(Span::new(at, at + piece.len), rules, first);
                segments.extend(segment);
            }
        }
        at += piece.len;
    }
    segments
}

impl Writing {
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
                // Whose words a rule may have copied, it cannot make more trustworthy.
                source.trust = source.trust.max(segment.source.trust);
            }
        }
        Some(Segment { span, source, via })
    }
}

/// The segments that have bytes in a range.
fn overlapping(segments: &[Segment], range: Range<usize>) -> impl Iterator<Item = &Segment> {
    let begin = segments.partition_point(|segment| segment.span.end <= range.start);
    let rest = segments.get(begin..).unwrap_or_default();
    rest.iter().take_while(move |segment| segment.span.start < range.end)
}

/// Adds a segment, in one with the last if both have the same origin.
fn push_segment(segments: &mut Vec<Segment>, segment: Segment) {
    match segments.last_mut() {
        Some(last) if last.source == segment.source && last.via == segment.via => {
            last.span = Span::new(last.span.start, segment.span.end);
        }
        _ => segments.push(segment),
    }
}
