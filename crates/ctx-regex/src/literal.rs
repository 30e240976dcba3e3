//! Regular expressions as files write them, with their flags, and the escaping of plain text.

use std::fmt::Write as _;

use crate::{Error, Flags};

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

    /// Reads what SillyTavern's regex scripts have as `findRegex`: a literal or a bare pattern.
    ///
    /// A bare pattern has no flags. A literal ends at its last slash, escaped or not; what follows the
    /// letters behind it is ignored. Letters that are none of `gmixXsuUAJ`, or are repeated, make the
    /// whole text a bare pattern. Only the first line that is not empty counts.
    ///
    /// ```
    /// use ctx_regex::{Flags, Literal};
    ///
    /// let literal = Literal::sillytavern("/a/b/g")?;
    /// assert_eq!((literal.pattern, literal.flags), ("a/b", Flags::GLOBAL));
    /// assert_eq!(Literal::sillytavern("/a/y")?.pattern, "/a/y");
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFlag`] for `x`, `X`, `U`, `A` and `J`, which SillyTavern lets through and JavaScript
    /// refuses; [`Error::Syntax`] for a text without a pattern.
    pub fn sillytavern(text: &'a str) -> Result<Self, Error> {
        let is_line_end = |c| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
        let Some(line) = text.split(is_line_end).find(|line| !line.is_empty()) else {
            return Err(Error::syntax(0, "empty pattern"));
        };
        let split = line.strip_prefix('/').and_then(|body| body.rsplit_once('/'));
        let Some((pattern, behind)) = split.filter(|(pattern, _)| !pattern.is_empty()) else {
            return Ok(Self { pattern: line, flags: Flags::NONE });
        };
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let letters = behind.get(..end).unwrap_or_default();
        if !letters.is_empty() && !passes_sillytavern(letters) {
            return Ok(Self { pattern: text, flags: Flags::NONE });
        }
        Ok(Self { pattern, flags: Flags::parse(letters)? })
    }

    /// Reads a key of a lorebook, or gives `None` where the key is plain text.
    ///
    /// A regular expression is `/pattern/flags` with any of `gimsuy` and no slash in the pattern but
    /// behind a backslash.
    ///
    /// ```
    /// use ctx_regex::Literal;
    ///
    /// assert_eq!(Literal::lorebook_key("/drag(on|oon)s?/i").unwrap().pattern, "drag(on|oon)s?");
    /// assert_eq!(Literal::lorebook_key("/either/or/"), None);
    /// ```
    pub fn lorebook_key(text: &'a str) -> Option<Self> {
        let (pattern, letters) = text.strip_prefix('/')?.rsplit_once('/')?;
        let is_escaped = |(at, _)| pattern.get(..at).is_some_and(|before| before.ends_with('\\'));
        let is_plain = pattern.is_empty() || !pattern.match_indices('/').all(is_escaped);
        if is_plain || !letters.chars().all(|letter| "gimsuy".contains(letter)) {
            return None;
        }
        Some(Self { pattern, flags: Flags::parse(letters).ok()? })
    }
}

/// Whether letters are flags for SillyTavern, though not all of them are for JavaScript.
fn passes_sillytavern(letters: &str) -> bool {
    let mut rest = letters.chars();
    std::iter::from_fn(|| rest.next().map(|letter| (letter, rest.as_str())))
        .all(|(letter, rest)| "gmixXsuUAJ".contains(letter) && !rest.contains(letter))
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
