//! The engine that follows ECMA-262 to the letter: it tries one way after the other, and counts steps.
//!
//! It matches what the linear engine cannot: lookaround, references to groups, and loops whose groups or
//! empty iterations that engine treats otherwise. A match may take exponentially many steps, so every
//! search has a number of them; there is no recursion, so no text makes the stack overflow.

mod back_reference;
mod class;
mod compile;
mod first;
mod machine;
mod program;
mod runs;

use std::ops::Range;

use self::first::Candidates;
use self::machine::Machine;
use self::program::Program;
use crate::ast::Pattern;
use crate::steps::BYTES_PER_STEP;
use crate::{Error, Flags, Limits, Steps};

/// A pattern, ready to be matched by backtracking.
#[derive(Debug)]
pub(crate) struct Backtrack {
    program: Program,
    /// Where a match can begin.
    candidates: Candidates,
    /// Most ways that a search may keep in mind.
    branches: usize,
}

/// Reusable room for a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    slots: Vec<u32>,
    branches: Vec<machine::Branch>,
    frames: Vec<machine::Frame>,
}

impl Backtrack {
    pub(crate) fn new(pattern: &Pattern, flags: Flags, limits: &Limits) -> Self {
        let program = compile::compile(pattern, flags);
        let candidates = Candidates::of(&program);
        Self { program, candidates, branches: limits.branches }
    }

    /// The first match that begins at or after `start`, a character boundary; its groups stay in `room`.
    pub(crate) fn find_at(
        &self,
        room: &mut Room,
        text: &str,
        start: usize,
        steps: &mut Steps,
    ) -> Result<Option<Range<usize>>, Error> {
        // Where none is left, nothing is looked for.
        steps.spend(1)?;
        let mut at = start;
        loop {
            // No further than the steps pay for.
            let most = usize::try_from(steps.left()).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_STEP);
            let end = text.len().min(at.saturating_add(most));
            let next = self.candidates.next(&text.as_bytes()[..end], at, steps);
            steps.spend(self.candidates.passed_over(text, at, next).div_ceil(BYTES_PER_STEP) as u64)?;
            let Some(next) = next else { return Ok(None) };
            if let Some(range) = self.match_at(room, text, next, steps)? {
                return Ok(Some(range));
            }
            let Some(after) = next_char(text, next) else { return Ok(None) };
            at = after;
        }
    }

    /// The match that begins exactly at `start`.
    pub(crate) fn match_at(
        &self,
        room: &mut Room,
        text: &str,
        start: usize,
        steps: &mut Steps,
    ) -> Result<Option<Range<usize>>, Error> {
        Machine::new(&self.program, text, room, self.branches)?.run(start, steps)
    }
}

impl Room {
    /// What group `number` matched in the last match, in bytes of the text.
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

/// The offset behind the character at `offset`; none at the end of the text.
pub(crate) fn next_char(text: &str, offset: usize) -> Option<usize> {
    let c = text.get(offset..)?.chars().next()?;
    Some(offset + c.len_utf8())
}
