//! Writes a parsed pattern in the syntax of the `regex` crate.
//!
//! Every class is written as its ranges and every group without its name, so nothing depends on how
//! that crate reads flags, escapes or names.

use std::fmt::Write as _;

use crate::ast::Node;
use crate::code_set::CodeSet;
use crate::{Error, Flags, Limits};

/// `^` with `m`: after the line terminator of the engine, and after `\n` or a lone `\r`.
const LINE_START: &str = r"(?:(?m:^)|(?mR:^))";
/// `$` with `m`, likewise.
const LINE_END: &str = r"(?:(?m:$)|(?mR:$))";
/// A class without members.
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// A pattern for an engine whose time is linear in the text.
#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) pattern: String,
    /// What the engine has to take for the terminator of a line.
    ///
    /// `LINE_START` and `LINE_END` together with it cover every `\n` and `\r`, except that one of
    /// the two assertions misses the place between `\r` and `\n`: `^` with `\n`, `$` with `\r`.
    pub(crate) line_terminator: u8,
}

/// Writes `root`, or refuses what a linear engine cannot do.
pub(crate) fn linear(root: &Node, flags: Flags, limits: &Limits) -> Result<Linear, Error> {
    let mut writer = Writer {
        out: String::new(),
        lines: flags.contains(Flags::MULTILINE),
        limit: limits.compiled_bytes,
        ends_lines: false,
        starts_lines: false,
    };
    writer.node(root)?;
    let only_starts = writer.starts_lines && !writer.ends_lines;
    let line_terminator = if only_starts { b'\r' } else { b'\n' };
    Ok(Linear { pattern: writer.out, line_terminator })
}

struct Writer {
    out: String,
    /// Whether `^` and `$` match at lines.
    lines: bool,
    /// Most bytes to write.
    limit: usize,
    starts_lines: bool,
    ends_lines: bool,
}

impl Writer {
    /// Recursion is as deep as groups nest, which the parser has limited.
    fn node(&mut self, node: &Node) -> Result<(), Error> {
        match node {
            Node::Char(c) => self.char(*c),
            Node::Set(set) => self.set(set),
            Node::Start => self.start(),
            Node::End => self.end(),
            Node::WordBoundary { negated: false } => self.out.push_str(r"(?-u:\b)"),
            Node::WordBoundary { negated: true } => self.out.push_str(r"(?-u:\B)"),
            Node::Group(body) => self.enclosed("(?:", body)?,
            Node::Capture(body) => self.enclosed("(", body)?,
            Node::Look { offset, .. } => return Err(Error::UnsupportedLookaround { offset: *offset }),
            Node::Backreference { offset } => {
                return Err(Error::UnsupportedBackreference { offset: *offset });
            }
            Node::Repeat { node, min, max, greedy } => {
                self.node(node)?;
                self.quantifier(*min, *max);
                self.out.push_str(if *greedy { "" } else { "?" });
            }
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.node(node))?,
            Node::Alternatives(nodes) => self.alternatives(nodes)?,
        }
        if self.out.len() > self.limit { Err(Error::TooComplex { limit: self.limit }) } else { Ok(()) }
    }

    fn char(&mut self, c: char) {
        if regex_syntax::is_meta_character(c) {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    fn set(&mut self, set: &CodeSet) {
        let before = self.out.len();
        self.out.push('[');
        for (first, last) in set.char_ranges() {
            // Writing to a string cannot fail.
            let _ = write!(self.out, r"\x{{{:X}}}-\x{{{:X}}}", u32::from(first), u32::from(last));
        }
        if self.out.len() == before + 1 {
            self.out.truncate(before);
            self.out.push_str(NOTHING);
            return;
        }
        self.out.push(']');
    }

    fn start(&mut self) {
        self.starts_lines |= self.lines;
        self.out.push_str(if self.lines { LINE_START } else { r"\A" });
    }

    fn end(&mut self) {
        self.ends_lines |= self.lines;
        self.out.push_str(if self.lines { LINE_END } else { r"\z" });
    }

    fn enclosed(&mut self, opening: &str, body: &Node) -> Result<(), Error> {
        self.out.push_str(opening);
        self.node(body)?;
        self.out.push(')');
        Ok(())
    }

    fn quantifier(&mut self, min: u32, max: Option<u32>) {
        let written = match (min, max) {
            (0, None) => "*",
            (1, None) => "+",
            (0, Some(1)) => "?",
            (min, None) => &format!("{{{min},}}"),
            (min, Some(max)) => &format!("{{{min},{max}}}"),
        };
        self.out.push_str(written);
    }

    fn alternatives(&mut self, nodes: &[Node]) -> Result<(), Error> {
        for (index, node) in nodes.iter().enumerate() {
            self.out.push_str(if index == 0 { "" } else { "|" });
            self.node(node)?;
        }
        Ok(())
    }
}
