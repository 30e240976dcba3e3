//! The calls of a text that is rewritten in passes, for lists and findings: what they come to, only the passes
//! know.

use ctx_types::{Diagnostic, Span};
use memchr::memmem;

use crate::check::Checker;
use crate::dialect::Dialect;
use crate::head::{self, Follow};
use crate::op::Op;
use crate::registry::Registry;

/// Returns a call for each name of a macro behind opening braces, and the findings about other names.
///
/// A text without any is one text. Linear in the text.
pub(crate) fn read(source: &str, dialect: Dialect, registry: &Registry) -> (Vec<Op>, Vec<Diagnostic>) {
    let mut check = Checker::new(source, dialect, registry);
    let mut calls = Vec::new();
    let mut closer = Closer { source, is_searched: false, found: None };
    let bytes = source.as_bytes();
    let is_first = |at: &usize| *at == 0 || bytes.get(at - 1) != Some(&b'{');
    for at in memmem::find_iter(bytes, b"{{").filter(is_first) {
        let braces = bytes.iter().skip(at).take_while(|byte| **byte == b'{').count();
        let start = at + braces - 2;
        if dialect.escapes_calls() && at > 0 && bytes.get(at - 1) == Some(&b'\\') {
            continue;
        }
        let head = head::read(source, start + 2, dialect);
        let Some(end) = end_of(&head.follow, &mut closer) else {
            check.report_unclosed(start, head.name);
            continue;
        };
        let span = Span::new(start, end);
        match check.find(head.name) {
            Some(definition) => calls.push(Op::Call { definition, span, arguments: 0 }),
            None => check.report_unknown(span, head.name),
        }
    }
    let is_plain =
        calls.is_empty() && !source.contains("{{") && !(dialect.has_markers() && source.contains('<'));
    if is_plain && !source.is_empty() {
        calls.push(Op::text(0, source.len()));
    }
    (calls, check.finish())
}

fn end_of(follow: &Follow, closer: &mut Closer<'_>) -> Option<usize> {
    match *follow {
        Follow::Close { end } => Some(end),
        Follow::Arguments { start, .. } => closer.next(start),
        Follow::Text { .. } => None,
    }
}

/// Finds closing braces from places that only grow, and reads no byte twice.
struct Closer<'s> {
    source: &'s str,
    is_searched: bool,
    found: Option<usize>,
}

impl Closer<'_> {
    fn next(&mut self, from: usize) -> Option<usize> {
        if !self.is_searched || self.found.is_some_and(|found| found < from) {
            let rest = self.source.as_bytes().get(from..)?;
            self.found = memmem::find(rest, b"}}").map(|found| from + found);
            self.is_searched = true;
        }
        self.found.map(|found| found + 2)
    }
}
