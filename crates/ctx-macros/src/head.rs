//! Parses a call up to its first argument.

use ctx_types::{Span, space};
use memchr::memchr3;

use crate::dialect::Dialect;
use crate::registry::name_len;
use crate::state::Scope;
use crate::tree::Operator;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// May be empty.
    pub(crate) name: Span,
    /// Closing tag of a block.
    pub(crate) is_closer: bool,
    pub(crate) keeps_space: bool,
    pub(crate) variable: Option<(Scope, Operator)>,
    pub(crate) follow: Follow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    /// `end` is the offset after the braces.
    Close { end: usize },
    /// First argument.
    Arguments { start: usize, separator: NameSeparator },
    /// Not a call.
    Text { resume: usize },
}

/// Whether `::` separates arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameSeparator {
    Present,
    /// A single argument, in which `::` is text.
    Missing,
}

pub(crate) const COMMENT: &str = "//";

/// `from` is the offset after the opening braces. Linear in the consumed source.
pub(crate) fn read(source: &str, from: usize, dialect: Dialect) -> Head {
    match dialect {
        Dialect::Aio => read_to_separator(source, from),
        Dialect::SillyTavern => read_flags(source, from),
    }
}

impl Head {
    const fn new(name: Span, follow: Follow) -> Self {
        Self { name, is_closer: false, keeps_space: false, variable: None, follow }
    }
}

/// The name extends to `::` or `}}`, without braces.
fn read_to_separator(source: &str, from: usize) -> Head {
    let bytes = source.as_bytes();
    let mut at = from;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr3(b'{', b'}', b':', rest)) {
        let place = at + found;
        let pair = bytes.get(place..place + 2);
        let follow = match (bytes.get(place), pair) {
            (_, Some(b"::")) => Follow::Arguments { start: place + 2, separator: NameSeparator::Present },
            (_, Some(b"}}")) => Follow::Close { end: place + 2 },
            (Some(b':'), _) => {
                at = place + 1;
                continue;
            }
            (Some(b'{'), _) => Follow::Text { resume: place },
            _ => Follow::Text { resume: place + 1 },
        };
        return Head::new(trim_span(source, from, place), follow);
    }
    Head::new(trim_span(source, from, source.len()), Follow::Text { resume: source.len() })
}

/// Optional flags and an identifier, then `::`, or `:` or white space and a single argument. `.` and `$`
/// introduce variables.
fn read_flags(source: &str, from: usize) -> Head {
    let (mut is_closer, mut keeps_space) = (false, false);
    let mut at = space::skip(source, from);
    loop {
        let rest = source.get(at..).unwrap_or_default();
        let mut head = match rest.as_bytes() {
            [b'/', b'/', ..] => read_comment(source, at),
            [b'.', ..] => read_variable(source, at + 1, Scope::Local),
            [b'$', ..] => read_variable(source, at + 1, Scope::Global),
            [flag @ (b'!' | b'?' | b'~' | b'>' | b'#' | b'/'), ..] => {
                is_closer |= *flag == b'/';
                keeps_space |= *flag == b'#';
                at = space::skip(source, at + 1);
                continue;
            }
            _ => read_identifier(source, at),
        };
        head.is_closer = is_closer;
        head.keeps_space = keeps_space;
        return head;
    }
}

fn read_comment(source: &str, start: usize) -> Head {
    let name = Span::new(start, start + COMMENT.len());
    let next = space::skip(source, name.end);
    let after = source.get(next..).unwrap_or_default();
    let follow = if after.starts_with("}}") {
        Follow::Close { end: next + 2 }
    } else {
        Follow::Arguments { start: name.end, separator: NameSeparator::Missing }
    };
    Head::new(name, follow)
}

/// An identifier, then `}}`, `::`, or a single argument after `:` or white space.
fn read_identifier(source: &str, start: usize) -> Head {
    let rest = source.get(start..).unwrap_or_default();
    let is_start = rest.starts_with(char::is_alphabetic);
    let length = if is_start { name_len(rest) } else { 0 };
    let end = start + length;
    let next = space::skip(source, end);
    let after = source.get(next..).unwrap_or_default();
    let follow = if length == 0 || after.is_empty() {
        Follow::Text { resume: end }
    } else if after.starts_with("}}") {
        Follow::Close { end: next + 2 }
    } else if after.starts_with("::") {
        Follow::Arguments { start: next + 2, separator: NameSeparator::Present }
    } else if after.starts_with(':') {
        Follow::Arguments { start: next + 1, separator: NameSeparator::Missing }
    } else if next > end {
        Follow::Arguments { start: next, separator: NameSeparator::Missing }
    } else {
        Follow::Text { resume: end }
    };
    Head::new(Span::new(start, end), follow)
}

fn read_variable(source: &str, start: usize, scope: Scope) -> Head {
    let rest = source.get(start..).unwrap_or_default();
    let name = variable_name(rest);
    let end = start + name.len();
    let span = Span::new(start, end);
    let text = Head::new(span, Follow::Text { resume: end });
    if name.is_empty() {
        return text;
    }
    let next = space::skip(source, end);
    let after = source.get(next..).unwrap_or_default();
    if after.starts_with("}}") {
        let follow = Follow::Close { end: next + 2 };
        return Head { variable: Some((scope, Operator::Get)), ..Head::new(span, follow) };
    }
    let written = Operator::WRITTEN.iter().find(|(written, _)| after.starts_with(written));
    let Some((written, operator)) = written else {
        return text;
    };
    let start = next + written.len();
    if operator.has_value() {
        let follow = Follow::Arguments { start, separator: NameSeparator::Missing };
        return Head { variable: Some((scope, *operator)), ..Head::new(span, follow) };
    }
    let close = space::skip(source, start);
    if !source.get(close..).unwrap_or_default().starts_with("}}") {
        return text;
    }
    Head { variable: Some((scope, *operator)), ..Head::new(span, Follow::Close { end: close + 2 }) }
}

/// Leading variable name: a Latin letter, then letters, digits, `_`, and `-`. It does not end in `-`, because
/// `{{.n--}}` is a decrement.
pub(crate) fn variable_name(text: &str) -> &str {
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return "";
    }
    let length = text.bytes().take_while(is_inner).count();
    text.get(..length).unwrap_or_default().trim_end_matches('-')
}

/// Empty if the name contains a line break.
fn trim_span(source: &str, start: usize, end: usize) -> Span {
    let text = source.get(start..end).unwrap_or_default();
    let behind = space::trim_start(text);
    let name = space::trim_end(behind);
    if name.is_empty() || name.contains('\n') {
        return Span::new(start, start);
    }
    let start = start + (text.len() - behind.len());
    Span::new(start, start + name.len())
}
