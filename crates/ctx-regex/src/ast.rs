use std::collections::BTreeMap;
use std::ops::Range;

use crate::code_set::CodeSet;

#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) root: Node,
    pub(crate) groups: Groups,
    /// Group number of each backreference.
    pub(crate) references: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    count: usize,
    named: BTreeMap<Box<str>, usize>,
}

impl Groups {
    /// Returns `false` if the name is taken.
    pub(crate) fn push(&mut self, name: Option<String>) -> bool {
        self.count += 1;
        let Some(name) = name else { return true };
        self.named.insert(name.into(), self.count).is_none()
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn are_named(&self) -> bool {
        !self.named.is_empty()
    }

    /// From 1.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.named.get(name).copied()
    }
}

/// Case folding, surrogates, and escapes are resolved.
#[derive(Debug)]
pub(crate) enum Node {
    /// Literal.
    Char(char),
    /// Class.
    Set(CodeSet),
    /// `^`
    Start,
    /// `$`
    End,
    /// `\b`, `\B`
    WordBoundary { negated: bool },
    /// `(?:…)`
    Group(Box<Node>),
    /// `(…)`, `(?<name>…)`; numbered from 1.
    Capture { number: usize, body: Box<Node> },
    /// `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)`
    Look { body: Box<Node>, behind: bool, negated: bool },
    /// Index into [`Pattern::references`].
    Backreference(usize),
    /// Loop.
    Repeat(Repeat),
    /// Concatenation.
    Sequence(Vec<Node>),
    /// `a|b`
    Alternatives(Vec<Node>),
}

#[derive(Debug)]
pub(crate) struct Repeat {
    pub(crate) body: Box<Node>,
    pub(crate) min: u32,
    /// `None` is unlimited.
    pub(crate) max: Option<u32>,
    pub(crate) greedy: bool,
    pub(crate) groups: Range<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    pub(crate) empty: bool,
    pub(crate) some: bool,
}

impl Node {
    /// O(n). The parser limits the recursion depth.
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
