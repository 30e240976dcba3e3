//! Writes a parsed pattern in the syntax of the `regex` crate, where that can mean the same.
//!
//! Every class is written as its ranges and every group without its name, so nothing depends on how
//! that crate reads flags, escapes or names.
//!
//! Loops need care. JavaScript gives up an iteration that is not required and matches nothing: `(a*)?`
//! on `b` leaves the group unset, and `(?:a??)*` on `aa` takes both letters. The engine instead accepts
//! such an iteration and ends the loop. So the body of a loop that may match the empty text is written
//! in a form that cannot, where there is one.

use std::fmt::Write as _;

use crate::Flags;
use crate::ast::{Node, Repeat};
use crate::code_set::CodeSet;

/// `^` with `m`: after the line terminator of the engine, and after `\n` or a lone `\r`.
const LINE_START: &str = r"(?:(?m:^)|(?mR:^))";
/// `$` with `m`, likewise.
const LINE_END: &str = r"(?:(?m:$)|(?mR:$))";
/// A class without members.
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// A pattern for an engine whose time is linear in the text.
#[derive(Debug)]
pub(super) struct LinearPattern {
    pub(super) pattern: String,
    /// Whether `^` and `$` occur where they match at lines.
    ///
    /// `LINE_START` and `LINE_END` together with the terminator cover every `\n` and `\r`, except that
    /// one of the two misses the place between `\r` and `\n`: `^` with the terminator `\n`, `$` with `\r`.
    pub(super) starts_lines: bool,
    pub(super) ends_lines: bool,
    /// Whether groups hold what they hold in JavaScript.
    pub(super) has_exact_groups: bool,
}

/// Writes `root`; nothing if a linear engine cannot match the same, or it would take more than `limit` bytes.
pub(super) fn write(root: &Node, flags: Flags, limit: usize) -> Option<LinearPattern> {
    let mut writer = Writer {
        written: LinearPattern {
            pattern: String::new(),
            starts_lines: false,
            ends_lines: false,
            has_exact_groups: true,
        },
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
            Node::Start => self.start(),
            Node::End => self.end(),
            Node::WordBoundary { negated } => self.word_boundary(*negated)?,
            Node::Group(body) => self.enclosed("(?:", body, Self::node)?,
            Node::Capture { body, .. } => self.enclosed("(", body, Self::node)?,
            Node::Look { .. } | Node::Backreference(_) => return Err(Unfit),
            Node::Repeat(repeat) => self.repeat(repeat)?,
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.node(node))?,
            Node::Alternatives(nodes) => self.alternatives(nodes, Self::node)?,
        }
        self.check_length()
    }

    /// Writes a form of `node` that matches what it matches, in the same order, but for the empty text.
    fn not_empty(&mut self, node: &Node) -> Result<(), Unfit> {
        let width = node.width();
        match node {
            _ if !width.empty => self.node(node)?,
            _ if !width.some => self.nothing(node)?,
            Node::Group(body) => self.enclosed("(?:", body, Self::not_empty)?,
            Node::Capture { body, .. } => self.enclosed("(", body, Self::not_empty)?,
            Node::Alternatives(nodes) => self.alternatives(nodes, Self::not_empty)?,
            Node::Sequence(nodes) => self.sequence_not_empty(nodes)?,
            Node::Repeat(repeat) => self.repeat_not_empty(repeat)?,
            _ => return Err(Unfit),
        }
        self.check_length()
    }

    /// Writes what never matches; the groups of `node` are written too, for they count.
    fn nothing(&mut self, node: &Node) -> Result<(), Unfit> {
        self.out().push_str("(?:");
        self.out().push_str(NOTHING);
        self.node(node)?;
        self.out().push(')');
        Ok(())
    }

    /// Where several parts may match something, each of them may be the one that is not empty.
    fn sequence_not_empty(&mut self, nodes: &[Node]) -> Result<(), Unfit> {
        if nodes.iter().filter(|node| node.width().some).count() > 1 {
            return Err(Unfit);
        }
        nodes.iter().try_for_each(|node| match node.width().some {
            true => self.not_empty(node),
            false => self.node(node),
        })
    }

    fn repeat_not_empty(&mut self, repeat: &Repeat) -> Result<(), Unfit> {
        let Repeat { body, min, max, greedy, .. } = repeat;
        if *min > 0 && !(*greedy && may_end_empty(body)) {
            return Err(Unfit);
        }
        self.note_iterations(repeat, *min > 0);
        self.quantified(body, Self::not_empty, (1, *max), *greedy)
    }

    fn repeat(&mut self, repeat: &Repeat) -> Result<(), Unfit> {
        let Repeat { body, min, max, greedy, .. } = repeat;
        if *max == Some(0) {
            // Its groups are written too, for they count.
            return self.quantified(body, Self::node, (0, Some(0)), true);
        }
        let may_be_empty = body.width().empty;
        self.note_iterations(repeat, may_be_empty && *min > 0);
        if !may_be_empty {
            return self.quantified(body, Self::node, (*min, *max), *greedy);
        }
        if *min > 0 && !(*greedy && may_end_empty(body)) {
            self.quantified(body, Self::node, (*min, Some(*min)), true)?;
            if !repeat.groups.is_empty() {
                return Err(Unfit);
            }
            let more = max.map(|max| max.saturating_sub(*min));
            return self.quantified(body, Self::not_empty, (0, more), *greedy);
        }
        self.quantified(body, Self::not_empty, (0, *max), *greedy)
    }

    /// Keeps in mind if groups of a loop may come out otherwise than in JavaScript, which forgets at each
    /// iteration what they held.
    fn note_iterations(&mut self, repeat: &Repeat, may_end_empty: bool) {
        let is_repeated = repeat.max.is_none_or(|max| max > 1);
        let is_forgotten = is_repeated && has_optional_groups(&repeat.body, false);
        let is_emptied = may_end_empty && !repeat.groups.is_empty();
        self.written.has_exact_groups &= !is_forgotten && !is_emptied;
    }

    /// Writes the body of a loop, which is always one atom or a group, and its quantifier.
    fn quantified(
        &mut self,
        body: &Node,
        write: fn(&mut Self, &Node) -> Result<(), Unfit>,
        (min, max): (u32, Option<u32>),
        greedy: bool,
    ) -> Result<(), Unfit> {
        write(self, body)?;
        self.quantifier(min, max, greedy);
        self.check_length()
    }

    fn enclosed(
        &mut self,
        opening: &str,
        body: &Node,
        write: fn(&mut Self, &Node) -> Result<(), Unfit>,
    ) -> Result<(), Unfit> {
        self.out().push_str(opening);
        write(self, body)?;
        self.out().push(')');
        Ok(())
    }

    fn alternatives(
        &mut self,
        nodes: &[Node],
        write: fn(&mut Self, &Node) -> Result<(), Unfit>,
    ) -> Result<(), Unfit> {
        for (index, node) in nodes.iter().enumerate() {
            self.out().push_str(if index == 0 { "" } else { "|" });
            write(self, node)?;
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

    fn start(&mut self) {
        self.written.starts_lines |= self.lines;
        let start = if self.lines { LINE_START } else { r"\A" };
        self.out().push_str(start);
    }

    fn end(&mut self) {
        self.written.ends_lines |= self.lines;
        let end = if self.lines { LINE_END } else { r"\z" };
        self.out().push_str(end);
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

/// Whether the empty text is what `node` matches last of all, and whatever stands around.
///
/// Then requiring some iterations of it says no more than allowing them.
fn may_end_empty(node: &Node) -> bool {
    match node {
        Node::Group(body) | Node::Capture { body, .. } => may_end_empty(body),
        Node::Repeat(Repeat { body, min, greedy, .. }) => *greedy && (*min == 0 || may_end_empty(body)),
        Node::Sequence(nodes) => nodes.iter().all(may_end_empty),
        Node::Alternatives(nodes) => nodes.split_last().is_some_and(|(last, earlier)| {
            may_end_empty(last) && earlier.iter().all(|node| !node.width().empty)
        }),
        _ => false,
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
