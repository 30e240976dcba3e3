use std::ops::Range;

use super::MatchBuffers;
use super::program::{Filter, Loop, Op, OpIndex, Program};
use crate::steps::BYTES_PER_STEP;
use crate::{Error, Steps};

pub(super) const UNSET: u32 = u32::MAX;

const SLOTS_PER_STEP: usize = 16;

/// An untried branch, or a value to restore.
#[derive(Clone, Copy, Debug)]
pub(super) enum Branch {
    /// Continue at `place`.
    Go { at: u32, place: u32 },
    /// Restore a slot.
    Restore { slot: u32, value: u32 },
    /// Shorten a greedy run, but not below `least`.
    Shorten { run: u32, least: u32, place: u32 },
    /// Extend a lazy run by up to `more` characters.
    Lengthen { run: u32, place: u32, more: u32 },
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    branches: usize,
    place: usize,
}

pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) text: &'a str,
    pub(super) buffers: &'a mut MatchBuffers,
    most_branches: usize,
    pub(super) place: usize,
}

pub(super) enum Next {
    Op(OpIndex),
    Back,
    Done,
}

impl<'a> Machine<'a> {
    /// Fails if offsets do not fit in a slot.
    pub(super) fn new(
        program: &'a Program,
        text: &'a str,
        buffers: &'a mut MatchBuffers,
        most_branches: usize,
    ) -> Result<Self, Error> {
        if u32::try_from(text.len()).is_err() {
            return Err(Error::TextTooLong { length: text.len() });
        }
        buffers.frames.resize(program.looks, Frame::default());
        Ok(Self { program, text, buffers, most_branches, place: 0 })
    }

    pub(super) fn run(mut self, start: usize, steps: &mut Steps) -> Result<Option<Range<usize>>, Error> {
        let slots = self.program.slots;
        steps.spend(slots.div_ceil(SLOTS_PER_STEP) as u64)?;
        self.buffers.slots.clear();
        self.buffers.slots.resize(slots, UNSET);
        self.buffers.branches.clear();
        self.place = start;
        let mut at = 0;
        loop {
            steps.spend(1)?;
            at = match self.step(at, steps)? {
                Next::Op(next) => next,
                Next::Done => return Ok(Some(start..self.place)),
                Next::Back => match self.back(steps)? {
                    Some(next) => next,
                    None => return Ok(None),
                },
            };
        }
    }

    fn step(&mut self, at: OpIndex, steps: &mut Steps) -> Result<Next, Error> {
        let program = self.program;
        let Some(op) = program.ops.get(at) else { return Ok(Next::Back) };
        let holds = match op {
            Op::Match => return Ok(Next::Done),
            Op::Fail => false,
            Op::Literal { text, before } => self.literal(text, *before, steps)?,
            Op::Class { class, before } => self.take(&program.classes[*class], *before),
            Op::Run(run) => return self.take_run(at, run, steps),
            Op::Start => self.place == 0,
            Op::End => self.place == self.text.len(),
            Op::LineStart => self.place == 0 || self.char_before().is_some_and(is_line_end),
            Op::LineEnd => self.char_after().is_none_or(is_line_end),
            Op::WordBoundary { negated } => {
                (self.is_word(self.char_before()) != self.is_word(self.char_after())) != *negated
            }
            Op::Split { first, second, filter } => return self.split(*first, *second, filter),
            Op::Jump(to) => return Ok(Next::Op(*to)),
            Op::Save(slot) => self.set(*slot, narrow(self.place))?,
            Op::Forget(slots) => self.forget(slots.clone(), steps)?,
            Op::Enter { counter } => self.set(*counter, 0)?,
            Op::Loop(counted) => return self.decide(at, counted),
            Op::Iterate { counter, groups } => {
                self.set(*counter, self.slot(*counter).saturating_add(1))?;
                self.set(*counter + 1, narrow(self.place))?;
                self.forget(groups.clone(), steps)?
            }
            Op::Again { counter, min, to } => {
                let is_empty = self.slot(*counter + 1) == narrow(self.place);
                let is_required = self.slot(*counter) <= *min;
                return Ok(if is_empty && !is_required { Next::Back } else { Next::Op(*to) });
            }
            Op::Look { look, negated, after } => {
                self.buffers.frames[*look] =
                    Frame { branches: self.buffers.branches.len(), place: self.place };
                if *negated {
                    self.keep(Branch::Go { at: narrow(*after), place: narrow(self.place) })?;
                }
                true
            }
            Op::Seen { look, negated: false } => {
                let frame = self.buffers.frames[*look];
                self.place = frame.place;
                self.drop_branches(frame.branches, steps)?;
                true
            }
            Op::Seen { look, negated: true } => {
                self.put_back(self.buffers.frames[*look].branches);
                false
            }
            Op::Group { number, before } => self.group_repeated(*number, *before, steps)?,
        };
        Ok(if holds { Next::Op(at + 1) } else { Next::Back })
    }

    fn back(&mut self, steps: &mut Steps) -> Result<Option<OpIndex>, Error> {
        while let Some(branch) = self.buffers.branches.pop() {
            match branch {
                Branch::Restore { slot, value } => self.buffers.slots[slot as usize] = value,
                Branch::Go { at, place } => {
                    self.place = place as usize;
                    return Ok(Some(at as usize));
                }
                Branch::Shorten { run, least, place } => {
                    if self.shorten(run, least as usize, place as usize, steps)? {
                        return Ok(Some(run as usize + 1));
                    }
                }
                Branch::Lengthen { run, place, more } => {
                    if self.lengthen(run, place as usize, more, steps)? {
                        return Ok(Some(run as usize + 1));
                    }
                }
            }
        }
        Ok(None)
    }

    pub(super) fn keep(&mut self, branch: Branch) -> Result<(), Error> {
        if self.buffers.branches.len() >= self.most_branches {
            return Err(Error::TooManyBranches { limit: self.most_branches });
        }
        self.buffers.branches.push(branch);
        Ok(())
    }

    fn slot(&self, slot: usize) -> u32 {
        self.buffers.slots.get(slot).copied().unwrap_or(UNSET)
    }

    /// Saves the old value for backtracking.
    fn set(&mut self, slot: usize, value: u32) -> Result<bool, Error> {
        let old = std::mem::replace(&mut self.buffers.slots[slot], value);
        if old != value && !self.buffers.branches.is_empty() {
            self.keep(Branch::Restore { slot: narrow(slot), value: old })?;
        }
        Ok(true)
    }

    fn forget(&mut self, slots: Range<usize>, steps: &mut Steps) -> Result<bool, Error> {
        steps.touch(slots.len());
        steps.spend((slots.len() / SLOTS_PER_STEP) as u64)?;
        for slot in slots {
            self.set(slot, UNSET)?;
        }
        Ok(true)
    }

    /// Keeps saved values.
    fn drop_branches(&mut self, count: usize, steps: &mut Steps) -> Result<(), Error> {
        let branches = &mut self.buffers.branches;
        let looked_through = branches.len().saturating_sub(count);
        steps.touch(looked_through);
        steps.spend((looked_through / SLOTS_PER_STEP) as u64)?;
        let mut kept = count;
        for index in count..branches.len() {
            if let Branch::Restore { .. } = branches[index] {
                branches.swap(kept, index);
                kept += 1;
            }
        }
        branches.truncate(kept);
        Ok(())
    }

    fn put_back(&mut self, count: usize) {
        while self.buffers.branches.len() > count {
            if let Some(Branch::Restore { slot, value }) = self.buffers.branches.pop() {
                self.buffers.slots[slot as usize] = value;
            }
        }
    }

    fn split(&mut self, first: OpIndex, second: OpIndex, filter: &Filter) -> Result<Next, Error> {
        if !self.matches_filter(filter) {
            return Ok(Next::Op(second));
        }
        self.keep(Branch::Go { at: narrow(second), place: narrow(self.place) })?;
        Ok(Next::Op(first))
    }

    fn decide(&mut self, at: OpIndex, counted: &Loop) -> Result<Next, Error> {
        let done = self.slot(counted.counter);
        if done < counted.min {
            return Ok(Next::Op(at + 1));
        }
        if done >= counted.max {
            return Ok(Next::Op(counted.exit));
        }
        let exit = counted.exit;
        let (first, second) = if counted.greedy { (at + 1, exit) } else { (exit, at + 1) };
        self.split(first, second, &None)
    }

    pub(super) fn matches_filter(&self, filter: &Filter) -> bool {
        let Some(bytes) = filter else { return true };
        self.text.as_bytes().get(self.place).is_some_and(|byte| bytes.contains(*byte))
    }

    /// Most comparisons fail in the first bytes; the others are charged per byte.
    pub(super) fn literal(&mut self, text: &str, before: bool, steps: &mut Steps) -> Result<bool, Error> {
        let (head, tail) = self.text.as_bytes().split_at(self.place);
        let text = text.as_bytes();
        let stands = |part: &[u8]| if before { head.ends_with(part) } else { tail.starts_with(part) };
        if text.len() > BYTES_PER_STEP {
            let part = if before { &text[text.len() - BYTES_PER_STEP..] } else { &text[..BYTES_PER_STEP] };
            if !stands(part) {
                return Ok(false);
            }
            steps.spend((text.len() / BYTES_PER_STEP) as u64)?;
        }
        steps.touch(text.len());
        let holds = stands(text);
        if holds {
            self.place = if before { self.place - text.len() } else { self.place + text.len() };
        }
        Ok(holds)
    }

    pub(super) fn char_after(&self) -> Option<char> {
        self.text.get(self.place..)?.chars().next()
    }

    pub(super) fn char_before(&self) -> Option<char> {
        self.text.get(..self.place)?.chars().next_back()
    }

    fn is_word(&self, c: Option<char>) -> bool {
        let Some(c) = c else { return false };
        c.is_ascii_alphanumeric()
            || c == '_'
            || self.program.wide_words && matches!(c, '\u{17F}' | '\u{212A}')
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Longer texts and patterns were rejected.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(UNSET)
}
