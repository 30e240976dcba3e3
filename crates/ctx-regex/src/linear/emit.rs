//! Writes a parsed pattern in the syntax of the `regex` crate, where that can mean the same.
//!
//! Every class is written as its ranges and every group without its name, so nothing depends on how
//! that crate reads flags, escapes or names.
//!
//! Some loops have no form here. JavaScript gives up an iteration that is not required and matches nothing: `(a*)?`
//! on `b` leaves the group unset, and `(?:a??)*` on `aa` takes both letters. The engine instead accepts such an
//! iteration and ends the loop.

use std::fmt::Write as _;

use crate::Flags;
use crate::ast::{Node, Repeat};
use crate::code_set::CodeSet;

/// A class without members.
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// A pattern for an engine whose time is linear in the text.
#[derive(Debug)]
pub(super) struct LinearPattern {
    pub(super) pattern: String,
    /// Whether `^` or `$` occurs where it matches at lines, of which the engine knows those that end with `\n`.
    pub(super) has_lines: bool,
    /// Whether groups hold what they hold in JavaScript.
    pub(super) has_exact_groups: bool,
}

/// Writes `root`; nothing if a linear engine cannot match the same, or it would take more than `limit` bytes.
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

/// The pattern has no form that a linear engine can match.
struct Unfit;

struct Writer {
    written: LinearPattern,
    /// Whether `^` and `$` match at lines.
    lines: bool,
    /// Whether more than ASCII belongs to the words of `\b`, for which the engine has no assertion.
    wide_words: bool,
    /// Most bytes to write.
    limit: usize,
}

impl Writer {
    /// Recursion is as deep as groups nest, which the parser has limited.
    fn node(&mut self, node: &Node) -> Result<(), Unfit> {
        match node {
            Node::Char(c) => self.char(*c),
            Node::Set(set) => self.set(set),
            Node::Start => self.edge(r"\A", "(?m:^)"),
            Node::End => self.edge(r"\z", "(?m:$)"),
            Node::WordBoundary { negated } => self.word_boundary(*negated)?,
            Node::Group(body) => self.enclosed("(?:", body)?,
            Node::Capture { body, .. } => self.enclosed("(", body)?,
            Node::Look { .. } | Node::Backreference(_) => return Err(Unfit),
            Node::Repeat(repeat) => self.repeat(repeat)?,
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.node(node))?,
            Node::Alternatives(nodes) => self.alternatives(nodes)?,
        }
        self.check_length()
    }

    /// Writes a loop: its body, which is one atom or a group, and its quantifier.
    ///
    /// A body that may match nothing is written only where no iteration is more than what is required.
    fn repeat(&mut self, repeat: &Repeat) -> Result<(), Unfit> {
        let Repeat { body, min, max, greedy, .. } = repeat;
        if *max != Some(*min) && body.width().empty {
            return Err(Unfit);
        }
        // JavaScript forgets at each iteration what groups held.
        let is_repeated = max.is_none_or(|max| max > 1);
        self.written.has_exact_groups &= !(is_repeated && has_optional_groups(body, false));
        self.node(body)?;
        self.quantifier(*min, *max, *greedy);
        Ok(())
    }

    fn enclosed(&mut self, opening: &str, body: &Node) -> Result<(), Unfit> {
        self.out().push_str(opening);
        self.node(body)?;
        self.out().push(')');
        Ok(())
    }

    fn alternatives(&mut self, nodes: &[Node]) -> Result<(), Unfit> {
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

    /// Writes an edge of the text, or with `m` of a line.
    fn edge(&mut self, of_text: &str, of_line: &str) {
        self.written.has_lines |= self.lines;
        let edge = if self.lines { of_line } else { of_text };
        self.out().push_str(edge);
    }

    fn word_boundary(&mut self, negated: bool) -> Result<(), Unfit> {
        self.out().push_str(if negated { r"(?-u:\B)" } else { r"(?-u:\b)" });
        if self.wide_words { Err(Unfit) } else { Ok(()) }
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

    fn check_length(&self) -> Result<(), Unfit> {
        if self.written.pattern.len() > self.limit { Err(Unfit) } else { Ok(()) }
    }
}

/// Whether `node` has a group that may stay unset though the node matches; `optional` if it stands in such a part.
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
