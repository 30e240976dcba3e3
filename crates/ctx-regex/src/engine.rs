//! The engine behind a [`Regex`](crate::Regex): the one place that knows which crate does the matching.

use std::ops::Range;

use regex::{CaptureLocations, RegexBuilder};

use crate::emit::Linear;
use crate::{Error, Limits};

/// How deep a written pattern nests for each level that its author nested: group, quantifier,
/// alternatives, sequence.
const DEPTH_FACTOR: usize = 4;

/// A search that finds groups keeps two offsets of each group for each state of the program. Programs
/// of patterns with more groups than this must be the smaller, so that this table stays within a few
/// times `Limits::compiled_bytes`.
const GROUPS_AT_FULL_SIZE: usize = 12;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    linear: regex::Regex,
}

/// Reusable room for the groups of a match.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    linear: CaptureLocations,
}

impl Engine {
    /// Builds an engine for a pattern with `groups` capture groups.
    pub(crate) fn linear(source: &Linear, groups: usize, limits: &Limits) -> Result<Self, Error> {
        let program_bytes = limits.compiled_bytes / groups.div_ceil(GROUPS_AT_FULL_SIZE).max(1);
        let nest = limits.nest.saturating_add(2).saturating_mul(DEPTH_FACTOR);
        let built = RegexBuilder::new(&source.pattern)
            .size_limit(program_bytes)
            .dfa_size_limit(limits.compiled_bytes)
            .nest_limit(u32::try_from(nest).unwrap_or(u32::MAX))
            .line_terminator(source.line_terminator)
            .build();
        match built {
            Ok(linear) => Ok(Self { linear }),
            Err(regex::Error::CompiledTooBig(_)) => Err(Error::TooComplex { limit: limits.compiled_bytes }),
            Err(other) => Err(Error::Untranslatable { reason: other.to_string() }),
        }
    }

    /// Whether there is a match anywhere. O(pattern × text).
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.linear.is_match(text)
    }

    pub(crate) fn slots(&self) -> Slots {
        Slots { linear: self.linear.capture_locations() }
    }

    /// The first match that begins at or after `start`, a character boundary.
    pub(crate) fn find_at(&self, text: &str, start: usize) -> Option<Range<usize>> {
        self.linear.find_at(text, start).map(|found| found.range())
    }

    /// As [`Engine::find_at`], and leaves the groups in `slots`.
    pub(crate) fn captures_at(&self, slots: &mut Slots, text: &str, start: usize) -> Option<Range<usize>> {
        self.linear.captures_read_at(&mut slots.linear, text, start).map(|found| found.range())
    }
}

impl Slots {
    /// What group `number` matched, in bytes of the text.
    pub(crate) fn get(&self, number: usize) -> Option<Range<usize>> {
        self.linear.get(number).map(|(start, end)| start..end)
    }
}
