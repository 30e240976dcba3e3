//! Bodies of loops, rewritten so that they cannot match the empty text.
//!
//! JavaScript gives up an iteration that is not required and matches nothing: `(a*)?` on `b` leaves the
//! group unset, and `(?:a??)*` on `aa` takes both letters. The engine instead accepts such an iteration
//! and ends the loop. Where the body can be rewritten without doubling a part, this module makes both
//! the same. A body of several parts that may all be empty, such as `(?:a*b*)*`, stays as it is: it
//! matches the same text unless some part is lazy, but its groups may be empty instead of unset.

use crate::ast::Node;
use crate::code_set::CodeSet;

/// What a node may match.
#[derive(Clone, Copy)]
struct Width {
    /// Whether it may match the empty text.
    empty: bool,
    /// Whether it may match anything else.
    some: bool,
}

/// Rewrites `body` so that it does not match the empty text. O(n).
///
/// Groups keep their numbers.
pub(crate) fn without_empty(body: Node) -> Node {
    let width = width(&body);
    match body {
        body if !width.empty => body,
        Node::Group(body) => Node::Group(Box::new(without_empty(*body))),
        Node::Capture(body) => Node::Capture(Box::new(without_empty(*body))),
        Node::Alternatives(nodes) => Node::Alternatives(nodes.into_iter().map(without_empty).collect()),
        Node::Sequence(nodes) => sequence_without_empty(nodes),
        Node::Repeat { node, max, greedy, .. } if width.some => {
            Node::Repeat { node: Box::new(without_empty(*node)), min: 1, max, greedy }
        }
        body if width.some => body,
        body => Node::Sequence(vec![nothing(), body]),
    }
}

fn sequence_without_empty(mut nodes: Vec<Node>) -> Node {
    let mut parts = nodes.iter_mut().filter(|node| width(node).some);
    match (parts.next(), parts.next()) {
        (Some(part), None) => *part = without_empty(std::mem::replace(part, nothing())),
        (Some(_), Some(_)) => {}
        (None, _) => nodes.insert(0, nothing()),
    }
    Node::Sequence(nodes)
}

/// A node that never matches.
fn nothing() -> Node {
    Node::Set(CodeSet::default())
}

fn width(node: &Node) -> Width {
    match node {
        Node::Char(_) | Node::Set(_) => Width { empty: false, some: true },
        Node::Start | Node::End | Node::WordBoundary { .. } | Node::Look { .. } => {
            Width { empty: true, some: false }
        }
        Node::Backreference { .. } => Width { empty: true, some: true },
        Node::Group(body) | Node::Capture(body) => width(body),
        Node::Repeat { node, min, max, .. } => {
            let once = width(node);
            Width { empty: *min == 0 || once.empty, some: *max != Some(0) && once.some }
        }
        Node::Sequence(nodes) => nodes.iter().map(width).fold(Width { empty: true, some: false }, |a, b| {
            Width { empty: a.empty && b.empty, some: a.some || b.some }
        }),
        Node::Alternatives(nodes) => {
            nodes.iter().map(width).fold(Width { empty: false, some: false }, |a, b| Width {
                empty: a.empty || b.empty,
                some: a.some || b.some,
            })
        }
    }
}
