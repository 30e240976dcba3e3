use super::{Parser, Reference};
use crate::ast::Node;
use crate::code_set::{CodeSet, MAX};
use crate::cursor::Cursor;
use crate::surrogates;
use crate::{Error, Flags, property};

/// Escapable in the strict grammar.
const SYNTAX: &str = r"^$\.*+?()[]{}|/";
/// Also escapable with the flag `v`.
const SET_PUNCTUATION: &str = "&-!#%,:;<=>@`~";
/// White space and line terminators of ECMA-262.
const SPACE: [(u32, u32); 10] = [
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

/// Unsupported properties of strings.
const OF_STRINGS: [&str; 7] = [
    "Basic_Emoji",
    "Emoji_Keycap_Sequence",
    "RGI_Modifier_Sequence",
    "RGI_Flag_Sequence",
    "RGI_Emoji_Tag_Sequence",
    "RGI_Emoji_ZWJ_Sequence",
    "RGI_Emoji",
];

/// Before case folding.
pub(super) enum CodeOrSet {
    Code(u32),
    Set(CodeSet),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EscapeContext {
    Atom,
    Class,
}

impl<'p> Parser<'p> {
    pub(super) fn atom_escape(&mut self, offset: usize) -> Result<Node, Error> {
        if self.cursor.eat("b") {
            return Ok(Node::WordBoundary { negated: false });
        }
        if self.cursor.eat("B") {
            return Ok(Node::WordBoundary { negated: true });
        }
        if let Some(node) = self.backreference(offset)? {
            return Ok(node);
        }
        match self.escape(offset, EscapeContext::Atom)? {
            CodeOrSet::Code(code) => self.code(code),
            CodeOrSet::Set(set) => Ok(Node::Set(self.fold(set)?)),
        }
    }

    /// `\1` needs an existing group, `\k` any named group.
    fn backreference(&mut self, offset: usize) -> Result<Option<Node>, Error> {
        let mut after = self.cursor;
        if after.eat("k") && (self.flags.strict() || self.survey.named) {
            self.cursor = after;
            let name = self.group_name().ok_or(Error::syntax(offset, "invalid reference to a group"))?;
            return Ok(Some(self.reference(Reference::Name(name, offset))));
        }
        let mut after = self.cursor;
        let digits = after.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() || digits.starts_with('0') {
            return Ok(None);
        }
        let number = digits.parse().ok().filter(|number: &usize| *number <= self.survey.groups);
        if let Some(number) = number {
            self.cursor = after;
            return Ok(Some(self.reference(Reference::Number(number))));
        }
        if self.flags.strict() {
            Err(Error::syntax(offset, "reference to an unknown group"))
        } else {
            Ok(None)
        }
    }

    fn reference(&mut self, reference: Reference) -> Node {
        self.references.push(reference);
        Node::Backreference(self.references.len() - 1)
    }

    pub(super) fn escape(&mut self, offset: usize, place: EscapeContext) -> Result<CodeOrSet, Error> {
        let before = self.cursor;
        let Some(c) = self.cursor.bump() else {
            return Err(Error::syntax(offset, r"`\` at the end of the pattern"));
        };
        let code = match c {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => return Ok(CodeOrSet::Set(self.shorthand(c))),
            'p' | 'P' if self.flags.strict() => return self.property(offset, c == 'P'),
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'c' => return self.control(offset, before, place),
            'x' => self.hexadecimal(offset)?,
            'u' => self.unicode(offset)?,
            '0'..='7' => self.octal(offset, c)?,
            'k' if place == EscapeContext::Class && self.survey.named => {
                return Err(Error::syntax(offset, "invalid escape"));
            }
            c if !self.flags.strict() || self.may_escape(c, place) => u32::from(c),
            _ => return Err(Error::syntax(offset, "invalid escape")),
        };
        Ok(CodeOrSet::Code(code))
    }

    fn may_escape(&self, c: char, place: EscapeContext) -> bool {
        let in_set = self.flags.contains(Flags::UNICODE_SETS) && SET_PUNCTUATION.contains(c);
        SYNTAX.contains(c) || place == EscapeContext::Class && (c == '-' || in_set)
    }

    fn shorthand(&self, c: char) -> CodeSet {
        let set = match c.to_ascii_lowercase() {
            'd' => CodeSet::new(vec![(0x30, 0x39)]),
            's' => CodeSet::new(SPACE.to_vec()),
            _ => self.word(),
        };
        if c.is_ascii_uppercase() { set.complement() } else { set }
    }

    /// ASCII, plus with `iu` the 2 characters that fold to ASCII.
    fn word(&self) -> CodeSet {
        let mut ranges = vec![(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
        if self.flags.strict() && self.flags.contains(Flags::IGNORE_CASE) {
            ranges.extend([(0x17F, 0x17F), (0x212A, 0x212A)]);
        }
        CodeSet::new(ranges)
    }

    fn property(&mut self, offset: usize, negated: bool) -> Result<CodeOrSet, Error> {
        let named = self.cursor.eat("{").then(|| self.cursor.take_while(|c| c != '}'));
        let Some(name) = named.filter(|_| self.cursor.eat("}")) else {
            return Err(Error::syntax(offset, "invalid name of a property"));
        };
        if self.flags.contains(Flags::UNICODE_SETS) && OF_STRINGS.contains(&name) {
            return Err(Error::Unsupported { offset, feature: "property of strings" });
        }
        let set = property::lookup(name).ok_or(Error::syntax(offset, "unknown property"))?;
        self.spend(set.ranges().len())?;
        Ok(CodeOrSet::Set(match negated {
            false => set,
            // `v` folds before the complement, `u` after it.
            true if self.flags.contains(Flags::UNICODE_SETS) => self.fold(set)?.complement(),
            true => set.complement(),
        }))
    }

    /// Without a letter, Annex B makes the backslash literal.
    fn control(
        &mut self,
        offset: usize,
        before: Cursor<'p>,
        place: EscapeContext,
    ) -> Result<CodeOrSet, Error> {
        let strict = self.flags.strict();
        let more = |c: char| place == EscapeContext::Class && !strict && (c.is_ascii_digit() || c == '_');
        if let Some(c) = self.cursor.bump_if(|c| c.is_ascii_alphabetic() || more(c)) {
            return Ok(CodeOrSet::Code(u32::from(c) % 32));
        }
        if strict {
            return Err(Error::syntax(offset, "invalid escape"));
        }
        self.cursor = before;
        Ok(CodeOrSet::Code(u32::from('\\')))
    }

    fn hexadecimal(&mut self, offset: usize) -> Result<u32, Error> {
        match self.cursor.hex(2) {
            Some(code) => Ok(code),
            None if self.flags.strict() => Err(Error::syntax(offset, "invalid escape")),
            None => Ok(u32::from('x')),
        }
    }

    fn unicode(&mut self, offset: usize) -> Result<u32, Error> {
        if let Some(unit) = self.cursor.hex(4) {
            let low = if self.flags.strict() { self.read_escaped_low_of(unit) } else { None };
            return Ok(low.unwrap_or(unit));
        }
        if !self.flags.strict() {
            return Ok(u32::from('u'));
        }
        self.braced_code().ok_or(Error::syntax(offset, "invalid escape"))
    }

    fn read_escaped_low_of(&mut self, high: u32) -> Option<u32> {
        let before = self.cursor;
        let paired = self.read_escaped_low().and_then(|low| surrogates::pair(high, low));
        if paired.is_none() {
            self.cursor = before;
        }
        paired
    }

    pub(super) fn read_escaped_low(&mut self) -> Option<u32> {
        let before = self.cursor;
        let unit = self.cursor.eat(r"\u").then(|| self.cursor.hex(4)).flatten();
        if unit.is_none() {
            self.cursor = before;
        }
        unit
    }

    /// Reads `{H…}`.
    pub(super) fn braced_code(&mut self) -> Option<u32> {
        let before = self.cursor;
        let digits = self.cursor.eat("{").then(|| self.cursor.take_while(|c| c.is_ascii_hexdigit()));
        let significant = digits.map(|digits| digits.trim_start_matches('0'));
        let code = match (digits, significant) {
            (Some(zeros), Some("")) if !zeros.is_empty() => Some(0),
            (_, Some(digits)) => u32::from_str_radix(digits, 16).ok(),
            _ => None,
        };
        let code = code.filter(|code| *code <= MAX && self.cursor.eat("}"));
        if code.is_none() {
            self.cursor = before;
        }
        code
    }

    /// Without `u`, up to 3 octal digits, at most `\377`.
    fn octal(&mut self, offset: usize, first: char) -> Result<u32, Error> {
        let digit = |c: char| c.to_digit(8).unwrap_or(0);
        if self.flags.strict() {
            let more = self.cursor.peek().is_some_and(|c| c.is_ascii_digit());
            return if first == '0' && !more { Ok(0) } else { Err(Error::syntax(offset, "invalid escape")) };
        }
        let mut code = digit(first);
        let limit = if first <= '3' { 2 } else { 1 };
        for _ in 0..limit {
            let Some(next) = self.cursor.bump_if(|c| c.is_digit(8)) else { break };
            code = code * 8 + digit(next);
        }
        Ok(code)
    }
}
