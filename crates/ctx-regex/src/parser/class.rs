//! Classes without the flag `v`.

use super::Parser;
use super::escape::{CodeOrSet, EscapeContext};
use crate::ast::Node;
use crate::code_set::CodeSet;
use crate::surrogates::SurrogateSets;
use crate::{Error, Flags};

impl Parser<'_> {
    pub(super) fn class(&mut self, offset: usize) -> Result<Node, Error> {
        if self.flags.contains(Flags::UNICODE_SETS) {
            return Ok(Node::Set(self.set_class(offset)?));
        }
        let negated = self.cursor.eat("^");
        let mut ranges = Vec::new();
        while !self.cursor.eat("]") {
            self.class_item(offset, &mut ranges)?;
        }
        let set = self.fold(CodeSet::new(ranges))?;
        let set = if self.flags.strict() { set } else { self.with_astral(&set, negated)? };
        Ok(Node::Set(if negated { set.complement() } else { set }))
    }

    fn class_item(&mut self, class: usize, ranges: &mut Vec<(u32, u32)>) -> Result<(), Error> {
        let offset = self.cursor.offset();
        let first = self.class_atom(class)?;
        if !self.cursor.starts_with("-") || self.cursor.starts_with("-]") {
            return self.add(first, ranges);
        }
        self.cursor.bump();
        let last = self.class_atom(class)?;
        match (first, last) {
            (CodeOrSet::Code(first), CodeOrSet::Code(last)) if first <= last => ranges.push((first, last)),
            (CodeOrSet::Code(_), CodeOrSet::Code(_)) => {
                return Err(Error::syntax(offset, "range out of order in a class"));
            }
            _ if self.flags.strict() => return Err(Error::syntax(offset, "invalid range in a class")),
            (first, last) => {
                self.add(first, ranges)?;
                self.add(last, ranges)?;
                ranges.push((u32::from('-'), u32::from('-')));
            }
        }
        Ok(())
    }

    fn class_atom(&mut self, class: usize) -> Result<CodeOrSet, Error> {
        let offset = self.cursor.offset();
        match self.cursor.bump() {
            None => Err(Error::syntax(class, "unterminated class")),
            Some('\\') => self.class_escape(offset),
            Some(c) => Ok(CodeOrSet::Code(u32::from(c))),
        }
    }

    pub(super) fn class_escape(&mut self, offset: usize) -> Result<CodeOrSet, Error> {
        if self.cursor.eat("b") {
            return Ok(CodeOrSet::Code(0x08));
        }
        self.escape(offset, EscapeContext::Class)
    }

    fn add(&mut self, item: CodeOrSet, ranges: &mut Vec<(u32, u32)>) -> Result<(), Error> {
        match item {
            CodeOrSet::Code(code) => ranges.push((code, code)),
            CodeOrSet::Set(set) => {
                self.spend(set.ranges().len())?;
                ranges.extend(set.ranges());
            }
        }
        Ok(())
    }

    /// Adds characters formed by surrogates.
    fn with_astral(&mut self, set: &CodeSet, negated: bool) -> Result<CodeSet, Error> {
        let surrogates = SurrogateSets::from_set(set);
        if negated {
            self.spend(surrogates.cost_of_either())?;
            return Ok(set.union(&surrogates.either()));
        }
        self.spend(surrogates.cost_of_both())?;
        Ok(set.union(&surrogates.both()))
    }
}
