use std::ops::Range;
use std::sync::Arc;

use crate::ast::Groups;
use crate::backtrack::{Backtrack, MatchBuffers};
use crate::linear::{Linear, Slots};
use crate::{Error, Flags, Limits, Steps, parser, required_literals};

#[derive(Clone, Debug)]
pub(crate) struct Engine {
    linear: Option<Linear>,
    backtrack: Arc<Backtrack>,
    required_literals: Arc<[Box<str>]>,
}

impl Engine {
    pub(crate) fn compile(pattern: &str, flags: Flags, limits: &Limits) -> Result<(Self, Groups), Error> {
        if pattern.len() > limits.pattern_bytes {
            return Err(Error::PatternTooLong { length: pattern.len(), limit: limits.pattern_bytes });
        }
        let parsed = parser::parse(pattern, flags.check()?, limits)?;
        let linear = Linear::new(&parsed, flags, limits);
        let backtrack = Arc::new(Backtrack::new(&parsed, flags, limits));
        let required_literals = required_literals::find(&parsed.root).into();
        Ok((Self { linear, backtrack, required_literals }, parsed.groups))
    }

    pub(crate) fn required_literals(&self) -> &[Box<str>] {
        &self.required_literals
    }

    pub(crate) fn is_linear(&self) -> bool {
        self.linear.is_some()
    }

    pub(crate) fn build_cost(&self) -> usize {
        self.linear.as_ref().map_or(0, Linear::build_cost)
    }
}

#[derive(Debug)]
pub(crate) struct Search<'a> {
    text: &'a str,
    anchored: bool,
    /// `None` if unsuitable or too expensive.
    linear: Option<&'a Linear>,
    backtrack: &'a Backtrack,
    groups: WantedGroups,
    buffers: Box<MatchBuffers>,
}

#[derive(Debug)]
enum WantedGroups {
    No,
    Linear(Box<Slots>),
    Backtrack,
}

impl<'a> Search<'a> {
    pub(crate) fn new(engine: &'a Engine, text: &'a str, anchored: bool, wants_groups: bool) -> Self {
        let linear = engine.linear.as_ref().filter(|linear| linear.supports_text(text));
        let groups = match linear {
            _ if !wants_groups => WantedGroups::No,
            Some(linear) if linear.has_exact_groups() => WantedGroups::Linear(Box::new(linear.slots())),
            _ => WantedGroups::Backtrack,
        };
        Self { text, anchored, linear, backtrack: &engine.backtrack, groups, buffers: Box::default() }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The linear engine is charged for its worst case. Above half of the remaining steps, uses backtracking,
    /// which is charged for actual work.
    pub(crate) fn find_at(&mut self, start: usize, steps: &mut Steps) -> Result<Option<Range<usize>>, Error> {
        if let Some(linear) = self.linear {
            let cost = linear.cost(self.text.len().saturating_sub(start));
            if cost <= steps.left() / 2 {
                steps.spend(cost)?;
                return self.find_linear(linear, start, steps);
            }
            self.switch_to_backtracking();
        }
        if self.anchored {
            self.backtrack.match_at(&mut self.buffers, self.text, start, steps)
        } else {
            self.backtrack.find_at(&mut self.buffers, self.text, start, steps)
        }
    }

    fn find_linear(
        &mut self,
        linear: &Linear,
        start: usize,
        steps: &mut Steps,
    ) -> Result<Option<Range<usize>>, Error> {
        let found = match &mut self.groups {
            WantedGroups::Linear(slots) => linear.captures_at(slots, self.text, start),
            _ => linear.find_at(self.text, start),
        };
        // The leftmost match starts later only if none starts here.
        let found = found.filter(|found| !self.anchored || found.start == start);
        match (&self.groups, found) {
            (WantedGroups::Backtrack, Some(found)) => {
                self.backtrack.match_at(&mut self.buffers, self.text, found.start, steps)
            }
            (_, found) => Ok(found),
        }
    }

    fn switch_to_backtracking(&mut self) {
        self.linear = None;
        if self.has_groups() {
            self.groups = WantedGroups::Backtrack;
        }
    }

    pub(crate) fn has_groups(&self) -> bool {
        !matches!(self.groups, WantedGroups::No)
    }

    /// In the last match.
    pub(crate) fn group(&self, number: usize) -> Option<Range<usize>> {
        match &self.groups {
            WantedGroups::No => None,
            WantedGroups::Linear(slots) => slots.get(number),
            WantedGroups::Backtrack => self.buffers.get(number),
        }
    }
}
