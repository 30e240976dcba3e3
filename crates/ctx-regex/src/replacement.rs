//! Replacement texts, in which `$` refers to parts of a match.

use crate::Error;
use crate::matches::Match;

/// A replacement text as JavaScript's `String.prototype.replace` reads it (ECMA-262 `GetSubstitution`).
///
/// `$$` is a dollar sign, `$&` the match, `` $` `` and `$'` the text before and behind it, `$1` to `$99`
/// a group, `$<name>` a named group. A group that took no part is empty. A number without a group
/// stays as written, except that two digits are then one and a literal digit if that is a group.
/// `$<` is literal unless the pattern names a group; an unknown name is then empty.
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
    Name(String),
}

impl Replacement {
    /// Reads a replacement text; every text is one.
    pub fn parse(text: &str) -> Self {
        Self { unnamed: pieces(text, false), named: text.contains("$<").then(|| pieces(text, true)) }
    }

    /// A replacement that is exactly `text`, dollar signs included.
    pub fn literal(text: &str) -> Self {
        Self { unnamed: vec![Piece::Text(text.to_owned())], named: None }
    }

    /// Whether any piece refers to a group.
    pub(crate) fn reads_groups(&self) -> bool {
        let mut pieces = self.unnamed.iter().chain(self.named.iter().flatten());
        pieces.any(|piece| matches!(piece, Piece::Number { .. } | Piece::Name(_)))
    }

    /// Appends what `found` is replaced with, and gives up when `out` is longer than `limit`.
    pub(crate) fn append(&self, found: &Match<'_>, out: &mut String, limit: usize) -> Result<(), Error> {
        let pieces = match &self.named {
            Some(named) if found.has_names() => named,
            _ => &self.unnamed,
        };
        for piece in pieces {
            piece.append(found, out);
            if out.len() > limit {
                return Err(Error::OutputTooLong { limit });
            }
        }
        Ok(())
    }
}

impl Piece {
    fn append(&self, found: &Match<'_>, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Whole => out.push_str(found.as_str()),
            Self::Before => out.push_str(found.before()),
            Self::After => out.push_str(found.after()),
            Self::Number { first, second } => append_group(*first, *second, found, out),
            Self::Name(name) => out.push_str(found.name(name).unwrap_or_default()),
        }
    }
}

/// Appends the group that one or two digits name, or the digits where they name none.
fn append_group(first: u8, second: Option<u8>, found: &Match<'_>, out: &mut String) {
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
        out.push_str(found.group(number).unwrap_or_default());
    } else {
        out.extend(['$', char::from(b'0' + first)]);
    }
    let literal = if is_group(number) { digit } else { second };
    out.extend(literal.map(|digit| char::from(b'0' + digit)));
}

/// Splits a replacement text; `$<name>` is a reference only if `names`.
fn pieces(text: &str, names: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        push_text(&mut pieces, before);
        let (piece, length) = reference(after, names);
        match piece {
            Some(piece) => pieces.push(piece),
            None => push_text(&mut pieces, "$"),
        }
        rest = after.get(length..).unwrap_or_default();
    }
    push_text(&mut pieces, rest);
    pieces
}

/// What follows a dollar sign, and its length; no piece where the sign stands for itself.
fn reference(after: &str, names: bool) -> (Option<Piece>, usize) {
    let digit = |index: usize| after.as_bytes().get(index).filter(|b| b.is_ascii_digit()).map(|b| b - b'0');
    match after.as_bytes().first() {
        // The second sign stays, as the one sign that is meant.
        Some(b'$') => (Some(Piece::Text("$".to_owned())), 1),
        Some(b'&') => (Some(Piece::Whole), 1),
        Some(b'`') => (Some(Piece::Before), 1),
        Some(b'\'') => (Some(Piece::After), 1),
        Some(b'<') if names => match after.find('>') {
            Some(end) => (Some(Piece::Name(after.get(1..end).unwrap_or_default().to_owned())), end + 1),
            None => (None, 0),
        },
        _ => match (digit(0), digit(1)) {
            (Some(first), second) => {
                (Some(Piece::Number { first, second }), 1 + usize::from(second.is_some()))
            }
            (None, _) => (None, 0),
        },
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(last)) => last.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}
