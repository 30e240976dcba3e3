//! Replacement texts, in which `$` refers to parts of a match.

use crate::Error;
use crate::matches::Match;

/// A replacement text, read once and written for each match.
///
/// [`Replacement::parse`] reads the grammar of JavaScript; two applications have their own.
///
/// ```
/// use ctx_regex::{Flags, Limits, Regex, Replacement};
///
/// let regex = Regex::new("(b)", Flags::NONE, &Limits::default())?;
/// let replacement = Replacement::parse("[$1|$2|$10|$&|$`|$'|$$]");
/// assert_eq!(regex.replace("abc", &replacement)?, "a[b|$2|b0|b|a|c|$]c");
/// # Ok::<(), ctx_regex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The pieces where no group has a name.
    unnamed: Vec<Piece>,
    /// The pieces where some group has one, if those differ.
    named: Option<Vec<Piece>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Whole,
    Before,
    After,
    /// One or two digits after a dollar sign.
    Number {
        first: u8,
        second: Option<u8>,
    },
    /// A group by its number, the match being 0; `written` stands for one that does not exist.
    Group {
        number: usize,
        written: String,
    },
    Name(String),
}

impl Replacement {
    /// Reads a replacement text as JavaScript's `String.prototype.replace` does (ECMA-262 `GetSubstitution`);
    /// every text is one.
    ///
    /// `$$` is a dollar sign, `$&` the match, `` $` `` and `$'` the text before and behind it, `$1` to `$99`
    /// a group, `$<name>` a named group. A group that took no part is empty. A number without a group
    /// stays as written, except that two digits are then one and a literal digit if that is a group.
    /// `$<` is literal unless the pattern names a group; an unknown name is then empty.
    pub fn parse(text: &str) -> Self {
        Self::of(text, Dialect::JavaScript)
    }

    /// Reads a replacement as AIO Hub does: as JavaScript, but `\n` and `\t` are a line feed and a tab, and
    /// `${1}` is the group with that number if there is one.
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Regex, Replacement};
    ///
    /// let regex = Regex::new("(b)", Flags::NONE, &Limits::default())?;
    /// assert_eq!(regex.replace("abc", &Replacement::aiohub(r"${1}1\n${2}"))?, "ab1\n${2}c");
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    pub fn aiohub(text: &str) -> Self {
        Self::of(text, Dialect::AioHub)
    }

    /// Reads a replacement as SillyTavern's regex scripts do: `$0` and `{{match}}` are the match, `$1` with any
    /// number of digits is a group, `$<name>` a named group, and one that does not exist is empty. Nothing else
    /// is special.
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Regex, Replacement};
    ///
    /// let regex = Regex::new("(b)", Flags::NONE, &Limits::default())?;
    /// assert_eq!(regex.replace("abc", &Replacement::sillytavern("[$0{{match}}$12$$&]"))?, "a[bb$$&]c");
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    pub fn sillytavern(text: &str) -> Self {
        Self { unnamed: sillytavern_pieces(text), named: None }
    }

    /// A replacement that is exactly `text`, dollar signs included.
    pub fn literal(text: &str) -> Self {
        Self { unnamed: vec![Piece::Text(text.to_owned())], named: None }
    }

    fn of(text: &str, dialect: Dialect) -> Self {
        let named = text.contains("$<").then(|| pieces(text, dialect, true));
        Self { unnamed: pieces(text, dialect, false), named }
    }

    /// Returns the text if nothing of it depends on the match.
    pub fn as_literal(&self) -> Option<&str> {
        match (self.unnamed.as_slice(), &self.named) {
            ([], None) => Some(""),
            ([Piece::Text(text)], None) => Some(text),
            _ => None,
        }
    }

    /// Whether any piece refers to a group.
    pub(crate) fn reads_groups(&self) -> bool {
        let mut pieces = self.unnamed.iter().chain(self.named.iter().flatten());
        pieces.any(|piece| matches!(piece, Piece::Number { .. } | Piece::Group { .. } | Piece::Name(_)))
    }

    /// Writes what `found` is replaced with; `write` appends what is taken from the text.
    ///
    /// It is called with `true` for a group (in SillyTavern's grammar for the whole match too), and with `false`
    /// for the rest: the match, and what stands before and behind it.
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Regex, Replacement};
    ///
    /// let regex = Regex::new("(b+)", Flags::NONE, &Limits::default())?;
    /// let found = regex.find("abbc")?.unwrap();
    /// let mut out = String::new();
    /// Replacement::parse("$1, $&").expand(&found, &mut out, &mut |text, is_group, out| {
    ///     out.push_str(if is_group { "B" } else { text });
    /// });
    /// assert_eq!(out, "B, bb");
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    pub fn expand(
        &self,
        found: &Match<'_>,
        out: &mut String,
        write: &mut dyn FnMut(&str, bool, &mut String),
    ) {
        self.pieces(found).iter().for_each(|piece| piece.append(found, out, write));
    }

    /// Appends what `found` is replaced with, and gives up when `out` is longer than `limit`.
    pub(crate) fn append(&self, found: &Match<'_>, out: &mut String, limit: usize) -> Result<(), Error> {
        for piece in self.pieces(found) {
            piece.append(found, out, &mut |text, _, out| out.push_str(text));
            if out.len() > limit {
                return Err(Error::OutputTooLong { limit });
            }
        }
        Ok(())
    }

    fn pieces(&self, found: &Match<'_>) -> &[Piece] {
        match &self.named {
            Some(named) if found.has_names() => named,
            _ => &self.unnamed,
        }
    }
}

impl Piece {
    fn append(&self, found: &Match<'_>, out: &mut String, write: &mut dyn FnMut(&str, bool, &mut String)) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Whole => write(found.as_str(), false, out),
            Self::Before => write(found.before(), false, out),
            Self::After => write(found.after(), false, out),
            Self::Number { first, second } => append_group(*first, *second, found, out, write),
            Self::Group { number, written } if *number > found.group_count() => out.push_str(written),
            Self::Group { number, .. } => write(found.group(*number).unwrap_or_default(), true, out),
            Self::Name(name) => write(found.name(name).unwrap_or_default(), true, out),
        }
    }
}

/// Appends the group that one or two digits name, or the digits where they name none.
fn append_group(
    first: u8,
    second: Option<u8>,
    found: &Match<'_>,
    out: &mut String,
    write: &mut dyn FnMut(&str, bool, &mut String),
) {
    let is_group = |number: usize| (1..=found.group_count()).contains(&number);
    let short = usize::from(first);
    let long = second.map(|second| short * 10 + usize::from(second));
    // A number of two digits that is too large is one of one digit, but `$00` is no number at all.
    let (number, digit) = match long {
        Some(long) if long > found.group_count() => (short, second),
        Some(long) => (long, None),
        None => (short, None),
    };
    if is_group(number) {
        write(found.group(number).unwrap_or_default(), true, out);
    } else {
        out.extend(['$', char::from(b'0' + first)]);
    }
    let literal = if is_group(number) { digit } else { second };
    out.extend(literal.map(|digit| char::from(b'0' + digit)));
}

/// Whose grammar a replacement is written in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    JavaScript,
    AioHub,
}

/// Splits a replacement text; `$<name>` is a reference only if `names`.
fn pieces(text: &str, dialect: Dialect, names: bool) -> Vec<Piece> {
    let is_special = |c| c == '$' || c == '\\' && dialect == Dialect::AioHub;
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_special) {
        let (before, special) = rest.split_at(at);
        push_text(&mut pieces, before);
        let (sign, after) = special.split_at(1);
        let (piece, length) = match sign {
            "\\" => escape(after),
            _ => reference(after, dialect, names),
        };
        match piece {
            Some(Piece::Text(text)) => push_text(&mut pieces, &text),
            Some(piece) => pieces.push(piece),
            None => push_text(&mut pieces, sign),
        }
        rest = after.get(length..).unwrap_or_default();
    }
    push_text(&mut pieces, rest);
    pieces
}

/// What follows a backslash, and its length; no piece where the backslash stands for itself.
fn escape(after: &str) -> (Option<Piece>, usize) {
    match after.as_bytes().first() {
        Some(b'n') => (Some(Piece::Text("\n".to_owned())), 1),
        Some(b't') => (Some(Piece::Text("\t".to_owned())), 1),
        _ => (None, 0),
    }
}

/// What follows a dollar sign, and its length; no piece where the sign stands for itself.
fn reference(after: &str, dialect: Dialect, names: bool) -> (Option<Piece>, usize) {
    let digit = |index: usize| after.as_bytes().get(index).filter(|b| b.is_ascii_digit()).map(|b| b - b'0');
    match after.as_bytes().first() {
        Some(b'$') => (Some(Piece::Text("$".to_owned())), 1),
        Some(b'&') => (Some(Piece::Whole), 1),
        Some(b'`') => (Some(Piece::Before), 1),
        Some(b'\'') => (Some(Piece::After), 1),
        Some(b'<') if names => match after.find('>') {
            Some(end) => (Some(Piece::Name(after.get(1..end).unwrap_or_default().to_owned())), end + 1),
            None => (None, 0),
        },
        Some(b'{') if dialect == Dialect::AioHub => braced(after),
        _ => match (digit(0), digit(1)) {
            (Some(first), second) => {
                (Some(Piece::Number { first, second }), 1 + usize::from(second.is_some()))
            }
            (None, _) => (None, 0),
        },
    }
}

/// Reads `{1}`.
fn braced(after: &str) -> (Option<Piece>, usize) {
    let number = after.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(number, _)| number);
    let is_number = |number: &&str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    match number.filter(is_number).and_then(|number| Some((number, number.parse().ok()?))) {
        Some((digits, number)) => {
            (Some(Piece::Group { number, written: format!("${{{digits}}}") }), digits.len() + 2)
        }
        None => (None, 0),
    }
}

/// Splits a replacement text of a SillyTavern script.
fn sillytavern_pieces(text: &str) -> Vec<Piece> {
    const MATCH: &str = "{{match}}";
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '{']) {
        let (before, special) = rest.split_at(at);
        push_text(&mut pieces, before);
        let is_match = special.get(..MATCH.len()).is_some_and(|start| start.eq_ignore_ascii_case(MATCH));
        let (piece, length) = match special.strip_prefix('$') {
            None if is_match => (Piece::Group { number: 0, written: String::new() }, MATCH.len()),
            None => (Piece::Text("{".to_owned()), 1),
            Some(after) => sillytavern_reference(after),
        };
        match piece {
            Piece::Text(text) => push_text(&mut pieces, &text),
            piece => pieces.push(piece),
        }
        rest = special.get(length..).unwrap_or_default();
    }
    push_text(&mut pieces, rest);
    pieces
}

/// What a dollar sign with what follows it stands for, and the length of both.
fn sillytavern_reference(after: &str) -> (Piece, usize) {
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 {
        let number = after.get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or(usize::MAX);
        return (Piece::Group { number, written: String::new() }, 1 + digits);
    }
    let name = after.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(name, _)| name);
    match name.filter(|name| !name.is_empty()) {
        Some(name) => (Piece::Name(name.to_owned()), name.len() + 3),
        None => (Piece::Text("$".to_owned()), 1),
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(last)) => last.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}
