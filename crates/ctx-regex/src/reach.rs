use crate::ast::Node;
use crate::code_set::CodeSet;

/// Maximum UTF-8 length.
const CHARACTER: usize = 4;

/// Extent of text that can affect a match, including assertions.
///
/// After a failed search and an append to the text, it shows where to resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A single line: a match does not contain or depend on a line feed.
    Line,
    /// Maximum number of bytes.
    Bytes(usize),
    /// The whole text.
    Text,
}

/// O(n).
pub(crate) fn measure(root: &Node) -> Reach {
    if is_within_line(root) {
        return Reach::Line;
    }
    // A final assertion reads one more character.
    longest(root).map_or(Reach::Text, |bytes| Reach::Bytes(bytes.saturating_add(CHARACTER)))
}

/// Only `$` depends on line ends, and it also matches at the end of the text. Appending a line feed there
/// changes nothing. The parser limits the recursion depth.
fn is_within_line(node: &Node) -> bool {
    match node {
        Node::Char(c) => *c != '\n',
        Node::Set(set) => !contains_line_feed(set),
        Node::Start | Node::End | Node::WordBoundary { .. } => true,
        Node::Look { .. } | Node::Backreference(_) => false,
        Node::Group(body) | Node::Capture { body, .. } => is_within_line(body),
        Node::Repeat(repeat) => is_within_line(&repeat.body),
        Node::Sequence(nodes) | Node::Alternatives(nodes) => nodes.iter().all(is_within_line),
    }
}

fn contains_line_feed(set: &CodeSet) -> bool {
    set.ranges().iter().any(|(first, last)| (*first..=*last).contains(&u32::from('\n')))
}

/// In bytes; `None` is unlimited.
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
        assert_eq!(measure(&parsed.root), expected, "/{pattern}/");
    }

    #[test]
    fn limits_most_patterns_to_one_line() {
        check(r"\bdragons?\b", "i", Reach::Line);
        check("moon.*sun$", "", Reach::Line);
        check("[a-z]+ [0-9]", "", Reach::Line);
    }

    #[test]
    fn measures_reach_beyond_one_line() {
        check(r"a\nb", "", Reach::Bytes(16));
        check(r"a\s{0,3}b", "", Reach::Bytes(24));
        check(r"a[^b]*b", "", Reach::Text);
        check("a.*b", "s", Reach::Text);
        check("a(?!b)", "", Reach::Text);
        check(r"(a)\1", "", Reach::Text);
    }
}
