//! The calls of a text that is rewritten in passes, for lists and findings: what they come to, only the passes
//! know.

use ctx_types::{Diagnostic, Span, space};
use memchr::memmem;

use crate::check::Checker;
use crate::definition::Form;
use crate::dialect::Dialect;
use crate::head::{self, Follow, Head};
use crate::registry::Registry;
use crate::sillytavern::legacy::{self, Shapes};
use crate::tree::{CallNode, Node, Target};

/// Returns a call for each name of a macro behind opening braces, and the findings about other names.
///
/// A text without any is one text. Linear in the text.
pub(crate) fn read(source: &str, dialect: Dialect, registry: &Registry) -> (Vec<Node>, Vec<Diagnostic>) {
    let shapes = (dialect == Dialect::SillyTavernLegacy && source.contains("{{")).then(Shapes::new);
    let closer = Closer { source, is_searched: false, found: None };
    let check = Checker::new(source, dialect, registry);
    let mut listing = Listing { source, dialect, check, closer, shapes, calls: Vec::new(), last: None };
    let bytes = source.as_bytes();
    let is_first = |at: &usize| *at == 0 || bytes.get(at - 1) != Some(&b'{');
    for at in memmem::find_iter(bytes, b"{{").filter(is_first) {
        let braces = bytes.iter().skip(at).take_while(|byte| **byte == b'{').count();
        if !(dialect.syntax().escapes_calls && at > 0 && bytes.get(at - 1) == Some(&b'\\')) {
            listing.take(at + braces - 2);
        }
    }
    let Listing { mut calls, check, .. } = listing;
    // The older engine of SillyTavern reads `<USER>` and its like too.
    let is_plain = !source.contains("{{") && (dialect != Dialect::SillyTavernLegacy || !source.contains('<'));
    if is_plain && !source.is_empty() {
        calls.push(Node::text(0, source.len()));
    }
    (calls, check.finish())
}

struct Listing<'s> {
    source: &'s str,
    dialect: Dialect,
    check: Checker<'s>,
    closer: Closer<'s>,
    /// The forms of calls, where each macro has its own.
    shapes: Option<Shapes>,
    calls: Vec<Node>,
    /// The last call that is inside no other.
    last: Option<Listed>,
}

/// A call, and when it is made.
#[derive(Clone, Copy)]
struct Listed {
    definition: usize,
    span: Span,
    order: usize,
    /// Where it is among the calls.
    place: usize,
}

impl Listing<'_> {
    /// Takes the braces at `start`, which grows from call to call.
    fn take(&mut self, start: usize) {
        let seen = self.shapes.as_mut().and_then(|shapes| shapes.call_at(self.source, start));
        let listed = seen.and_then(|seen| {
            let definition = self.check.find_name(seen.macro_name)?;
            Some(Listed { definition, span: Span::new(start, seen.end), order: seen.order, place: 0 })
        });
        if let Some(listed) = listed.or_else(|| self.named(start)) {
            self.add(listed);
        }
    }

    /// Reads a call by its name; reports what is none.
    fn named(&mut self, start: usize) -> Option<Listed> {
        let name = match self.shapes {
            Some(_) => space::skip(self.source, start + 2),
            None => start + 2,
        };
        let head = head::read(self.source, name, self.dialect);
        let Some(end) = end_of(&head.follow, &mut self.closer) else {
            match head.follow {
                Follow::Text { .. } => self.check.report_text(start, &head),
                _ => self.check.report_unclosed(start, head.name),
            }
            return None;
        };
        let span = Span::new(start, end);
        let Some(definition) = self.check.find(head.name) else {
            self.check.report_unknown(span, head.name);
            return None;
        };
        if self.shapes.is_some() && !self.is_of_host(definition, span, &head) {
            self.report_form(definition, span, &head);
            return None;
        }
        let order = if self.shapes.is_some() { legacy::HOSTS_OWN } else { self.check.phase(definition) };
        Some(Listed { definition, span, order, place: 0 })
    }

    /// Returns whether a call of a host's own macro is written as the older engine reads it: the name alone.
    fn is_of_host(&self, definition: usize, span: Span, head: &Head) -> bool {
        let is_own = self.check.definition(definition).is_some_and(|known| !known.is_builtin);
        is_own && span.len() == head.name.len() + "{{}}".len()
    }

    fn report_form(&mut self, definition: usize, span: Span, head: &Head) {
        let Some(known) = self.check.definition(definition) else { return };
        let has_arguments = matches!(head.follow, Follow::Arguments { .. });
        if known.arity.min > 0 && !has_arguments {
            self.check.report_count(definition, span, 0);
        } else {
            self.check.report_form(span, definition, &legacy::written_like(known, has_arguments));
        }
    }

    /// Adds a call; one inside another is reported if it is not made before that.
    fn add(&mut self, listed: Listed) {
        let Listed { definition, span, order, .. } = listed;
        match self.last {
            Some(outer) if span.start < outer.span.end => {
                if outer.order <= order {
                    self.check.report_nested(span, definition, outer.definition);
                } else if self.check.form(Some(outer.definition)) == Form::Comment {
                    self.lengthen(outer, span.end);
                }
            }
            _ => self.last = Some(Listed { place: self.calls.len(), ..listed }),
        }
        self.calls.push(Node::Call(CallNode::bare(Target::Macro(definition), span)));
    }

    /// Has a comment end behind a call in it that is made before, with whose braces it would else end.
    fn lengthen(&mut self, comment: Listed, from: usize) {
        let rest = self.source.as_bytes().get(from..).unwrap_or_default();
        let Some(end) = memmem::find(rest, b"}}").map(|found| from + found + 2) else { return };
        let span = Span::new(comment.span.start, end);
        self.last = Some(Listed { span, ..comment });
        if let Some(Node::Call(call)) = self.calls.get_mut(comment.place) {
            call.span = span;
        }
    }
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
