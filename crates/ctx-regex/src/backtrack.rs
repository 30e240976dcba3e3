//! Backtracking engine that follows ECMA-262 and counts steps.
//!
//! Supports everything that the linear engine does not: lookaround, backreferences, and some loops with
//! groups or empty iterations. A match can need exponentially many steps. Not recursive.

mod back_reference;
mod candidates;
mod class;
mod compile;
mod machine;
mod program;
mod runs;

use std::ops::Range;

use self::candidates::Candidates;
use self::machine::Machine;
use self::program::Program;
use crate::ast::Pattern;
use crate::steps::BYTES_PER_STEP;
use crate::{Error, Flags, Limits, Steps};

#[derive(Debug)]
pub(crate) struct Backtrack {
    program: Program,
    candidates: Candidates,
    branches: usize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct MatchBuffers {
    slots: Vec<u32>,
    branches: Vec<machine::Branch>,
    frames: Vec<machine::Frame>,
}

impl Backtrack {
    pub(crate) fn new(pattern: &Pattern, flags: Flags, limits: &Limits) -> Self {
        let program = compile::compile(pattern, flags);
        let candidates = Candidates::new(&program);
        Self { program, candidates, branches: limits.branches }
    }

    /// `start` is a character boundary. Groups remain in `room`.
    pub(crate) fn find_at(
        &self,
        buffers: &mut MatchBuffers,
        text: &str,
        start: usize,
        steps: &mut Steps,
    ) -> Result<Option<Range<usize>>, Error> {
        // Fails if no steps remain.
        steps.spend(1)?;
        let mut at = start;
        loop {
            // Scan no more than the remaining steps allow.
            let most = usize::try_from(steps.left()).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_STEP);
            let end = text.len().min(at.saturating_add(most));
            let next = self.candidates.next(&text.as_bytes()[..end], at, steps);
            steps.spend(self.candidates.skipped_bytes(text, at, next).div_ceil(BYTES_PER_STEP) as u64)?;
            let Some(next) = next else { return Ok(None) };
            if let Some(range) = self.match_at(buffers, text, next, steps)? {
                return Ok(Some(range));
            }
            let Some(after) = next_char(text, next) else { return Ok(None) };
            at = after;
        }
    }

    pub(crate) fn match_at(
        &self,
        buffers: &mut MatchBuffers,
        text: &str,
        start: usize,
        steps: &mut Steps,
    ) -> Result<Option<Range<usize>>, Error> {
        Machine::new(&self.program, text, buffers, self.branches)?.run(start, steps)
    }
}

impl MatchBuffers {
    /// In the last match.
    pub(crate) fn get(&self, number: usize) -> Option<Range<usize>> {
        let bounds = self.slots.get(number.checked_mul(2)?..)?;
        match bounds {
            [start, end, ..] if *start != machine::UNSET && *end != machine::UNSET => {
                Some(*start as usize..*end as usize)
            }
            _ => None,
        }
    }
}

pub(crate) fn next_char(text: &str, offset: usize) -> Option<usize> {
    let c = text.get(offset..)?.chars().next()?;
    Some(offset + c.len_utf8())
}
