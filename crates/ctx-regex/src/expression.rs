//! The compiled regular expression and its replacement loop.

use std::borrow::Cow;

use crate::ast::Groups;
use crate::engine::Engine;
use crate::matches::{Match, Matches};
use crate::{Error, Flags, Limits, Replacement, translate};

/// A JavaScript regular expression, compiled.
///
/// Each search takes time linear in the text, whatever the pattern: at most that of [`Limits::positions`]
/// steps for each byte. Going through all matches is at worst quadratic. Cloning is cheap.
///
/// ```
/// use ctx_regex::{Flags, Limits, Regex, Replacement};
///
/// let bold = Regex::new(r"\*([^*]+)\*", Flags::GLOBAL, &Limits::default())?;
/// let italic = Replacement::parse("_$1_");
/// assert_eq!(bold.replace("a *b* *c*", &italic)?, "a _b_ _c_");
/// # Ok::<(), ctx_regex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Regex {
    pattern: Box<str>,
    flags: Flags,
    engine: Engine,
    groups: Groups,
    output_bytes: usize,
}

impl Regex {
    /// Compiles `pattern`, the text that JavaScript's `new RegExp(pattern, flags)` takes.
    ///
    /// # Errors
    ///
    /// Every [`Error`] but [`Error::OutputTooLong`], [`Error::UnknownFlag`] and
    /// [`Error::DuplicateFlag`].
    pub fn new(pattern: &str, flags: Flags, limits: &Limits) -> Result<Self, Error> {
        let (engine, groups) = translate::compile(pattern, flags, limits)?;
        Ok(Self { pattern: pattern.into(), flags, engine, groups, output_bytes: limits.output_bytes })
    }

    /// The pattern as it was given.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The flags that were given.
    pub fn flags(&self) -> Flags {
        self.flags
    }

    /// How many capture groups the pattern has; group 0, the whole match, is not counted.
    pub fn group_count(&self) -> usize {
        self.groups.count()
    }

    /// Whether the pattern matches somewhere in `text`, or with the flag `y` at its start.
    pub fn is_match(&self, text: &str) -> bool {
        if self.flags.contains(Flags::STICKY) {
            self.engine.find_at(text, 0).is_some_and(|found| found.start == 0)
        } else {
            self.engine.is_match(text)
        }
    }

    /// The first match in `text`.
    pub fn find<'a>(&'a self, text: &'a str) -> Option<Match<'a>> {
        self.find_iter(text).next()
    }

    /// All matches in `text`, with or without the flag `g`.
    ///
    /// They follow JavaScript: after an empty match the search goes on one character later, and a
    /// match may be empty right behind the one before. With the flag `y` they are contiguous from the
    /// start of the text.
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Regex};
    ///
    /// let regex = Regex::new("x*", Flags::GLOBAL, &Limits::default())?;
    /// let found: Vec<_> = regex.find_iter("axb").map(|m| m.range()).collect();
    /// assert_eq!(found, [0..0, 1..2, 2..2, 3..3]);
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    pub fn find_iter<'a>(&'a self, text: &'a str) -> Matches<'a> {
        Matches::new(&self.engine, &self.groups, self.flags.contains(Flags::STICKY), text)
    }

    /// Replaces the first match, or with the flag `g` every match; borrows `text` if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooLong`] if the result exceeds [`Limits::output_bytes`].
    pub fn replace<'t>(&self, text: &'t str, replacement: &Replacement) -> Result<Cow<'t, str>, Error> {
        let matches = self.find_iter(text).with_groups(replacement.reads_groups());
        self.rewrite(text, matches, |found, out| replacement.append(found, out, self.output_bytes))
    }

    /// As [`Regex::replace`], with what `write` appends for each match.
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Regex};
    ///
    /// let regex = Regex::new(r"\d+", Flags::GLOBAL, &Limits::default())?;
    /// let text = regex.replace_with("7 and 12", |found, out| out.push_str(&"#".repeat(found.as_str().len())))?;
    /// assert_eq!(text, "# and ##");
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooLong`] if the result exceeds [`Limits::output_bytes`].
    pub fn replace_with<'t>(
        &self,
        text: &'t str,
        mut write: impl FnMut(&Match<'_>, &mut String),
    ) -> Result<Cow<'t, str>, Error> {
        self.rewrite(text, self.find_iter(text), |found, out| {
            write(found, out);
            Ok(())
        })
    }

    fn rewrite<'t>(
        &self,
        text: &'t str,
        matches: Matches<'_>,
        mut write: impl FnMut(&Match<'_>, &mut String) -> Result<(), Error>,
    ) -> Result<Cow<'t, str>, Error> {
        let count = if self.flags.contains(Flags::GLOBAL) { usize::MAX } else { 1 };
        let mut out = String::new();
        let mut copied = None;
        for found in matches.take(count) {
            out.push_str(text.get(copied.unwrap_or(0)..found.range().start).unwrap_or_default());
            write(&found, &mut out)?;
            self.check_length(out.len())?;
            copied = Some(found.range().end);
        }
        let Some(copied) = copied else { return Ok(Cow::Borrowed(text)) };
        let rest = text.get(copied..).unwrap_or_default();
        self.check_length(out.len() + rest.len())?;
        out.push_str(rest);
        Ok(Cow::Owned(out))
    }

    fn check_length(&self, bytes: usize) -> Result<(), Error> {
        if bytes > self.output_bytes {
            Err(Error::OutputTooLong { limit: self.output_bytes })
        } else {
            Ok(())
        }
    }
}
