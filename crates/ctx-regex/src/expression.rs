//! The compiled regular expression and its replacement loop.

use std::borrow::Cow;
use std::ops::Range;

use crate::ast::Groups;
use crate::engine::{Engine, Search};
use crate::matches::{Match, Matches};
use crate::steps::StepBudget;
use crate::{Error, Flags, Limits, Reach, Replacement, Steps};

/// A text brings one step for so many bytes, so that looking at all of it once is never too much.
const BYTES_PER_FREE_STEP: u64 = 8;

/// A JavaScript regular expression, compiled.
///
/// A search takes time linear in the text where the pattern allows that ([`Regex::is_linear`]); otherwise it
/// may be given up for taking too many [`Steps`]. Each call has [`Limits::steps`] of them, or those that the
/// caller lends. Cloning is cheap.
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
    limits: Limits,
}

impl Regex {
    /// Compiles `pattern`, the text that JavaScript's `new RegExp(pattern, flags)` takes.
    ///
    /// # Errors
    ///
    /// Every [`Error`] of which [`Error::is_of_pattern`] is true, but [`Error::UnknownFlag`] and
    /// [`Error::DuplicateFlag`].
    pub fn new(pattern: &str, flags: Flags, limits: &Limits) -> Result<Self, Error> {
        let (engine, groups) = Engine::compile(pattern, flags, limits)?;
        Ok(Self { pattern: pattern.into(), flags, engine, groups, limits: *limits })
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

    /// Whether searches take time linear in the text.
    ///
    /// False for patterns with lookaround, references to groups, more than [`Limits::positions`] or [`Limits::building`], and loops whose body
    /// may be empty, unless each iteration is required as in `(?:a?){2}`. Even if this is true, backtracking may be
    /// needed for what groups hold, and for texts with other ends of lines than `\n` if `^` or `$` means lines.
    pub fn is_linear(&self) -> bool {
        self.engine.is_linear()
    }

    /// How long building the linear engine took, in estimated half microseconds; 0 without one.
    ///
    /// Who builds many patterns of a stranger lowers [`Limits::building`] by it, so that all together have a limit.
    pub fn building(&self) -> usize {
        self.engine.building()
    }

    /// Texts in lower case, one of which stands in the lower-case form of every match; none if there are none.
    ///
    /// A text whose lower-case form ([`str::to_lowercase`]) holds none of them is not matched, so that many
    /// patterns can be told apart by one search for all their texts.
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Regex};
    ///
    /// let regex = Regex::new(r"\b(?:Dragon|wyrm)s?\b", Flags::NONE, &Limits::default())?;
    /// assert!(regex.required_literals().iter().map(|literal| &**literal).eq(["dragon", "wyrm"]));
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    pub fn required_literals(&self) -> &[Box<str>] {
        self.engine.required_literals()
    }

    /// How much text one match can be about; all of it with the flag `y`, which looks at the start alone.
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Reach, Regex};
    ///
    /// let reach = |pattern: &str| Ok(Regex::new(pattern, Flags::NONE, &Limits::default())?.reach());
    /// assert_eq!(reach(r"\bdragons?\b")?, Reach::Line);
    /// assert_eq!(reach(r"dragon[^]*wyrm")?, Reach::Text);
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    pub fn reach(&self) -> Reach {
        if self.flags.contains(Flags::STICKY) { Reach::Text } else { self.engine.reach() }
    }

    /// Whether the form of the pattern shows that no text matches it.
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Regex};
    ///
    /// let never = |pattern: &str| Ok(Regex::new(pattern, Flags::NONE, &Limits::default())?.never_matches());
    /// assert!(never(r"moon(?!)")?);
    /// assert!(!never(r"moon|(?!)")?);
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    pub fn never_matches(&self) -> bool {
        self.engine.is_unsatisfiable()
    }

    /// Where the first match is that begins at or after the byte `start`, a character boundary; with the flag `y`
    /// the one that begins there. The text before it is looked at by `^`, `\b` and their kin.
    ///
    /// # Errors
    ///
    /// As [`Regex::is_match`].
    pub fn find_from_within(
        &self,
        text: &str,
        start: usize,
        steps: &mut Steps,
    ) -> Result<Option<Range<usize>>, Error> {
        let sticky = self.flags.contains(Flags::STICKY);
        Search::new(&self.engine, text, sticky, false).find_at(start, steps)
    }

    /// Whether the pattern matches somewhere in `text`, or with the flag `y` at its start.
    ///
    /// # Errors
    ///
    /// The search may be given up: [`Error::TooManySteps`], [`Error::TooManyBranches`],
    /// [`Error::TextTooLong`].
    pub fn is_match(&self, text: &str) -> Result<bool, Error> {
        self.is_match_within(text, &mut self.steps(text))
    }

    /// As [`Regex::is_match`], with steps that the caller lends.
    ///
    /// # Errors
    ///
    /// As [`Regex::is_match`].
    pub fn is_match_within(&self, text: &str, steps: &mut Steps) -> Result<bool, Error> {
        Ok(self.matches(text, false, StepBudget::Lent(steps)).next().transpose()?.is_some())
    }

    /// The first match in `text`.
    ///
    /// # Errors
    ///
    /// As [`Regex::is_match`].
    pub fn find<'a>(&'a self, text: &'a str) -> Result<Option<Match<'a>>, Error> {
        self.find_iter(text).next().transpose()
    }

    /// All matches in `text`, with or without the flag `g`.
    ///
    /// They follow JavaScript: after an empty match the search goes on one character later, and a
    /// match may be empty right behind the one before. With the flag `y` they are contiguous from the
    /// start of the text. All of them together have [`Limits::steps`]; a search that is given up is the last
    /// item, as an error of [`Regex::is_match`].
    ///
    /// ```
    /// use ctx_regex::{Flags, Limits, Regex};
    ///
    /// let regex = Regex::new("x*", Flags::GLOBAL, &Limits::default())?;
    /// let found: Vec<_> = regex.find_iter("axb").map(|m| Ok(m?.range())).collect::<Result<_, _>>()?;
    /// assert_eq!(found, [0..0, 1..2, 2..2, 3..3]);
    /// # Ok::<(), ctx_regex::Error>(())
    /// ```
    pub fn find_iter<'a>(&'a self, text: &'a str) -> Matches<'a> {
        self.matches(text, true, StepBudget::Own(self.steps(text)))
    }

    /// As [`Regex::find_iter`], with steps that the caller lends.
    pub fn find_iter_within<'a>(&'a self, text: &'a str, steps: &'a mut Steps) -> Matches<'a> {
        self.matches(text, true, StepBudget::Lent(steps))
    }

    /// Replaces the first match, or with the flag `g` every match; borrows `text` if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooLong`] if the result exceeds [`Limits::output_bytes`], and those of
    /// [`Regex::is_match`].
    pub fn replace<'t>(&self, text: &'t str, replacement: &Replacement) -> Result<Cow<'t, str>, Error> {
        let matches = self.matches(text, replacement.reads_groups(), StepBudget::Own(self.steps(text)));
        self.rewrite(text, matches, |found, out| replacement.append(found, out, self.limits.output_bytes))
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
    /// As [`Regex::replace`].
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

    /// The steps of one call.
    fn steps(&self, text: &str) -> Steps {
        Steps::new(self.limits.steps.saturating_add(text.len() as u64 / BYTES_PER_FREE_STEP))
    }

    fn matches<'a>(&'a self, text: &'a str, wants_groups: bool, budget: StepBudget<'a>) -> Matches<'a> {
        let sticky = self.flags.contains(Flags::STICKY);
        let search = Search::new(&self.engine, text, sticky, wants_groups && self.groups.count() > 0);
        Matches::new(search, &self.groups, budget)
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
            let found = found?;
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
        if bytes > self.limits.output_bytes {
            Err(Error::OutputTooLong { limit: self.limits.output_bytes })
        } else {
            Ok(())
        }
    }
}
