//! The last step of compiling: joins texts that touch, and takes the backslashes of escapes out of them.

use ctx_types::Span;
use memchr::{memchr, memchr_iter};

use crate::dialect::Dialect;
use crate::op::Op;

/// Returns the ops with joined and unescaped texts. Linear in the number of ops and their bytes.
pub(crate) fn settle(ops: Vec<Op>, source: &str, dialect: Dialect) -> Vec<Op> {
    let mut joined: Vec<Op> = Vec::with_capacity(ops.len());
    for op in ops {
        match (joined.last_mut(), op) {
            (_, Op::Text { span, .. }) if span.is_empty() => {}
            (Some(Op::Text { span: before, verbatim: false }), Op::Text { span, verbatim: false })
                if before.end == span.start =>
            {
                before.end = span.end;
            }
            _ => joined.push(op),
        }
    }
    if memchr(b'\\', source.as_bytes()).is_none() {
        return joined;
    }
    let mut settled = Vec::with_capacity(joined.len());
    for op in joined {
        match op {
            Op::Text { span, verbatim: false } => unescape(span, source.as_bytes(), dialect, &mut settled),
            _ => settled.push(op),
        }
    }
    settled
}

fn unescape(span: Span, source: &[u8], dialect: Dialect, settled: &mut Vec<Op>) {
    let bytes = source.get(span.start..span.end).unwrap_or_default();
    let mut start = 0;
    for at in memchr_iter(b'\\', bytes) {
        let after = bytes.get(at + 1..).unwrap_or_default();
        if dialect.is_escaped(after) {
            if start < at {
                settled.push(Op::text(span.start + start, span.start + at));
            }
            start = at + 1;
        }
    }
    if start < bytes.len() {
        settled.push(Op::text(span.start + start, span.end));
    }
}
