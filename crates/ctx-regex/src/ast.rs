//! A parsed pattern, before an engine is chosen.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::code_set::CodeSet;

/// A pattern that is valid JavaScript.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) root: Node,
    pub(crate) groups: Groups,
    /// The numbers of the groups that the backreferences mean, by their indexes.
    pub(crate) references: Vec<usize>,
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
    /// `(…)` and `(?<name>…)`; numbers follow the order of the pattern, from 1.
    Capture { number: usize, body: Box<Node> },
    /// `(?=…)`, `(?!…)`, and with `behind` `(?<=…)`, `(?<!…)`.
    Look { body: Box<Node>, behind: bool, negated: bool },
    /// `\1`, `\k<name>`: an index into [`Pattern::references`].
    Backreference(usize),
    /// A quantified piece.
    Repeat(Repeat),
    /// Pieces one after another; none match the empty text.
    Sequence(Vec<Node>),
    /// Alternatives, the earlier preferred.
    Alternatives(Vec<Node>),
}

/// A piece with `*`, `+`, `?` or `{…}`.
#[derive(Debug)]
pub(crate) struct Repeat {
    pub(crate) body: Box<Node>,
    pub(crate) min: u32,
    /// None means any number.
    pub(crate) max: Option<u32>,
    pub(crate) greedy: bool,
    /// The numbers of the groups in the body.
    pub(crate) groups: Range<usize>,
}

/// What a node may match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    /// Whether it may match the empty text.
    pub(crate) empty: bool,
    /// Whether it may match anything else.
    pub(crate) some: bool,
}

impl Node {
    /// What the node may match; what it refers back to may be anything. O(n).
    ///
    /// Recursion is as deep as groups nest, which the parser has limited.
    pub(crate) fn width(&self) -> Width {
        match self {
            Self::Char(_) | Self::Set(_) => Width { empty: false, some: true },
            Self::Start | Self::End | Self::WordBoundary { .. } | Self::Look { .. } => {
                Width { empty: true, some: false }
            }
            Self::Backreference(_) => Width { empty: true, some: true },
            Self::Group(body) | Self::Capture { body, .. } => body.width(),
            Self::Repeat(repeat) => {
                let once = repeat.body.width();
                let Repeat { min, max, .. } = *repeat;
                Width { empty: min == 0 || once.empty, some: max != Some(0) && once.some }
            }
            Self::Sequence(nodes) => {
                let widths = nodes.iter().map(Self::width);
                widths.fold(Width { empty: true, some: false }, |a, b| Width {
                    empty: a.empty && b.empty,
                    some: a.some || b.some,
                })
            }
            Self::Alternatives(nodes) => {
                let widths = nodes.iter().map(Self::width);
                widths.fold(Width { empty: false, some: false }, |a, b| Width {
                    empty: a.empty || b.empty,
                    some: a.some || b.some,
                })
            }
        }
    }
}
