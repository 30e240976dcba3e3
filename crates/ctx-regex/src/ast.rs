//! A parsed pattern, before an engine is chosen.

use std::collections::BTreeMap;

use crate::code_set::CodeSet;

/// A pattern that is valid JavaScript.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) root: Node,
    pub(crate) groups: Groups,
}

/// The capture groups of a pattern.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    count: usize,
    /// The numbers of the groups that have a name.
    named: BTreeMap<Box<str>, usize>,
}

impl Groups {
    /// Enters the next group; `false` if its name is taken.
    pub(crate) fn push(&mut self, name: Option<String>) -> bool {
        self.count += 1;
        let Some(name) = name else { return true };
        self.named.insert(name.into(), self.count).is_none()
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether any group has a name, which changes what `\k` and `$<` mean.
    pub(crate) fn are_named(&self) -> bool {
        !self.named.is_empty()
    }

    /// The number of the group called `name`, from 1.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.named.get(name).copied()
    }
}

/// A piece of a pattern. Case folding, surrogates and escapes are already resolved.
#[derive(Debug)]
pub(crate) enum Node {
    /// One certain character.
    Char(char),
    /// One character of a set.
    Set(CodeSet),
    /// `^`
    Start,
    /// `$`
    End,
    /// `\b`, or `\B` if negated.
    WordBoundary { negated: bool },
    /// `(?:…)`
    Group(Box<Node>),
    /// `(…)` and `(?<name>…)`; numbers follow the order of the pattern.
    Capture(Box<Node>),
    /// A lookahead or a lookbehind, negated or not.
    Look { offset: usize, behind: bool },
    /// `\1`, `\k<name>`
    Backreference { offset: usize },
    /// A quantified piece; no `max` means any number.
    Repeat { node: Box<Node>, min: u32, max: Option<u32>, greedy: bool },
    /// Pieces one after another; none match the empty text.
    Sequence(Vec<Node>),
    /// Alternatives, the earlier preferred.
    Alternatives(Vec<Node>),
}
