use crate::Error;
use crate::matches::Match;

/// A parsed replacement text with `$` references.
///
/// [`Replacement::parse`] supports JavaScript's syntax. For other syntaxes, use [`Replacement::parse_with`]
/// or convert a `Vec<ReplacementPart>`.
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
    /// Literal text.
    Text(String),
    /// The match.
    Match,
    /// Text before the match.
    Before,
    /// Text after the match.
    After,
    /// Text of a numbered group; empty if unset. Group 0 is the match.
    Group {
        /// Number of the group.
        number: usize,
        /// Used if the pattern has no such group.
        otherwise: Vec<ReplacementPart>,
    },
    /// Text of a named group; empty if it is unset, or unknown in a pattern with named groups.
    Name {
        /// Name of the group.
        name: String,
        /// Used if the pattern has no named groups.
        otherwise: Vec<ReplacementPart>,
    },
}

/// A part, and its length after the dollar sign.
type PartWithLength = (ReplacementPart, usize);

impl Replacement {
    /// Parses a replacement text like JavaScript's `String.prototype.replace` (ECMA-262 `GetSubstitution`).
    /// Never fails.
    ///
    /// `$$` is a dollar sign, `$&` the match, `` $` `` and `$'` the text before and after it, `$1` to `$99` a
    /// group, and `$<name>` a named group. An unset group is empty. An unknown number is literal, except that
    /// 2 digits become a group and a digit if the first digit is a known group. `$<` is literal unless the
    /// pattern has named groups; then an unknown name is empty.
    pub fn parse(text: &str) -> Self {
        Self::parse_with(text, |_| None)
    }

    /// Like [`Replacement::parse`], with additional references.
    ///
    /// `more` receives the text after a dollar sign that has no meaning in JavaScript. It returns the part
    /// and the number of bytes consumed after the sign.
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

    /// Creates a replacement with exactly `text`, including dollar signs.
    pub fn literal(text: &str) -> Self {
        Self::from(vec![ReplacementPart::Text(text.to_owned())])
    }

    /// Returns the text if it does not depend on the match.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [ReplacementPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn reads_groups(&self) -> bool {
        let is_group =
            |part: &_| matches!(part, ReplacementPart::Group { .. } | ReplacementPart::Name { .. });
        self.parts.iter().any(is_group)
    }

    /// Appends the replacement of `found`. `write` appends text taken from the match.
    ///
    /// Its second argument is `true` for a group ([`ReplacementPart::Group`], including group 0, and
    /// [`ReplacementPart::Name`]) and `false` for the match and the text before and after it.
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
    /// Merges adjacent texts.
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
    /// At most 3 levels deep after [`Replacement::parse`].
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

fn parts(text: &str, more: &dyn Fn(&str) -> Option<PartWithLength>, names: bool) -> Vec<ReplacementPart> {
    let mut parts = Vec::new();
    let mut rest = text;
    // No name ends after the last `>`.
    let last = text.rfind('>').unwrap_or(0);
    while let Some((before, behind)) = rest.split_once('$') {
        parts.push(ReplacementPart::Text(before.to_owned()));
        let special = &rest[before.len()..];
        let read = reference(behind)
            .or_else(|| {
                let may_have_name = names && text.len() - special.len() < last;
                if may_have_name { named_group(special, more) } else { None }
            })
            .or_else(|| more(behind));
        let (part, length) = read.unwrap_or_else(|| (ReplacementPart::Text("$".to_owned()), 0));
        parts.push(part);
        rest = &behind[length..];
    }
    parts.push(ReplacementPart::Text(rest.to_owned()));
    parts
}

fn reference(behind: &str) -> Option<PartWithLength> {
    let digit = |index: usize| behind.as_bytes().get(index).filter(|byte| byte.is_ascii_digit()).copied();
    let part = match behind.as_bytes().first()? {
        b'$' => ReplacementPart::Text("$".to_owned()),
        b'&' => ReplacementPart::Match,
        b'`' => ReplacementPart::Before,
        b'\'' => ReplacementPart::After,
        _ => {
            return digit(0)
                .map(|first| (numbered_group(first, digit(1)), 1 + usize::from(digit(1).is_some())));
        }
    };
    Some((part, 1))
}

/// Prefers 2 digits, then the first digit, then literal text.
fn numbered_group(first: u8, second: Option<u8>) -> ReplacementPart {
    let group = |number: u8, written: String| {
        let text = ReplacementPart::Text(written);
        match number {
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

/// Without named groups, parses the characters again.
fn named_group(special: &str, more: &dyn Fn(&str) -> Option<PartWithLength>) -> Option<PartWithLength> {
    let (name, _) = special.strip_prefix("$<")?.split_once('>')?;
    let length = name.len() + "<>".len();
    let otherwise = parts(special.get(..length + "$".len())?, more, false);
    Some((ReplacementPart::Name { name: name.to_owned(), otherwise }, length))
}
