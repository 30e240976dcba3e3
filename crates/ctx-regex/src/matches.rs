//! Matches and the iteration over them.

use std::iter::FusedIterator;
use std::ops::Range;

use crate::ast::Groups;
use crate::engine::{Engine, Slots};

/// One match, with what its groups matched.
///
/// ```
/// use ctx_regex::{Flags, Limits, Regex};
///
/// let regex = Regex::new(r"(?<who>\w+):( *)", Flags::NONE, &Limits::default())?;
/// let found = regex.find("<Mia: hi").unwrap();
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
#[derive(Clone, Debug)]
pub struct Matches<'a> {
    engine: &'a Engine,
    known: &'a Groups,
    sticky: bool,
    text: &'a str,
    /// Where the next search begins; `None` once there can be no further match.
    at: Option<usize>,
    /// Room for groups, where the pattern has any and they are wanted.
    slots: Option<Slots>,
}

impl<'a> Matches<'a> {
    pub(crate) fn new(engine: &'a Engine, known: &'a Groups, sticky: bool, text: &'a str) -> Self {
        let slots = (known.count() > 0).then(|| engine.slots());
        Self { engine, known, sticky, text, at: Some(0), slots }
    }

    /// Finds groups only if `wanted`; a search without them is much faster.
    pub(crate) fn with_groups(mut self, wanted: bool) -> Self {
        self.slots = self.slots.filter(|_| wanted);
        self
    }

    fn search(&mut self, at: usize) -> Option<Match<'a>> {
        let range = match &mut self.slots {
            Some(slots) => self.engine.captures_at(slots, self.text, at)?,
            None => self.engine.find_at(self.text, at)?,
        };
        // The leftmost match begins later exactly if none begins here.
        if self.sticky && range.start != at {
            return None;
        }
        let groups = match &self.slots {
            Some(slots) => (1..=self.known.count()).map(|number| slots.get(number)).collect(),
            None => Box::default(),
        };
        Some(Match { text: self.text, range, groups, known: self.known })
    }
}

impl<'a> Iterator for Matches<'a> {
    type Item = Match<'a>;

    fn next(&mut self) -> Option<Match<'a>> {
        let found = self.at.take().and_then(|at| self.search(at))?;
        let end = found.range.end;
        self.at = if found.range.is_empty() { next_char(self.text, end) } else { Some(end) };
        Some(found)
    }
}

impl FusedIterator for Matches<'_> {}

/// The offset behind the character at `offset`; `None` at the end of the text.
fn next_char(text: &str, offset: usize) -> Option<usize> {
    let c = text.get(offset..)?.chars().next()?;
    Some(offset + c.len_utf8())
}
