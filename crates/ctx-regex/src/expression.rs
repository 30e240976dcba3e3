use std::borrow::Cow;
use std::ops::Range;

use crate::ast::Groups;
use crate::engine::{Engine, Search};
use crate::matches::{Match, Matches};
use crate::steps::StepBudget;
use crate::{Error, Flags, Limits, Replacement, Steps};

/// Bytes of text per additional step, enough to scan each text once.
const BYTES_PER_FREE_STEP: u64 = 8;

/// A compiled JavaScript regular expression.
///
/// A search is linear in the text if [`Regex::is_linear`]. Otherwise it may fail after too many [`Steps`]:
/// [`Limits::steps`] per call, or the steps of the caller. Cheap to clone.
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
    /// Compiles `pattern`, as passed to JavaScript's `new RegExp(pattern, flags)`.
    ///
    /// # Errors
    ///
    /// Any [`Error`] about a pattern or its flags, except [`Error::UnknownFlag`] and [`Error::DuplicateFlag`].
    pub fn new(pattern: &str, flags: Flags, limits: &Limits) -> Result<Self, Error> {
        let (engine, groups) = Engine::compile(pattern, flags, limits)?;
        Ok(Self { pattern: pattern.into(), flags, engine, groups, limits: *limits })
    }

    /// Returns the source of the pattern.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns the flags.
    pub fn flags(&self) -> Flags {
        self.flags
    }

    /// Whether searches are linear in the text.
    ///
    /// False for lookaround, backreferences, patterns beyond [`Limits::build_cost`],
    /// and loops with a possibly empty body, unless every iteration is required as in `(?:a?){2}`. Even if
    /// true, groups may need backtracking, and so may texts with line ends other than `\n` if `^` or `$`
    /// matches at lines.
    pub fn is_linear(&self) -> bool {
        self.engine.is_linear()
    }

    /// Returns the estimated time to build the linear engine, in half microseconds; 0 without a linear
    /// engine.
    ///
    /// To limit the total time for many untrusted patterns, subtract it from [`Limits::build_cost`].
    pub fn build_cost(&self) -> usize {
        self.engine.build_cost()
    }

    /// Returns lower-case texts. The lower-case form of every match contains at least one of them. Empty if
    /// there are no such texts.
    ///
    /// A text whose lower-case form ([`str::to_lowercase`]) contains none of them cannot match. One search
    /// for the texts of many patterns finds the patterns that may match.
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

    /// Returns the range of the first match, with the steps of the caller.
    ///
    /// # Errors
    ///
    /// As for [`Regex::is_match`].
    pub fn find_within(&self, text: &str, steps: &mut Steps) -> Result<Option<Range<usize>>, Error> {
        let sticky = self.flags.contains(Flags::STICKY);
        Search::new(&self.engine, text, sticky, false).find_at(0, steps)
    }

    /// Returns whether the pattern matches anywhere in `text`, or with the flag `y` at its start.
    ///
    /// # Errors
    ///
    /// [`Error::TooManySteps`], [`Error::TooManyBranches`], or [`Error::TextTooLong`].
    pub fn is_match(&self, text: &str) -> Result<bool, Error> {
        Ok(self.find_within(text, &mut self.steps(text))?.is_some())
    }

    /// Returns the first match.
    ///
    /// # Errors
    ///
    /// As for [`Regex::is_match`].
    pub fn find<'a>(&'a self, text: &'a str) -> Result<Option<Match<'a>>, Error> {
        self.find_iter(text).next().transpose()
    }

    /// Returns all matches, with or without the flag `g`.
    ///
    /// As in JavaScript, the search continues one character after an empty match, and an empty match may
    /// directly follow another match. With the flag `y`, matches are contiguous from the start. All matches
    /// share [`Limits::steps`]. The last item is an error of [`Regex::is_match`] if the search fails.
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

    /// Like [`Regex::find_iter`], with the steps of the caller.
    pub fn find_iter_within<'a>(&'a self, text: &'a str, steps: &'a mut Steps) -> Matches<'a> {
        self.matches(text, true, StepBudget::Lent(steps))
    }

    /// Replaces the first match, or with the flag `g` all matches. Borrows `text` if nothing matches.
    ///
    /// # Errors
    ///
    /// [`Error::OutputTooLong`] if the result exceeds [`Limits::output_bytes`], and the errors of
    /// [`Regex::is_match`].
    pub fn replace<'t>(&self, text: &'t str, replacement: &Replacement) -> Result<Cow<'t, str>, Error> {
        let count = if self.flags.contains(Flags::GLOBAL) { usize::MAX } else { 1 };
        let matches = self.matches(text, replacement.reads_groups(), StepBudget::Own(self.steps(text)));
        let mut out = String::new();
        let mut copied = None;
        for found in matches.take(count) {
            let found = found?;
            out.push_str(&text[copied.unwrap_or(0)..found.range().start]);
            replacement.append(&found, &mut out, self.limits.output_bytes)?;
            copied = Some(found.range().end);
        }
        let Some(copied) = copied else { return Ok(Cow::Borrowed(text)) };
        out.push_str(&text[copied..]);
        if out.len() > self.limits.output_bytes {
            return Err(Error::OutputTooLong { limit: self.limits.output_bytes });
        }
        Ok(Cow::Owned(out))
    }

    fn steps(&self, text: &str) -> Steps {
        Steps::new(self.limits.steps.saturating_add(text.len() as u64 / BYTES_PER_FREE_STEP))
    }

    fn matches<'a>(&'a self, text: &'a str, wants_groups: bool, budget: StepBudget<'a>) -> Matches<'a> {
        let sticky = self.flags.contains(Flags::STICKY);
        let search = Search::new(&self.engine, text, sticky, wants_groups && self.groups.count() > 0);
        Matches::new(search, &self.groups, budget)
    }
}
