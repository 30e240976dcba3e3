use std::ops::Range;

use super::class::{ByteSet, Class};

#[derive(Debug)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) classes: Vec<Class>,
    /// 2 per group (group 0 is the match), then those of loops.
    pub(super) slots: usize,
    pub(super) looks: usize,
    /// `None` if case matters.
    pub(super) folding: Option<CaseFolding>,
    /// `\b` includes the 2 characters that fold to ASCII.
    pub(super) wide_words: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaseFolding {
    /// Without `u`.
    Upper,
    /// With `u` or `v`.
    Simple,
}

pub(super) type OpIndex = usize;

/// `before` matches backward.
#[derive(Debug)]
pub(super) enum Op {
    Match,
    Fail,
    Literal {
        text: Box<str>,
        before: bool,
    },
    Class {
        class: usize,
        before: bool,
    },
    Run(Run),
    /// Without `m`.
    Start,
    End,
    /// With `m`.
    LineStart,
    LineEnd,
    WordBoundary {
        negated: bool,
    },
    /// Tries `first`, then `second`.
    Split {
        first: OpIndex,
        second: OpIndex,
        filter: Filter,
    },
    Jump(OpIndex),
    Save(usize),
    Forget(Range<usize>),
    Enter {
        counter: usize,
    },
    /// Decides whether to iterate again.
    Loop(Loop),
    Iterate {
        counter: usize,
        groups: Range<usize>,
    },
    /// An optional iteration must not be empty.
    Again {
        counter: usize,
        min: u32,
        to: OpIndex,
    },
    /// Continues at `after`.
    Look {
        look: usize,
        negated: bool,
        after: OpIndex,
    },
    Seen {
        look: usize,
        negated: bool,
    },
    Group {
        number: usize,
        before: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// Slot.
    pub(super) counter: usize,
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) greedy: bool,
    pub(super) exit: OpIndex,
}

/// Repeated characters of a class.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) class: usize,
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) greedy: bool,
    pub(super) before: bool,
    /// First bytes of the next operation.
    pub(super) filter: Filter,
}

/// `None` if unknown.
pub(super) type Filter = Option<Box<ByteSet>>;

/// Number of started iterations, and start of the last one.
pub(super) const SLOTS_OF_LOOP: usize = 2;
