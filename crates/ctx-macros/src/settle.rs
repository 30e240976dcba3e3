//! The last step of compiling: joins texts that touch, takes the backslashes of escapes and the indentation
//! of blocks out of them, and notes where arguments end.

use ctx_types::{Span, space};
use memchr::memchr_iter;

use crate::op::Op;

/// Returns the final ops of a text, which may have calls that are escaped. Linear in the number of ops and their
/// bytes.
pub(crate) fn settle(mut ops: Vec<Op>, source: &str, has_escaped_calls: bool) -> Vec<Op> {
    join(&mut ops);
    if has_escaped_calls {
        ops = unescaped(ops, source.as_bytes());
    }
    if ops.iter().any(|op| matches!(op, Op::Arg { dedent: 1.., .. })) {
        ops = dedented(ops, source);
    }
    link(&mut ops);
    ops
}

/// Drops empty texts and joins those that touch.
fn join(ops: &mut Vec<Op>) {
    ops.dedup_by(|op, before| match (before, op) {
        (_, Op::Text { span, .. }) if span.is_empty() => true,
        (before @ Op::Text { .. }, op) if is_empty(before) => {
            *before = *op;
            true
        }
        (Op::Text { span: before, verbatim: false }, Op::Text { span, verbatim: false })
            if before.end == span.start =>
        {
            before.end = span.end;
            true
        }
        _ => false,
    });
    if matches!(ops.as_slice(), [only] if is_empty(only)) {
        ops.clear();
    }
}

const fn is_empty(op: &Op) -> bool {
    matches!(op, Op::Text { span, .. } if span.is_empty())
}

/// Takes the backslash out of each `\{{`.
fn unescaped(ops: Vec<Op>, source: &[u8]) -> Vec<Op> {
    let mut settled = Vec::with_capacity(ops.len());
    for op in ops {
        let Op::Text { span, verbatim: false } = op else {
            settled.push(op);
            continue;
        };
        let bytes = source.get(span.start..span.end).unwrap_or_default();
        let mut start = 0;
        for at in memchr_iter(b'\\', bytes) {
            if bytes.get(at + 1..).is_some_and(|after| after.starts_with(b"{{")) {
                push_text(&mut settled, span.start + start, span.start + at);
                start = at + 1;
            }
        }
        push_text(&mut settled, span.start + start, span.end);
    }
    settled
}

/// Takes the indentation of blocks out of their lines; an inner block has at least that of the outer one.
fn dedented(ops: Vec<Op>, source: &str) -> Vec<Op> {
    let mut settled = Vec::with_capacity(ops.len());
    let mut open: Vec<usize> = Vec::new();
    for op in ops {
        let current = open.last().copied().unwrap_or(0);
        match op {
            Op::Text { span, .. } if current > 0 => dedent(span, source, current, &mut settled),
            // The depth of the arguments before it, without the one that it begins.
            Op::Call { arguments: 1.., .. } | Op::If { .. } => {
                open.push(current);
                settled.push(op);
            }
            Op::Variable { access, .. } if access.operator.has_value() => {
                open.push(current);
                settled.push(op);
            }
            Op::Arg { dedent, .. } => {
                open.pop();
                let outer = open.last().copied().unwrap_or(0);
                open.push(outer.max(dedent));
                settled.push(op);
            }
            Op::End => {
                open.pop();
                settled.push(op);
            }
            Op::Text { .. } | Op::Call { .. } | Op::Variable { .. } => settled.push(op),
        }
    }
    settled
}

fn dedent(span: Span, source: &str, indent: usize, settled: &mut Vec<Op>) {
    let text = source.get(span.start..span.end).unwrap_or_default();
    let mut start = 0;
    for at in memchr_iter(b'\n', text.as_bytes()) {
        let line = text.get(at + 1..).unwrap_or_default();
        let is_removed = |c: &char| space::is_space(*c) && *c != '\n';
        let removed: usize = line.chars().take(indent).take_while(is_removed).map(char::len_utf8).sum();
        if removed > 0 {
            push_text(settled, span.start + start, span.start + at + 1);
            start = at + 1 + removed;
        }
    }
    push_text(settled, span.start + start, span.end);
}

/// Notes with each argument where the next one of its call begins, or where the call ends.
fn link(ops: &mut [Op]) {
    let mut open: Vec<Option<usize>> = Vec::new();
    for at in 0..ops.len() {
        let before = match ops.get(at) {
            Some(Op::Call { arguments: 1.., .. } | Op::If { .. }) => {
                open.push(None);
                None
            }
            Some(Op::Variable { access, .. }) if access.operator.has_value() => {
                open.push(None);
                None
            }
            Some(Op::Arg { .. }) => open.last_mut().and_then(|current| current.replace(at)),
            Some(Op::End) => open.pop().flatten(),
            _ => None,
        };
        if let Some(Op::Arg { next, .. }) = before.and_then(|before| ops.get_mut(before)) {
            *next = at;
        }
    }
}

fn push_text(ops: &mut Vec<Op>, start: usize, end: usize) {
    if start < end {
        ops.push(Op::text(start, end));
    }
}
