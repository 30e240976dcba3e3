//! First bytes of a match or its remainder, to skip most of a text.

use memchr::memmem;

use super::class::{ByteSet, first_byte};
use super::program::{Loop, Op, OpIndex, Program};
use crate::Steps;

const MAX_OPERATIONS: usize = 200;

#[derive(Debug)]
pub(super) enum Candidates {
    Start,
    Text(Box<memmem::Finder<'static>>),
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    Bytes(ByteSet),
    All,
}

impl Candidates {
    pub(super) fn new(program: &Program) -> Self {
        let mut scan = FirstByteScan { program, seen: Vec::new() };
        if scan.begins_at_start(0) {
            return Self::Start;
        }
        if let Some(text) = literal_at(program, 0) {
            return Self::Text(Box::new(memmem::Finder::new(text.as_bytes()).into_owned()));
        }
        match first_bytes(program, 0) {
            None => Self::All,
            Some(set) => match *set.members().as_slice() {
                [a] => Self::One(a),
                [a, b] => Self::Two(a, b),
                [a, b, c] => Self::Three(a, b, c),
                _ => Self::Bytes(set),
            },
        }
    }

    /// `at` is a character boundary. O(n).
    pub(super) fn next(&self, text: &[u8], at: usize, steps: &mut Steps) -> Option<usize> {
        let rest = text.get(at..)?;
        let found = match self {
            Self::Start => return (at == 0).then_some(0),
            Self::All => return Some(at),
            Self::Text(finder) => finder.find(rest),
            Self::One(a) => memchr::memchr(*a, rest),
            Self::Two(a, b) => memchr::memchr2(*a, *b, rest),
            Self::Three(a, b, c) => memchr::memchr3(*a, *b, *c, rest),
            Self::Bytes(set) => rest.iter().position(|byte| set.contains(*byte)),
        };
        steps.touch(found.unwrap_or(rest.len()));
        found.map(|found| at + found)
    }

    pub(super) fn skipped_bytes(&self, text: &str, at: usize, next: Option<usize>) -> usize {
        match self {
            Self::Start | Self::All => 0,
            Self::Text(finder) => next.map_or(text.len(), |next| next + finder.needle().len()) - at,
            _ => next.unwrap_or(text.len()) - at,
        }
    }
}

/// O(n).
pub(super) fn set_filters(program: &mut Program) {
    for at in 0..program.ops.len() {
        let next = match &program.ops[at] {
            Op::Split { first, .. } => *first,
            Op::Run(run) if !run.before => at + 1,
            _ => continue,
        };
        let set = first_bytes(program, next).map(Box::new);
        match &mut program.ops[at] {
            Op::Split { filter, .. } => *filter = set,
            Op::Run(run) => run.filter = set,
            _ => {}
        }
    }
}

/// `None` if any byte is possible or the match may be empty.
fn first_bytes(program: &Program, at: OpIndex) -> Option<ByteSet> {
    FirstByteScan { program, seen: Vec::new() }.first_bytes(at)
}

fn literal_at(program: &Program, mut at: OpIndex) -> Option<&str> {
    loop {
        match program.ops.get(at)? {
            Op::Save(_) | Op::Forget(_) => at += 1,
            Op::Literal { text, before: false } if text.len() > 1 => return Some(text),
            _ => return None,
        }
    }
}

struct FirstByteScan<'p> {
    program: &'p Program,
    seen: Vec<OpIndex>,
}

impl FirstByteScan<'_> {
    fn is_new(&mut self, at: OpIndex) -> bool {
        let is_new = !self.seen.contains(&at);
        self.seen.push(at);
        is_new
    }

    /// Recurses at most [`MAX_OPERATIONS`] deep.
    fn first_bytes(&mut self, at: OpIndex) -> Option<ByteSet> {
        if !self.is_new(at) {
            return Some(ByteSet::default());
        }
        if self.seen.len() > MAX_OPERATIONS {
            return None;
        }
        let program = self.program;
        match program.ops.get(at)? {
            Op::Fail => Some(ByteSet::default()),
            Op::Literal { text, before: false } => {
                let mut set = ByteSet::default();
                set.insert(first_byte(text.chars().next()?));
                Some(set)
            }
            Op::Class { class, before: false } => Some(program.classes.get(*class)?.first_bytes()),
            Op::Run(run) if !run.before => {
                let set = program.classes.get(run.class)?.first_bytes();
                if run.min > 0 { Some(set) } else { Some(set.union(self.first_bytes(at + 1)?)) }
            }
            Op::Split { first, second, .. } => {
                Some(self.first_bytes(*first)?.union(self.first_bytes(*second)?))
            }
            Op::Jump(to) => self.first_bytes(*to),
            Op::Look { after, .. } => self.first_bytes(*after),
            Op::Loop(Loop { min, exit, .. }) => {
                let body = self.first_bytes(at + 1)?;
                if *min > 0 { Some(body) } else { Some(body.union(self.first_bytes(*exit)?)) }
            }
            Op::Again { to, .. } => match program.ops.get(*to)? {
                Op::Loop(Loop { exit, .. }) => {
                    let (exit, body) = (*exit, to + 1);
                    Some(self.first_bytes(exit)?.union(self.first_bytes(body)?))
                }
                _ => None,
            },
            Op::Start | Op::End | Op::LineStart | Op::LineEnd | Op::WordBoundary { .. } => {
                self.first_bytes(at + 1)
            }
            Op::Save(_) | Op::Forget(_) | Op::Enter { .. } | Op::Iterate { .. } => self.first_bytes(at + 1),
            Op::Match | Op::Seen { .. } | Op::Group { .. } => None,
            Op::Literal { .. } | Op::Class { .. } | Op::Run(_) => None,
        }
    }

    fn begins_at_start(&mut self, at: OpIndex) -> bool {
        if !self.is_new(at) || self.seen.len() > MAX_OPERATIONS {
            return false;
        }
        match self.program.ops.get(at) {
            Some(Op::Start) => true,
            Some(Op::Save(_) | Op::Forget(_)) => self.begins_at_start(at + 1),
            Some(Op::Split { first, second, .. }) => {
                self.begins_at_start(*first) && self.begins_at_start(*second)
            }
            _ => false,
        }
    }
}
