use crate::ast::{Node, Repeat};

/// Expands counted repetitions. O(n). The parser limits the recursion depth.
pub(super) fn count(node: &Node) -> usize {
    match node {
        Node::Capture { body, .. } => count(body).saturating_add(1),
        node => sum(node, count),
    }
}

/// In half microseconds. A class costs 20, plus 1 per 3 ranges, which become UTF-8 bytes. O(n).
pub(super) fn build_cost(node: &Node) -> usize {
    match node {
        Node::Set(set) => 20 + set.ranges().len() / 3,
        node => sum(node, build_cost),
    }
}

fn sum(node: &Node, measure: fn(&Node) -> usize) -> usize {
    match node {
        Node::Char(_)
        | Node::Set(_)
        | Node::Start
        | Node::End
        | Node::WordBoundary { .. }
        | Node::Backreference(_) => 1,
        Node::Group(body) | Node::Look { body, .. } | Node::Capture { body, .. } => measure(body),
        Node::Repeat(repeat) => measure(&repeat.body).saturating_mul(times(repeat)),
        Node::Sequence(nodes) | Node::Alternatives(nodes) => {
            nodes.iter().map(measure).fold(0, usize::saturating_add)
        }
    }
}

fn times(repeat: &Repeat) -> usize {
    usize::try_from(repeat.max.unwrap_or(repeat.min).max(1)).unwrap_or(usize::MAX)
}
