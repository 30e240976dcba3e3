//! Parser for JavaScript patterns: ECMA-262 §22.2.1 with Annex B.1.2.

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
use crate::{Error, Flags, Limits, fold, surrogates};

/// Opening after `(?`, `behind`, and `negated`.
const LOOKS: [(&str, bool, bool); 4] =
    [("=", false, false), ("!", false, true), ("<=", true, false), ("<!", true, true)];

const COMPILED_BYTES_PER_STEP: usize = 16;

/// Linear, except for classes, which `limits.compiled_bytes` limits.
pub(crate) fn parse(pattern: &str, flags: Flags, limits: &Limits) -> Result<Pattern, Error> {
    let mut parser = Parser {
        cursor: Cursor::new(pattern),
        flags,
        limits,
        depth: 0,
        survey: Survey::read(pattern, flags),
        groups: Groups::default(),
        references: Vec::new(),
        steps: limits.compiled_bytes / COMPILED_BYTES_PER_STEP,
    };
    let root = parser.alternatives()?;
    if parser.cursor.peek().is_some() {
        return Err(Error::syntax(parser.cursor.offset(), "unmatched `)`"));
    }
    let references = parser.resolve_references()?;
    Ok(Pattern { root, groups: parser.groups, references })
}

struct Parser<'p> {
    cursor: Cursor<'p>,
    flags: Flags,
    limits: &'p Limits,
    depth: usize,
    survey: Survey,
    groups: Groups,
    references: Vec<Reference>,
    steps: usize,
}

enum Reference {
    Number(usize),
    /// Name and offset. The group may follow.
    Name(String, usize),
}

enum GroupKind {
    Plain,
    Capture { number: usize },
    Look { behind: bool, negated: bool },
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

    /// Without `u`, a high and a low surrogate form one character.
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
        let first_group = self.groups.count() + 1;
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
            atom => self.parse_quantified(atom, first_group),
        }
    }

    fn dot(&self) -> CodeSet {
        if self.flags.contains(Flags::DOT_ALL) {
            return CodeSet::all();
        }
        let terminators = [0x0A, 0x0D, 0x2028, 0x2029];
        CodeSet::new(terminators.map(|code| (code, code)).to_vec()).complement()
    }

    fn group(&mut self, offset: usize) -> Result<Node, Error> {
        self.enter(offset)?;
        let kind = self.group_kind(offset)?;
        let body = Box::new(self.alternatives()?);
        if !self.cursor.eat(")") {
            return Err(Error::syntax(offset, "unterminated group"));
        }
        self.leave();
        Ok(match kind {
            GroupKind::Plain => Node::Group(body),
            GroupKind::Capture { number } => Node::Capture { number, body },
            GroupKind::Look { behind, negated } => Node::Look { body, behind, negated },
        })
    }

    fn group_kind(&mut self, offset: usize) -> Result<GroupKind, Error> {
        if !self.cursor.eat("?") {
            self.groups.push(None);
            return Ok(GroupKind::Capture { number: self.groups.count() });
        }
        if self.cursor.eat(":") {
            return Ok(GroupKind::Plain);
        }
        for (opening, behind, negated) in LOOKS {
            if self.cursor.eat(opening) {
                return Ok(GroupKind::Look { behind, negated });
            }
        }
        if !self.cursor.starts_with("<") {
            return Err(Error::syntax(offset, "invalid group"));
        }
        let name = self.group_name().ok_or(Error::syntax(offset, "invalid name of a group"))?;
        if !self.groups.push(Some(name)) {
            return Err(Error::syntax(offset, "duplicate name of a group"));
        }
        Ok(GroupKind::Capture { number: self.groups.count() })
    }

    fn code(&mut self, code: u32) -> Result<Node, Error> {
        let set = self.fold(CodeSet::one(code))?;
        Ok(match set.single().and_then(char::from_u32) {
            Some(c) => Node::Char(c),
            None => Node::Set(set),
        })
    }

    fn fold(&mut self, set: CodeSet) -> Result<CodeSet, Error> {
        self.spend(set.ranges().len())?;
        if !self.flags.contains(Flags::IGNORE_CASE) {
            return Ok(set);
        }
        let cased = fold::cased_part(&set, self.flags.strict());
        self.spend(cased.len())?;
        Ok(fold::close(&set, &cased, self.flags.strict()))
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

    fn spend(&mut self, steps: usize) -> Result<(), Error> {
        let left = self.steps.checked_sub(steps);
        self.steps = left.ok_or(Error::TooComplex { limit: self.limits.compiled_bytes })?;
        Ok(())
    }

    fn resolve_references(&mut self) -> Result<Vec<usize>, Error> {
        let references = std::mem::take(&mut self.references);
        let groups = references.iter().map(|reference| match reference {
            Reference::Number(number) => Ok(*number),
            Reference::Name(name, offset) => {
                self.groups.number(name).ok_or(Error::syntax(*offset, "reference to an unknown group"))
            }
        });
        groups.collect()
    }
}
