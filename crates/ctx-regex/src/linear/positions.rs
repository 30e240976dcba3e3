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
        Node::Repeat(Repeat { body, min, max, .. }) => {
            let times = usize::try_from(max.unwrap_or(*min).max(1)).unwrap_or(usize::MAX);
            count(body).saturating_mul(times)
        }
        Node::Sequence(nodes) | Node::Alternatives(nodes) => {
            nodes.iter().map(count).fold(0, usize::saturating_add)
        }
    }
}
