//! Writes a pattern for the `regex` crate.
//!
//! Writes classes as ranges and omits group names, to be independent of that crate's flags, escapes, and
//! names.
//!
//! Some loops are not supported. JavaScript rejects an optional iteration that matches nothing: `(a*)?` on
//! `b` leaves the group unset, and `(?:a??)*` on `aa` matches both letters. The `regex` crate accepts such an
//! iteration and ends the loop.

use std::fmt::Write as _;

use crate::Flags;
use crate::ast::{Node, Repeat};
use crate::code_set::CodeSet;

const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

#[derive(Debug)]
pub(super) struct LinearPattern {
    pub(super) pattern: String,
    /// For lines, the engine supports only `\n`.
    pub(super) has_lines: bool,
    pub(super) has_exact_groups: bool,
}

/// `None` if unsupported or longer than `limit` bytes.
pub(super) fn write(root: &Node, flags: Flags, limit: usize) -> Option<LinearPattern> {
    let mut writer = Writer {
        written: LinearPattern { pattern: String::new(), has_lines: false, has_exact_groups: true },
        lines: flags.contains(Flags::MULTILINE),
        wide_words: flags.strict() && flags.contains(Flags::IGNORE_CASE),
        limit,
    };
    writer.node(root).ok()?;
    Some(writer.written)
}

struct UnsupportedSyntax;

struct Writer {
    written: LinearPattern,
    lines: bool,
    /// `\b` includes non-ASCII characters, which is not supported.
    wide_words: bool,
    limit: usize,
}

impl Writer {
    /// The parser limits the recursion depth.
    fn node(&mut self, node: &Node) -> Result<(), UnsupportedSyntax> {
        match node {
            Node::Char(c) => self.char(*c),
            Node::Set(set) => self.set(set),
            Node::Start => self.edge(r"\A", "(?m:^)"),
            Node::End => self.edge(r"\z", "(?m:$)"),
            Node::WordBoundary { negated } => self.word_boundary(*negated)?,
            Node::Group(body) => self.write_enclosed("(?:", body)?,
            Node::Capture { body, .. } => self.write_enclosed("(", body)?,
            Node::Look { .. } | Node::Backreference(_) => return Err(UnsupportedSyntax),
            Node::Repeat(repeat) => self.repeat(repeat)?,
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.node(node))?,
            Node::Alternatives(nodes) => self.alternatives(nodes)?,
        }
        self.check_length()
    }

    /// A body that may be empty is supported only if every iteration is required.
    fn repeat(&mut self, repeat: &Repeat) -> Result<(), UnsupportedSyntax> {
        let Repeat { body, min, max, greedy, .. } = repeat;
        if *max != Some(*min) && body.width().empty {
            return Err(UnsupportedSyntax);
        }
        // JavaScript unsets groups at each iteration.
        let is_repeated = max.is_none_or(|max| max > 1);
        self.written.has_exact_groups &= !(is_repeated && has_optional_groups(body, false));
        self.node(body)?;
        self.quantifier(*min, *max, *greedy);
        Ok(())
    }

    fn write_enclosed(&mut self, opening: &str, body: &Node) -> Result<(), UnsupportedSyntax> {
        self.out().push_str(opening);
        self.node(body)?;
        self.out().push(')');
        Ok(())
    }

    fn alternatives(&mut self, nodes: &[Node]) -> Result<(), UnsupportedSyntax> {
        for (index, node) in nodes.iter().enumerate() {
            self.out().push_str(if index == 0 { "" } else { "|" });
            self.node(node)?;
        }
        Ok(())
    }

    fn char(&mut self, c: char) {
        if regex_syntax::is_meta_character(c) {
            self.out().push('\\');
        }
        self.out().push(c);
    }

    fn set(&mut self, set: &CodeSet) {
        let out = self.out();
        let before = out.len();
        out.push('[');
        for (first, last) in set.char_ranges() {
            // Writing to a string cannot fail.
            let _ = write!(out, r"\x{{{:X}}}-\x{{{:X}}}", u32::from(first), u32::from(last));
        }
        if out.len() == before + 1 {
            out.truncate(before);
            out.push_str(NOTHING);
            return;
        }
        out.push(']');
    }

    fn edge(&mut self, of_text: &str, of_line: &str) {
        self.written.has_lines |= self.lines;
        let edge = if self.lines { of_line } else { of_text };
        self.out().push_str(edge);
    }

    fn word_boundary(&mut self, negated: bool) -> Result<(), UnsupportedSyntax> {
        self.out().push_str(if negated { r"(?-u:\B)" } else { r"(?-u:\b)" });
        if self.wide_words { Err(UnsupportedSyntax) } else { Ok(()) }
    }

    fn quantifier(&mut self, min: u32, max: Option<u32>, greedy: bool) {
        let written = match (min, max) {
            (0, None) => "*",
            (1, None) => "+",
            (0, Some(1)) => "?",
            (min, None) => &format!("{{{min},}}"),
            (min, Some(max)) => &format!("{{{min},{max}}}"),
        };
        self.out().push_str(written);
        self.out().push_str(if greedy { "" } else { "?" });
    }

    fn out(&mut self) -> &mut String {
        &mut self.written.pattern
    }

    fn check_length(&self) -> Result<(), UnsupportedSyntax> {
        if self.written.pattern.len() > self.limit { Err(UnsupportedSyntax) } else { Ok(()) }
    }
}

/// Whether a group may remain unset when `node` matches.
fn has_optional_groups(node: &Node, optional: bool) -> bool {
    match node {
        Node::Capture { body, .. } => optional || has_optional_groups(body, false),
        Node::Group(body) | Node::Look { body, .. } => has_optional_groups(body, optional),
        Node::Repeat(repeat) => has_optional_groups(&repeat.body, optional || repeat.min == 0),
        Node::Sequence(nodes) => nodes.iter().any(|node| has_optional_groups(node, optional)),
        Node::Alternatives(nodes) => nodes.iter().any(|node| has_optional_groups(node, true)),
        _ => false,
    }
}
