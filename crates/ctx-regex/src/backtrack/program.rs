//! What the machine runs: a list of operations.

use std::ops::Range;

use super::class::{ByteSet, Class};

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) classes: Vec<Class>,
    /// How many slots there are: two for each group, the whole match being group 0, then those of loops.
    pub(super) slots: usize,
    /// How many lookarounds there are.
    pub(super) looks: usize,
    /// What ignoring case means, for references to groups; none if case counts.
    pub(super) folding: Option<Folding>,
    /// Whether the words of `\b` hold the two characters that fold into ASCII.
    pub(super) wide_words: bool,
}

/// How characters are compared if case does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folding {
    /// Without `u`: by their upper case.
    Upper,
    /// With `u` or `v`: by their simple case folding.
    Simple,
}

/// The number of an operation.
pub(super) type At = usize;

/// One operation. Those with `before` look at the text before the place, as lookbehinds do.
#[derive(Debug)]
pub(super) enum Op {
    /// The pattern has matched.
    Match,
    /// Nothing matches.
    Fail,
    /// A text, character for character.
    Literal {
        text: Box<str>,
        before: bool,
    },
    /// One character of a class.
    Class {
        class: usize,
        before: bool,
    },
    /// Characters of a class, as many as there may be.
    Run(Run),
    /// `^` and `$` without `m`.
    Start,
    End,
    /// `^` and `$` with `m`.
    LineStart,
    LineEnd,
    WordBoundary {
        negated: bool,
    },
    /// Goes on at `first`, and if that fails at `second`.
    Split {
        first: At,
        second: At,
        filter: Filter,
    },
    Jump(At),
    /// Keeps the place in a slot.
    Save(usize),
    /// Forgets the slots of groups.
    Forget(Range<usize>),
    /// Enters a loop: no iteration is done.
    Enter {
        counter: usize,
    },
    /// Decides whether another iteration follows, which is at the next operation.
    Loop(Loop),
    /// Begins an iteration.
    Iterate {
        counter: usize,
        groups: Range<usize>,
    },
    /// Ends an iteration; one that was not required must not be empty.
    Again {
        counter: usize,
        min: u32,
        to: At,
    },
    /// Begins a lookaround whose body follows, and which goes on at `after`.
    Look {
        look: usize,
        negated: bool,
        after: At,
    },
    /// The body of a lookaround has matched.
    Seen {
        look: usize,
        negated: bool,
    },
    /// What a group has matched, again.
    Group {
        number: usize,
        before: bool,
    },
}

/// A loop that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// The slot that tells how many iterations were begun.
    pub(super) counter: usize,
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) greedy: bool,
    /// The operation behind the loop.
    pub(super) exit: At,
}

/// Characters of a class, as many as there may be.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) class: usize,
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) greedy: bool,
    pub(super) before: bool,
    /// With which bytes what follows can begin.
    pub(super) filter: Filter,
}

/// The bytes with which something can begin; none if that is not known.
pub(super) type Filter = Option<Box<ByteSet>>;

/// Slots of a loop: how many iterations were begun, and where the last one began.
pub(super) const SLOTS_OF_LOOP: usize = 2;
