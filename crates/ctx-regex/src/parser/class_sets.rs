//! Classes with the flag `v`.

use super::Parser;
use super::escape::CodeOrSet;
use crate::Error;
use crate::code_set::CodeSet;

/// Must be escaped.
const SYNTAX: &str = "()[]{}/-|";
/// Reserved if doubled.
const DOUBLED: &str = "&!#$%*+,.:;<=>?@^`~";

impl Parser<'_> {
    pub(super) fn set_class(&mut self, offset: usize) -> Result<CodeSet, Error> {
        self.enter(offset)?;
        let negated = self.cursor.eat("^");
        let set = self.set_contents(offset)?;
        self.leave();
        self.spend(set.ranges().len())?;
        Ok(if negated { set.complement() } else { set })
    }

    fn set_contents(&mut self, class: usize) -> Result<CodeSet, Error> {
        if self.cursor.eat("]") {
            return Ok(CodeSet::default());
        }
        let offset = self.cursor.offset();
        let first = self.set_operand(class)?;
        if self.cursor.starts_with("&&") {
            let set = self.set_of(first)?;
            return self.set_operation(class, "&&", set, CodeSet::intersect);
        }
        if self.cursor.starts_with("--") {
            let set = self.set_of(first)?;
            return self.set_operation(class, "--", set, CodeSet::difference);
        }
        let mut ranges = self.set_item(class, offset, first)?.ranges().to_vec();
        while !self.cursor.eat("]") {
            let offset = self.cursor.offset();
            let operand = self.set_operand(class)?;
            ranges.extend(self.set_item(class, offset, operand)?.ranges());
        }
        Ok(CodeSet::new(ranges))
    }

    fn set_operation(
        &mut self,
        class: usize,
        operator: &str,
        first: CodeSet,
        apply: fn(&CodeSet, &CodeSet) -> CodeSet,
    ) -> Result<CodeSet, Error> {
        let mut set = first;
        while !self.cursor.eat("]") {
            let offset = self.cursor.offset();
            if !self.cursor.eat(operator) || operator == "&&" && self.cursor.starts_with("&") {
                return Err(Error::syntax(offset, "mixed operators in a class"));
            }
            let operand = self.set_operand(class)?;
            let operand = self.set_of(operand)?;
            self.spend(set.ranges().len())?;
            set = apply(&set, &operand);
        }
        Ok(set)
    }

    fn set_item(&mut self, class: usize, offset: usize, first: CodeOrSet) -> Result<CodeSet, Error> {
        if !self.cursor.starts_with("-") || self.cursor.starts_with("--") {
            return self.set_of(first);
        }
        self.cursor.bump();
        match (first, self.set_operand(class)?) {
            (CodeOrSet::Code(first), CodeOrSet::Code(last)) if first <= last => {
                self.fold(CodeSet::new(vec![(first, last)]))
            }
            (CodeOrSet::Code(_), CodeOrSet::Code(_)) => {
                Err(Error::syntax(offset, "range out of order in a class"))
            }
            _ => Err(Error::syntax(offset, "invalid range in a class")),
        }
    }

    fn set_of(&mut self, operand: CodeOrSet) -> Result<CodeSet, Error> {
        match operand {
            CodeOrSet::Code(code) => self.fold(CodeSet::one(code)),
            CodeOrSet::Set(set) => self.fold(set),
        }
    }

    fn set_operand(&mut self, class: usize) -> Result<CodeOrSet, Error> {
        let offset = self.cursor.offset();
        let Some(c) = self.cursor.bump() else {
            return Err(Error::syntax(class, "unterminated class"));
        };
        match c {
            '[' => Ok(CodeOrSet::Set(self.set_class(offset)?)),
            '\\' if self.cursor.starts_with("q{") => {
                Err(Error::Unsupported { offset, feature: r"class string `\q{}`" })
            }
            '\\' => self.class_escape(offset),
            c if SYNTAX.contains(c) => Err(Error::syntax(offset, "character to be escaped in a class")),
            c if DOUBLED.contains(c) && self.cursor.peek() == Some(c) => {
                Err(Error::syntax(offset, "reserved operator in a class"))
            }
            c => Ok(CodeOrSet::Code(u32::from(c))),
        }
    }
}
