//! Regular expressions as files write them, with their flags, and the escaping of plain text.

use std::fmt::Write as _;

use crate::Flags;

/// A regular expression with its flags, as JavaScript's source and the fields of applications write it.
///
/// ```
/// use ctx_regex::{Flags, Literal};
///
/// let literal = Literal::parse(r"/<b>[^/]*<\/b>/g").unwrap();
/// assert_eq!(literal.pattern, r"<b>[^/]*<\/b>");
/// assert_eq!(literal.flags, Flags::GLOBAL);
/// assert_eq!(Literal::parse("and/or"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal<'a> {
    /// The text between the slashes, with its escapes.
    pub pattern: &'a str,
    /// The flags after the last slash.
    pub flags: Flags,
}

impl<'a> Literal<'a> {
    /// Reads a literal, or gives `None` where `text` is not one.
    ///
    /// A literal begins with `/`; the last slash that is neither escaped nor inside a class ends its
    /// body, so an author may leave slashes before it unescaped. An empty body (a comment in
    /// JavaScript) or anything but valid flags after it makes no literal.
    pub fn parse(text: &'a str) -> Option<Self> {
        let body = text.strip_prefix('/')?;
        let (pattern, letters) = body.split_at_checked(last_slash(body)?)?;
        if pattern.is_empty() {
            return None;
        }
        let flags = Flags::parse(letters.strip_prefix('/')?).ok()?;
        Some(Self { pattern, flags })
    }
}

/// Offset of the last slash that is neither escaped nor inside a class.
fn last_slash(body: &str) -> Option<usize> {
    let (mut found, mut in_class, mut escaped) = (None, false, false);
    for (offset, byte) in body.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => found = Some(offset),
            _ => {}
        }
    }
    found
}

/// Escapes `text` so that a pattern matches exactly it, under any flags but `i`.
///
/// The result holds no raw slash or line terminator, so it may stand in a [`Literal`], and may follow
/// any other piece of a pattern; a leading digit is escaped so that it does not lengthen a reference
/// such as `\1`. Inside a class it is safe unless the flag `v` is set.
///
/// ```
/// assert_eq!(ctx_regex::escape("1 + {{user}}?"), r"\x31 \+ \{\{user\}\}\?");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for (offset, c) in text.char_indices() {
        match c {
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
                out.extend(['\\', c]);
            }
            '\n' => out.push_str(r"\n"),
            '\r' => out.push_str(r"\r"),
            '\u{2028}' => out.push_str(r"\u2028"),
            '\u{2029}' => out.push_str(r"\u2029"),
            '-' => push_hex(&mut out, c),
            '0'..='9' if offset == 0 => push_hex(&mut out, c),
            _ => out.push(c),
        }
    }
    out
}

/// Appends `\xHH`, the one escape of punctuation and digits that every grammar accepts.
fn push_hex(out: &mut String, c: char) {
    // Writing to a string cannot fail.
    let _ = write!(out, r"\x{:02x}", u32::from(c));
}
