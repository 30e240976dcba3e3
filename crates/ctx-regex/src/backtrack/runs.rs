//! Repeated characters of a class, without a branch for each.

use super::class::Class;
use super::machine::{Branch, Machine, Next, narrow};
use super::program::{Op, OpIndex, Run};
use crate::{Error, Steps};

impl Machine<'_> {
    #[inline]
    pub(super) fn take(&mut self, class: &Class, before: bool) -> bool {
        // Fast path: ASCII, forward.
        if let Some(byte) = self.text.as_bytes().get(self.place).filter(|byte| !before && byte.is_ascii()) {
            let holds = class.contains_ascii(*byte);
            self.place += usize::from(holds);
            return holds;
        }
        let next = if before { self.char_before() } else { self.char_after() };
        let Some(c) = next.filter(|c| class.contains(*c)) else { return false };
        self.place = if before { self.place - c.len_utf8() } else { self.place + c.len_utf8() };
        true
    }

    pub(super) fn take_run(&mut self, at: OpIndex, run: &Run, steps: &mut Steps) -> Result<Next, Error> {
        let most = if run.greedy { run.max } else { run.min };
        let class = &self.program.classes[run.class];
        let mut count = 0;
        let mut least = self.place;
        while count < most && self.take(class, run.before) {
            count += 1;
            if count == run.min {
                least = self.place;
            }
        }
        steps.spend(u64::from(count))?;
        if count < run.min {
            return Ok(Next::Back);
        }
        let found = if run.greedy {
            self.shorten_to(at, run, least, steps)?
        } else {
            self.lengthen_to(at, run, run.max - count, steps)?
        };
        Ok(if found { Next::Op(at + 1) } else { Next::Back })
    }

    pub(super) fn shorten(
        &mut self,
        at: u32,
        least: usize,
        place: usize,
        steps: &mut Steps,
    ) -> Result<bool, Error> {
        let Some(Op::Run(run)) = self.program.ops.get(at as usize) else { return Ok(false) };
        self.place = place;
        self.give_back(run.before);
        self.shorten_to(at as usize, run, least, steps)
    }

    /// Longest end, down to `least`, at which the pattern can continue.
    fn shorten_to(&mut self, at: OpIndex, run: &Run, least: usize, steps: &mut Steps) -> Result<bool, Error> {
        let mut given = 0;
        while !self.matches_filter(&run.filter) && self.place != least {
            self.give_back(run.before);
            given += 1;
        }
        steps.spend(given)?;
        if !self.matches_filter(&run.filter) {
            return Ok(false);
        }
        if self.place != least {
            let (least, place) = (narrow(least), narrow(self.place));
            self.keep(Branch::Shorten { run: narrow(at), least, place })?;
        }
        Ok(true)
    }

    pub(super) fn lengthen(
        &mut self,
        at: u32,
        place: usize,
        more: u32,
        steps: &mut Steps,
    ) -> Result<bool, Error> {
        let Some(Op::Run(run)) = self.program.ops.get(at as usize) else { return Ok(false) };
        self.place = place;
        let taken = self.take(&self.program.classes[run.class], run.before);
        if taken { self.lengthen_to(at as usize, run, more - 1, steps) } else { Ok(false) }
    }

    /// Shortest end, up to `more` characters ahead, at which the pattern can continue.
    fn lengthen_to(&mut self, at: OpIndex, run: &Run, more: u32, steps: &mut Steps) -> Result<bool, Error> {
        let class = &self.program.classes[run.class];
        let (most, mut more) = (more, more);
        while !self.matches_filter(&run.filter) && more > 0 && self.take(class, run.before) {
            more -= 1;
        }
        steps.spend(u64::from(most - more))?;
        if !self.matches_filter(&run.filter) {
            return Ok(false);
        }
        if more > 0 {
            self.keep(Branch::Lengthen { run: narrow(at), place: narrow(self.place), more })?;
        }
        Ok(true)
    }

    fn give_back(&mut self, before: bool) {
        let last = if before { self.char_after() } else { self.char_before() };
        let bytes = last.map_or(0, char::len_utf8);
        self.place = if before { self.place + bytes } else { self.place - bytes };
    }
}
