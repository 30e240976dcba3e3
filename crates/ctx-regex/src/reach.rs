//! How much text one match can be about.

use crate::ast::Node;
use crate::code_set::CodeSet;

/// The most bytes that a character has in UTF-8.
const CHARACTER: usize = 4;

/// How much text one match can be about: what it matches, and what assertions at its end look at.
///
/// Whoever searched a text in vain and adds to its end knows by this where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Never more than one line: no line feed stands in it, nor does one help to find it.
    Line,
    /// So many bytes at most.
    Bytes(usize),
    /// All of it.
    Text,
}

/// O(n).
pub(crate) fn of(root: &Node) -> Reach {
    if is_within_line(root) {
        return Reach::Line;
    }
    // An assertion at the end looks at one character more.
    longest(root).map_or(Reach::Text, |bytes| Reach::Bytes(bytes.saturating_add(CHARACTER)))
}

/// Returns whether no match, and nothing that is looked at, holds a line feed.
///
/// Ends of lines are asked for by `$` alone, which is found at the end of a text too: a line feed that is added there
/// changes nothing. Recursion is as deep as groups nest, which the parser has limited.
fn is_within_line(node: &Node) -> bool {
    match node {
        Node::Char(c) => *c != '\n',
        Node::Set(set) => !holds_line_feed(set),
        Node::Start | Node::End | Node::WordBoundary { .. } => true,
        Node::Look { .. } | Node::Backreference(_) => false,
        Node::Group(body) | Node::Capture { body, .. } => is_within_line(body),
        Node::Repeat(repeat) => is_within_line(&repeat.body),
        Node::Sequence(nodes) | Node::Alternatives(nodes) => nodes.iter().all(is_within_line),
    }
}

fn holds_line_feed(set: &CodeSet) -> bool {
    set.ranges().iter().any(|(first, last)| (*first..=*last).contains(&u32::from('\n')))
}

/// The most bytes that a node is about; none if there is no limit.
fn longest(node: &Node) -> Option<usize> {
    match node {
        Node::Char(_) | Node::Set(_) => Some(CHARACTER),
        Node::Start | Node::End | Node::WordBoundary { .. } => Some(0),
        Node::Look { .. } | Node::Backreference(_) => None,
        Node::Group(body) | Node::Capture { body, .. } => longest(body),
        Node::Repeat(repeat) => {
            let times = usize::try_from(repeat.max?).ok()?;
            longest(&repeat.body)?.checked_mul(times)
        }
        Node::Sequence(nodes) => nodes.iter().try_fold(0_usize, |sum, node| sum.checked_add(longest(node)?)),
        Node::Alternatives(nodes) => {
            nodes.iter().try_fold(0_usize, |most, node| Some(most.max(longest(node)?)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, Limits, parser};

    #[track_caller]
    fn check(pattern: &str, flags: &str, expected: Reach) {
        let flags = Flags::parse(flags).unwrap();
        let parsed = parser::parse(pattern, flags, &Limits::default()).unwrap();
        assert_eq!(of(&parsed.root), expected, "/{pattern}/");
    }

    #[test]
    fn most_patterns_stay_within_a_line() {
        check(r"\bdragons?\b", "i", Reach::Line);
        check("moon.*sun$", "", Reach::Line);
        check("[a-z]+ [0-9]", "", Reach::Line);
    }

    #[test]
    fn those_that_do_not_have_a_length_or_none() {
        check(r"a\nb", "", Reach::Bytes(16));
        check(r"a\s{0,3}b", "", Reach::Bytes(24));
        check(r"a[^b]*b", "", Reach::Text);
        check("a.*b", "s", Reach::Text);
        check("a(?!b)", "", Reach::Text);
        check(r"(a)\1", "", Reach::Text);
    }
}
