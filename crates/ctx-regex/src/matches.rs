use std::iter::FusedIterator;
use std::ops::Range;

use crate::Error;
use crate::ast::Groups;
use crate::backtrack::next_char;
use crate::engine::Search;
use crate::steps::StepBudget;

/// A match and its groups.
///
/// ```
/// use ctx_regex::{Flags, Limits, Regex};
///
/// let regex = Regex::new(r"(?<who>\w+):( *)", Flags::NONE, &Limits::default())?;
/// let found = regex.find("<Mia: hi")?.unwrap();
/// assert_eq!((found.as_str(), found.range()), ("Mia: ", 1..6));
/// assert_eq!(found.name("who"), Some("Mia"));
/// assert_eq!(found.group(2), Some(" "));
/// # Ok::<(), ctx_regex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Match<'a> {
    text: &'a str,
    range: Range<usize>,
    /// From group 1; empty if not requested.
    groups: Box<[Option<Range<usize>>]>,
    known: &'a Groups,
}

impl<'a> Match<'a> {
    /// Returns the byte range; both ends are character boundaries.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the matched text.
    pub fn as_str(&self) -> &'a str {
        self.slice(self.range.clone())
    }

    /// Returns the text before the match.
    pub fn before(&self) -> &'a str {
        self.slice(0..self.range.start)
    }

    /// Returns the text after the match.
    pub fn after(&self) -> &'a str {
        self.slice(self.range.end..self.text.len())
    }

    /// Returns the number of groups, without group 0.
    pub fn group_count(&self) -> usize {
        self.known.count()
    }

    /// Returns the byte range of a group. `None` if the group is unset or does not exist.
    ///
    /// Group 0 is the whole match.
    pub fn group_range(&self, number: usize) -> Option<Range<usize>> {
        match number.checked_sub(1) {
            None => Some(self.range.clone()),
            Some(index) => self.groups.get(index)?.clone(),
        }
    }

    /// Returns the text of a group. `None` if the group is unset or does not exist.
    pub fn group(&self, number: usize) -> Option<&'a str> {
        self.group_range(number).map(|range| self.slice(range))
    }

    /// Returns the text of a named group. `None` if the group is unset or does not exist.
    pub fn name(&self, name: &str) -> Option<&'a str> {
        self.group(self.known.number(name)?)
    }

    pub(crate) fn has_names(&self) -> bool {
        self.known.are_named()
    }

    fn slice(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }
}

/// Iterator over the matches of a [`Regex`](crate::Regex), from left to right.
///
/// If the search fails, the error is the last item.
#[derive(Debug)]
pub struct Matches<'a> {
    search: Search<'a>,
    known: &'a Groups,
    at: Option<usize>,
    budget: StepBudget<'a>,
}

impl<'a> Matches<'a> {
    pub(crate) fn new(search: Search<'a>, known: &'a Groups, budget: StepBudget<'a>) -> Self {
        Self { search, known, at: Some(0), budget }
    }

    fn find_at(&mut self, at: usize) -> Result<Option<Match<'a>>, Error> {
        let Some(range) = self.search.find_at(at, self.budget.steps())? else { return Ok(None) };
        let groups = if self.search.has_groups() {
            (1..=self.known.count()).map(|number| self.search.group(number)).collect()
        } else {
            Box::default()
        };
        Ok(Some(Match { text: self.search.text(), range, groups, known: self.known }))
    }
}

impl<'a> Iterator for Matches<'a> {
    type Item = Result<Match<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at.take()?;
        let found = match self.find_at(at) {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        let end = found.range.end;
        self.at = if found.range.is_empty() { next_char(found.text, end) } else { Some(end) };
        Some(Ok(found))
    }
}

impl FusedIterator for Matches<'_> {}
