//! How many places of a pattern a search may be at, which is what each character of a text costs.

use crate::ast::Node;
use crate::{Error, Limits};

/// Refuses a pattern that has more positions than its limit. O(n).
pub(crate) fn check(root: &Node, limits: &Limits) -> Result<(), Error> {
    match positions(root) > limits.positions {
        true => Err(Error::TooManyPositions { limit: limits.positions }),
        false => Ok(()),
    }
}

/// Counts the pieces that do not consist of others, with counted repetitions written out.
///
/// Recursion is as deep as groups nest, which the parser has limited.
fn positions(node: &Node) -> usize {
    match node {
        Node::Char(_)
        | Node::Set(_)
        | Node::Start
        | Node::End
        | Node::WordBoundary { .. }
        | Node::Look { .. }
        | Node::Backreference { .. } => 1,
        Node::Group(body) => positions(body),
        Node::Capture(body) => positions(body).saturating_add(1),
        Node::Repeat { node, min, max, .. } => {
            let times = usize::try_from(max.unwrap_or(*min).max(1)).unwrap_or(usize::MAX);
            positions(node).saturating_mul(times)
        }
        Node::Sequence(nodes) | Node::Alternatives(nodes) => {
            nodes.iter().map(positions).fold(0, usize::saturating_add)
        }
    }
}
