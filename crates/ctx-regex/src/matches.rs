//! Matches and the iteration over them.

use std::iter::FusedIterator;
use std::ops::Range;

use crate::Error;
use crate::ast::Groups;
use crate::backtrack::next_char;
use crate::engine::Search;
use crate::steps::StepBudget;

/// One match, with what its groups matched.
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
    /// What each group from 1 on matched; empty if nobody asked.
    groups: Box<[Option<Range<usize>>]>,
    known: &'a Groups,
}

impl<'a> Match<'a> {
    /// Where the match is, in bytes of the text; both ends are character boundaries.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// What was matched.
    pub fn as_str(&self) -> &'a str {
        self.slice(self.range.clone())
    }

    /// The text before the match.
    pub fn before(&self) -> &'a str {
        self.slice(0..self.range.start)
    }

    /// The text behind the match.
    pub fn after(&self) -> &'a str {
        self.slice(self.range.end..self.text.len())
    }

    /// How many groups the pattern has, group 0 not counted.
    pub fn group_count(&self) -> usize {
        self.known.count()
    }

    /// Where group `number` matched; `None` if it took no part, or if there is no such group.
    ///
    /// Group 0 is the whole match.
    pub fn group_range(&self, number: usize) -> Option<Range<usize>> {
        match number.checked_sub(1) {
            None => Some(self.range.clone()),
            Some(index) => self.groups.get(index)?.clone(),
        }
    }

    /// What group `number` matched; `None` if it took no part, or if there is no such group.
    pub fn group(&self, number: usize) -> Option<&'a str> {
        self.group_range(number).map(|range| self.slice(range))
    }

    /// What the group called `name` matched; `None` if it took no part, or if there is no such group.
    pub fn name(&self, name: &str) -> Option<&'a str> {
        self.group(self.known.number(name)?)
    }

    /// Whether any group of the pattern has a name.
    pub(crate) fn has_names(&self) -> bool {
        self.known.are_named()
    }

    fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }
}

/// The matches of a [`Regex`](crate::Regex) in a text, from left to right.
///
/// A search that is given up is the last item.
#[derive(Debug)]
pub struct Matches<'a> {
    search: Search<'a>,
    known: &'a Groups,
    /// Where the next search begins; `None` once there can be no further match.
    at: Option<usize>,
    budget: StepBudget<'a>,
}

impl<'a> Matches<'a> {
    pub(crate) fn new(search: Search<'a>, known: &'a Groups, budget: StepBudget<'a>) -> Self {
        Self { search, known, at: Some(0), budget }
    }

    fn find_at(&mut self, at: usize) -> Result<Option<Match<'a>>, Error> {
        let Some(range) = self.search.find_at(at, self.budget.steps())? else { return Ok(None) };
        let groups = match self.search.tells_groups() {
            true => (1..=self.known.count()).map(|number| self.search.group(number)).collect(),
            false => Box::default(),
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
