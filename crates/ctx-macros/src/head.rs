//! Reads what follows the opening braces of a call: its name, and where its arguments begin.

use ctx_types::Span;
use memchr::memchr3;

use crate::dialect::Dialect;
use crate::registry::is_name_char;
use crate::space;

/// The beginning of what may be a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The name without the white space around it; empty if there is none.
    pub(crate) name: Span,
    pub(crate) follow: Follow,
}

/// What follows the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    /// The closing braces, which end here.
    Close { end: usize },
    /// The first argument, which begins here.
    Arguments { start: usize, separated: Separated },
    /// Neither: this is no call, and reading goes on here.
    Text { resume: usize },
}

/// Whether `::` divides the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separated {
    Yes,
    /// There is one argument, in which `::` is text.
    No,
}

/// Reads from `from`, the place behind the opening braces.
///
/// O(length of what is read), and reading goes on behind that.
pub(crate) fn read(source: &str, from: usize, dialect: Dialect) -> Head {
    match dialect {
        Dialect::Aio => read_to_separator(source, from),
        Dialect::SillyTavern => read_identifier(source, from),
    }
}

/// The name is everything up to `::` or `}}`, without braces.
fn read_to_separator(source: &str, from: usize) -> Head {
    let bytes = source.as_bytes();
    let mut at = from;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr3(b'{', b'}', b':', rest)) {
        let place = at + found;
        let pair = bytes.get(place..place + 2);
        let follow = match (bytes.get(place), pair) {
            (_, Some(b"::")) => Follow::Arguments { start: place + 2, separated: Separated::Yes },
            (_, Some(b"}}")) => Follow::Close { end: place + 2 },
            (Some(b':'), _) => {
                at = place + 1;
                continue;
            }
            (Some(b'{'), _) => Follow::Text { resume: place },
            _ => Follow::Text { resume: place + 1 },
        };
        return Head { name: trimmed(source, from, place), follow };
    }
    Head { name: trimmed(source, from, source.len()), follow: Follow::Text { resume: source.len() } }
}

/// The name is an identifier, then come `}}`, `::`, or after `:` or white space the only argument.
fn read_identifier(source: &str, from: usize) -> Head {
    let start = space::skip(source, from);
    let rest = source.get(start..).unwrap_or_default();
    let is_start = rest.starts_with(char::is_alphabetic);
    let length = if is_start { rest.find(|c| !is_name_char(c)).unwrap_or(rest.len()) } else { 0 };
    let end = start + length;
    let next = space::skip(source, end);
    let after = source.get(next..).unwrap_or_default();
    let follow = if length == 0 || after.is_empty() {
        Follow::Text { resume: end }
    } else if after.starts_with("}}") {
        Follow::Close { end: next + 2 }
    } else if after.starts_with("::") {
        Follow::Arguments { start: next + 2, separated: Separated::Yes }
    } else if after.starts_with(':') {
        Follow::Arguments { start: next + 1, separated: Separated::No }
    } else if next > end {
        Follow::Arguments { start: next, separated: Separated::No }
    } else {
        Follow::Text { resume: end }
    };
    Head { name: Span::new(start, end), follow }
}

/// Returns `start..end` without the white space around it; a name that spans lines is none.
fn trimmed(source: &str, start: usize, end: usize) -> Span {
    let text = source.get(start..end).unwrap_or_default();
    let name = space::trim(text);
    if name.is_empty() || name.contains('\n') {
        return Span::new(start, start);
    }
    let start = start + (text.len() - text.trim_start_matches(space::is_space).len());
    Span::new(start, start + name.len())
}
