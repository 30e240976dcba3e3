//! The grammar of JavaScript patterns, ECMA-262 §22.2.1 with Annex B.1.2.

mod class;
mod class_sets;
mod escape;
mod name;
mod quantifier;
mod survey;

use self::survey::Survey;
use crate::ast::{Groups, Node, Pattern};
use crate::code_set::CodeSet;
use crate::cursor::Cursor;
use crate::fold::Folder;
use crate::surrogates;
use crate::{Error, Flags, Limits};

/// Bytes of compiled program that one step of work on classes stands for.
const BYTES_PER_STEP: usize = 16;

/// Reads a pattern. O(n) but for classes, whose cost is bounded by `limits.compiled_bytes`.
pub(crate) fn parse(pattern: &str, flags: Flags, limits: &Limits) -> Result<Pattern, Error> {
    let mut parser = Parser {
        cursor: Cursor::new(pattern),
        flags,
        limits,
        depth: 0,
        survey: Survey::of(pattern, flags),
        groups: Groups::default(),
        references: Vec::new(),
        folder: Folder::new(flags.strict()),
        steps: limits.compiled_bytes / BYTES_PER_STEP,
    };
    let root = parser.alternatives()?;
    if parser.cursor.peek().is_some() {
        return Err(Error::syntax(parser.cursor.offset(), "unmatched `)`"));
    }
    parser.check_references()?;
    Ok(Pattern { root, groups: parser.groups })
}

/// A pattern that is being read.
struct Parser<'p> {
    cursor: Cursor<'p>,
    flags: Flags,
    limits: &'p Limits,
    /// How many groups and nested classes are open.
    depth: usize,
    survey: Survey,
    /// Groups opened so far.
    groups: Groups,
    /// Names that were referred to, with the offset of the reference.
    references: Vec<(String, usize)>,
    folder: Folder,
    /// How much work on classes is still allowed.
    steps: usize,
}

/// What an opening parenthesis begins.
enum GroupKind {
    Plain,
    Capture,
    Ahead,
    Behind,
}

impl Parser<'_> {
    fn alternatives(&mut self) -> Result<Node, Error> {
        let first = self.sequence()?;
        if !self.cursor.starts_with("|") {
            return Ok(first);
        }
        let mut alternatives = vec![first];
        while self.cursor.eat("|") {
            alternatives.push(self.sequence()?);
        }
        Ok(Node::Alternatives(alternatives))
    }

    fn sequence(&mut self) -> Result<Node, Error> {
        let mut nodes: Vec<Node> = Vec::new();
        while self.cursor.peek().is_some_and(|c| c != '|' && c != ')') {
            let term = self.term()?;
            nodes.push(term);
            self.join_surrogates(&mut nodes)?;
        }
        Ok(Node::Sequence(nodes))
    }

    /// Without `u`, a high surrogate and the low one after it are one character.
    fn join_surrogates(&mut self, nodes: &mut Vec<Node>) -> Result<(), Error> {
        let [.., first, second] = nodes.as_slice() else { return Ok(()) };
        let Some(halves) = surrogates::join(first, second).filter(|_| !self.flags.strict()) else {
            return Ok(());
        };
        self.spend(halves.cost_of_both())?;
        nodes.truncate(nodes.len() - 2);
        nodes.push(Node::Set(halves.both()));
        Ok(())
    }

    fn term(&mut self) -> Result<Node, Error> {
        let offset = self.cursor.offset();
        let before = self.cursor;
        let Some(c) = self.cursor.bump() else { return Ok(Node::Sequence(Vec::new())) };
        let atom = match c {
            '^' => return Ok(Node::Start),
            '$' => return Ok(Node::End),
            '(' => self.group(offset)?,
            '[' => self.class(offset)?,
            '\\' => self.atom_escape(offset)?,
            '.' => Node::Set(self.dot()),
            '*' | '+' | '?' => return Err(Error::syntax(offset, "nothing to repeat")),
            '{' if quantifier::braces(before).is_some() => {
                return Err(Error::syntax(offset, "nothing to repeat"));
            }
            '{' | '}' | ']' if self.flags.strict() => return Err(Error::syntax(offset, "lone bracket")),
            c => self.code(u32::from(c))?,
        };
        match atom {
            Node::WordBoundary { .. } | Node::Look { behind: true, .. } => Ok(atom),
            Node::Look { .. } if self.flags.strict() => Ok(atom),
            atom => self.quantified(atom),
        }
    }

    /// What `.` matches.
    fn dot(&self) -> CodeSet {
        if self.flags.contains(Flags::DOT_ALL) {
            return CodeSet::all();
        }
        let terminators = [0x0A, 0x0D, 0x2028, 0x2029];
        CodeSet::new(terminators.map(|code| (code, code)).to_vec()).complement()
    }

    /// Reads a group whose parenthesis, at `offset`, is already read.
    fn group(&mut self, offset: usize) -> Result<Node, Error> {
        self.enter(offset)?;
        let kind = self.group_kind(offset)?;
        let body = self.alternatives()?;
        if !self.cursor.eat(")") {
            return Err(Error::syntax(offset, "unterminated group"));
        }
        self.leave();
        Ok(match kind {
            GroupKind::Plain => Node::Group(Box::new(body)),
            GroupKind::Capture => Node::Capture(Box::new(body)),
            GroupKind::Ahead => Node::Look { offset, behind: false },
            GroupKind::Behind => Node::Look { offset, behind: true },
        })
    }

    /// Reads what follows the parenthesis and enters a capture group into the list.
    fn group_kind(&mut self, offset: usize) -> Result<GroupKind, Error> {
        if !self.cursor.eat("?") {
            self.groups.push(None);
            return Ok(GroupKind::Capture);
        }
        if self.cursor.eat(":") {
            return Ok(GroupKind::Plain);
        }
        if self.cursor.eat("=") || self.cursor.eat("!") {
            return Ok(GroupKind::Ahead);
        }
        if self.cursor.eat("<=") || self.cursor.eat("<!") {
            return Ok(GroupKind::Behind);
        }
        if !self.cursor.starts_with("<") {
            return Err(Error::syntax(offset, "invalid group"));
        }
        let name = self.group_name().ok_or(Error::syntax(offset, "invalid name of a group"))?;
        if !self.groups.push(Some(name)) {
            return Err(Error::syntax(offset, "duplicate name of a group"));
        }
        Ok(GroupKind::Capture)
    }

    /// One code point of the pattern, with all that equals it under the flags.
    fn code(&mut self, code: u32) -> Result<Node, Error> {
        let set = self.folded(CodeSet::one(code))?;
        Ok(match set.single().and_then(char::from_u32) {
            Some(c) => Node::Char(c),
            None => Node::Set(set),
        })
    }

    /// Closes a set under case folding, if the flags ask for it.
    fn folded(&mut self, set: CodeSet) -> Result<CodeSet, Error> {
        self.spend(set.ranges().len())?;
        if !self.flags.contains(Flags::IGNORE_CASE) {
            return Ok(set);
        }
        let cased = self.folder.cased_part(&set);
        self.spend(cased.len())?;
        Ok(self.folder.close(&set, &cased))
    }

    fn enter(&mut self, offset: usize) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > self.limits.nest {
            Err(Error::NestsTooDeep { offset, limit: self.limits.nest })
        } else {
            Ok(())
        }
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Takes `steps` off what classes may still cost.
    fn spend(&mut self, steps: usize) -> Result<(), Error> {
        let left = self.steps.checked_sub(steps);
        self.steps = left.ok_or(Error::TooComplex { limit: self.limits.compiled_bytes })?;
        Ok(())
    }

    fn check_references(&self) -> Result<(), Error> {
        let unknown = self.references.iter().find(|(name, _)| self.groups.number(name).is_none());
        match unknown {
            Some((_, offset)) => Err(Error::syntax(*offset, "reference to an unknown group")),
            None => Ok(()),
        }
    }
}
