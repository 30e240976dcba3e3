//! How many places of a pattern a search may be at, which is what each character of a text may cost.

use crate::ast::{Node, Repeat};

/// Counts the pieces that do not consist of others, with counted repetitions written out. O(n).
///
/// Recursion is as deep as groups nest, which the parser has limited.
pub(super) fn count(node: &Node) -> usize {
    match node {
        Node::Char(_)
        | Node::Set(_)
        | Node::Start
        | Node::End
        | Node::WordBoundary { .. }
        | Node::Backreference(_) => 1,
        Node::Group(body) | Node::Look { body, .. } => count(body),
        Node::Capture { body, .. } => count(body).saturating_add(1),
        Node::Repeat(repeat) => count(&repeat.body).saturating_mul(times(repeat)),
        Node::Sequence(nodes) | Node::Alternatives(nodes) => {
            nodes.iter().map(count).fold(0, usize::saturating_add)
        }
    }
}

/// Estimates how long building a pattern takes, in half microseconds, with counted repetitions written out. O(n).
///
/// A class is twenty, and one more for each three of its ranges, for each is written as bytes of UTF-8.
pub(super) fn building(node: &Node) -> usize {
    match node {
        Node::Set(set) => 20 + set.ranges().len() / 3,
        Node::Char(_) | Node::Start | Node::End | Node::WordBoundary { .. } | Node::Backreference(_) => 1,
        Node::Group(body) | Node::Look { body, .. } | Node::Capture { body, .. } => building(body),
        Node::Repeat(repeat) => building(&repeat.body).saturating_mul(times(repeat)),
        Node::Sequence(nodes) | Node::Alternatives(nodes) => {
            nodes.iter().map(building).fold(0, usize::saturating_add)
        }
    }
}

/// How often the body of a repetition is written out.
fn times(repeat: &Repeat) -> usize {
    usize::try_from(repeat.max.unwrap_or(repeat.min).max(1)).unwrap_or(usize::MAX)
}
