//! Replacement texts, in which `$` refers to parts of a match.

use crate::Error;
use crate::matches::Match;

/// A replacement text, read once and written for each match.
///
/// [`Replacement::parse`] reads the grammar of JavaScript; whoever has a grammar of their own adds to it by
/// [`Replacement::parse_with`], or makes the parts: a `Vec<ReplacementPart>` is a replacement by `From`.
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
    parts: Vec<ReplacementPart>,
}

/// A part of a [`Replacement`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplacementPart {
    /// A text that is the same for each match.
    Text(String),
    /// What was matched.
    Match,
    /// The text before the match.
    Before,
    /// The text behind the match.
    After,
    /// What the group of that number matched, if anything; group 0 is the match.
    Group {
        /// The number of the group.
        number: usize,
        /// What is written if the pattern has no such group.
        otherwise: Vec<ReplacementPart>,
    },
    /// What the group of that name matched, if anything; nothing if another group has a name, and this is none.
    Name {
        /// The name of the group.
        name: String,
        /// What is written if no group of the pattern has a name.
        otherwise: Vec<ReplacementPart>,
    },
}

/// What a grammar reads behind a dollar sign, and how many bytes of the text that is.
type Reference = (ReplacementPart, usize);

impl Replacement {
    /// Reads a replacement text as JavaScript's `String.prototype.replace` does (ECMA-262 `GetSubstitution`);
    /// every text is one.
    ///
    /// `$$` is a dollar sign, `$&` the match, `` $` `` and `$'` the text before and behind it, `$1` to `$99`
    /// a group, `$<name>` a named group. A group that took no part is empty. A number without a group
    /// stays as written, except that two digits are then one and a literal digit if that is a group.
    /// `$<` is literal unless the pattern names a group; an unknown name is then empty.
    pub fn parse(text: &str) -> Self {
        Self::parse_with(text, |_| None)
    }

    /// As [`Replacement::parse`], with references of another grammar.
    ///
    /// `more` is given what stands behind a dollar sign to which JavaScript gives no meaning, and returns the part that
    /// it stands for, if any, and how many bytes behind the sign belong to it.
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Regex, Replacement, ReplacementPart};
    ///
    /// let regex = Regex::new("(b)", Flags::NONE, &Limits::default())?;
    /// let more = |behind: &str| behind.starts_with("MATCH").then_some((ReplacementPart::Match, 5));
    /// assert_eq!(regex.replace("abc", &Replacement::parse_with("[$1|$MATCH]", more))?, "a[b|b]c");
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    pub fn parse_with(text: &str, more: impl Fn(&str) -> Option<(ReplacementPart, usize)>) -> Self {
        Self::from(parts(text, &more, true))
    }

    /// A replacement that is exactly `text`, dollar signs included.
    pub fn literal(text: &str) -> Self {
        Self::from(vec![ReplacementPart::Text(text.to_owned())])
    }

    /// Returns the text if nothing of it depends on the match.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [ReplacementPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether any part refers to a group.
    pub(crate) fn reads_groups(&self) -> bool {
        let is_group =
            |part: &_| matches!(part, ReplacementPart::Group { .. } | ReplacementPart::Name { .. });
        self.parts.iter().any(is_group)
    }

    /// Writes what `found` is replaced with; `write` appends what is taken from the text.
    ///
    /// It is called with `true` for a group ([`ReplacementPart::Group`], the one with the number 0 too, and
    /// [`ReplacementPart::Name`]), and with `false` for the rest: the match, and what stands before and behind it.
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
        self.parts.iter().for_each(|part| part.append(found, out, write));
    }

    /// Appends what `found` is replaced with, and gives up when `out` is longer than `limit`.
    pub(crate) fn append(&self, found: &Match<'_>, out: &mut String, limit: usize) -> Result<(), Error> {
        for part in &self.parts {
            part.append(found, out, &mut |text, _, out| out.push_str(text));
            if out.len() > limit {
                return Err(Error::OutputTooLong { limit });
            }
        }
        Ok(())
    }
}

impl From<Vec<ReplacementPart>> for Replacement {
    /// Neighbouring texts become one.
    fn from(parts: Vec<ReplacementPart>) -> Self {
        let mut joined: Vec<ReplacementPart> = Vec::with_capacity(parts.len());
        for part in parts {
            match (joined.last_mut(), part) {
                (_, ReplacementPart::Text(text)) if text.is_empty() => {}
                (Some(ReplacementPart::Text(last)), ReplacementPart::Text(text)) => last.push_str(&text),
                (_, part) => joined.push(part),
            }
        }
        Self { parts: joined }
    }
}

impl ReplacementPart {
    /// Recursion is as deep as parts hold others: three times, in what [`Replacement::parse`] reads.
    fn append(&self, found: &Match<'_>, out: &mut String, write: &mut dyn FnMut(&str, bool, &mut String)) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Match => write(found.as_str(), false, out),
            Self::Before => write(found.before(), false, out),
            Self::After => write(found.after(), false, out),
            Self::Group { number, .. } if *number <= found.group_count() => {
                write(found.group(*number).unwrap_or_default(), true, out);
            }
            Self::Name { name, .. } if found.has_names() => {
                write(found.name(name).unwrap_or_default(), true, out);
            }
            Self::Group { otherwise, .. } | Self::Name { otherwise, .. } => {
                for part in otherwise {
                    part.append(found, out, write);
                }
            }
        }
    }
}

/// Splits a replacement text; `$<name>` is a reference only if `names`.
fn parts(text: &str, more: &dyn Fn(&str) -> Option<Reference>, names: bool) -> Vec<ReplacementPart> {
    let mut parts = Vec::new();
    let mut rest = text;
    // No name ends after the last `>`, so the search stops there.
    let last = text.rfind('>').unwrap_or(0);
    while let Some((before, behind)) = rest.split_once('$') {
        parts.push(ReplacementPart::Text(before.to_owned()));
        let special = rest.get(before.len()..).unwrap_or_default();
        let read = reference(behind)
            .or_else(|| {
                let may_have_name = names && text.len() - special.len() < last;
                if may_have_name { named(special, more) } else { None }
            })
            .or_else(|| more(behind));
        let (part, length) = read.unwrap_or_else(|| (ReplacementPart::Text("$".to_owned()), 0));
        parts.push(part);
        rest = behind.get(length..).unwrap_or_default();
    }
    parts.push(ReplacementPart::Text(rest.to_owned()));
    parts
}

/// What begins behind a dollar sign, whatever the pattern.
fn reference(behind: &str) -> Option<Reference> {
    let digit = |index: usize| behind.as_bytes().get(index).filter(|byte| byte.is_ascii_digit()).copied();
    let part = match behind.as_bytes().first()? {
        b'$' => ReplacementPart::Text("$".to_owned()),
        b'&' => ReplacementPart::Match,
        b'`' => ReplacementPart::Before,
        b'\'' => ReplacementPart::After,
        _ => return digit(0).map(|first| (numbered(first, digit(1)), 1 + usize::from(digit(1).is_some()))),
    };
    Some((part, 1))
}

/// The group that one or two digits name: the one of both, otherwise that of the first, otherwise none.
fn numbered(first: u8, second: Option<u8>) -> ReplacementPart {
    let group = |number: u8, written: String| {
        let text = ReplacementPart::Text(written);
        match number {
            // There is no group 0.
            0 => text,
            _ => ReplacementPart::Group { number: usize::from(number), otherwise: vec![text] },
        }
    };
    let short = group(first - b'0', format!("${}", char::from(first)));
    let Some(second) = second else { return short };
    let digit = ReplacementPart::Text(char::from(second).to_string());
    match (first - b'0') * 10 + (second - b'0') {
        0 => ReplacementPart::Text("$00".to_owned()),
        number => ReplacementPart::Group { number: usize::from(number), otherwise: vec![short, digit] },
    }
}

/// Reads `$<name>`, which is read without names where no group has one.
fn named(special: &str, more: &dyn Fn(&str) -> Option<Reference>) -> Option<Reference> {
    let (name, _) = special.strip_prefix("$<")?.split_once('>')?;
    let length = name.len() + "<>".len();
    let otherwise = parts(special.get(..length + "$".len())?, more, false);
    Some((ReplacementPart::Name { name: name.to_owned(), otherwise }, length))
}
