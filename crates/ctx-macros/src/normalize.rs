//! Merges adjacent texts and removes the indentation of blocks.

use ctx_types::{Span, space};
use memchr::memchr_iter;

use crate::tree::Node;

/// `indent` is in characters. Linear.
pub(crate) fn normalize(nodes: &mut Vec<Node>, source: &str, indent: usize) {
    nodes.retain(|node| !matches!(node, Node::Text(span) if span.is_empty()));
    nodes.dedup_by(|node, before| match (before, node) {
        (Node::Text(before), Node::Text(span)) if before.end == span.start => {
            before.end = span.end;
            true
        }
        _ => false,
    });
    for node in nodes.iter_mut() {
        let Node::Call(call) = node else { continue };
        for argument in &mut call.arguments {
            // An inner block has at least the indentation of the outer block.
            normalize(&mut argument.nodes, source, indent.max(argument.dedent));
        }
    }
    if indent > 0 {
        let normalized = Vec::with_capacity(nodes.len());
        for node in std::mem::replace(nodes, normalized) {
            match node {
                Node::Text(span) => dedent(span, source, indent, nodes),
                Node::Call(_) => nodes.push(node),
            }
        }
    }
}

fn dedent(span: Span, source: &str, indent: usize, normalized: &mut Vec<Node>) {
    let text = source.get(span.start..span.end).unwrap_or_default();
    let mut start = span.start;
    for at in memchr_iter(b'\n', text.as_bytes()) {
        let line = text.get(at + 1..).unwrap_or_default();
        let is_removed = |c: &char| space::is_space(*c) && *c != '\n';
        let removed: usize = line.chars().take(indent).take_while(is_removed).map(char::len_utf8).sum();
        if removed > 0 {
            let end = span.start + at + 1;
            normalized.push(Node::text(start, end));
            start = end + removed;
        }
    }
    if start < span.end {
        normalized.push(Node::text(start, span.end));
    }
}
