use std::fmt::Write as _;

use crate::Flags;

/// A regular expression literal as in JavaScript source, with its flags.
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
    /// Text between the slashes, with escapes.
    pub pattern: &'a str,
    /// Flags after the last slash.
    pub flags: Flags,
}

impl<'a> Literal<'a> {
    /// Parses a literal. `None` if `text` is not a literal.
    ///
    /// The body ends at the last slash that is not escaped or in a class, so earlier slashes need no escape.
    /// `None` if the body is empty (a comment in JavaScript) or invalid flags follow.
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

/// Escapes `text` for a pattern that matches exactly it, with any flags except `i`.
///
/// The result contains no raw slash or line terminator, so it can be used in a [`Literal`]. It can follow any
/// other pattern, because a leading digit is escaped and cannot extend a backreference such as `\1`. Also
/// safe in a class without the flag `v`.
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

/// The only escape for these characters that every grammar accepts.
fn push_hex(out: &mut String, c: char) {
    let _ = write!(out, r"\x{:02x}", u32::from(c));
}
