//! What a scan is given.

use std::sync::Arc;

use ctx_types::{Segment, Text, TokenCounter};

use crate::draws::Draws;
use crate::set::Member;
use crate::source::Source;
use crate::timed::TimedState;

/// What a scan looks at.
#[derive(Clone, Copy, Debug)]
pub struct ScanInput<'a> {
    /// The messages of the conversation, oldest first; as many of the newest as are at hand.
    pub messages: &'a [ScanMessage],
    /// How many messages the conversation has, if not all are at hand.
    pub length: Option<u64>,
    /// How many of them the agent has said.
    pub answers: u64,
    /// Texts beside the conversation.
    pub sources: &'a ScanSources,
    /// Further texts that every entry looks at, such as an author's note.
    pub injected: &'a [Text],
    /// What is generated: `normal`, `continue`, `impersonate`, `swipe`, `regenerate`, `quiet`.
    pub trigger: &'a str,
    /// The names of the character, each as filters may know it.
    pub names: &'a [Arc<str>],
    /// The tags of the character; unknown if absent, and then filters by tags do not count.
    pub tags: Option<&'a [Arc<str>]>,
    /// The timed effects that earlier scans of this conversation left.
    pub state: &'a TimedState,
    /// How many tokens the context may have, of which the budget is a part; no budget if absent.
    pub max_context: Option<u64>,
    /// Entries that something else activates, by `book.uid`.
    pub activated: &'a [Arc<str>],
    /// With which greeting the conversation began, from 0, if that is known.
    pub greeting: Option<u64>,
    /// Which picture the user shows, if that is known.
    pub user_icon: Option<&'a str>,
}

/// A message of the conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanMessage {
    /// Who speaks, if names are to be searched too.
    pub name: Option<Arc<str>>,
    /// What is said.
    pub text: Text,
}

impl ScanMessage {
    /// Creates a message of somebody.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Text>) -> Self {
        Self { name: Some(name.into()), text: text.into() }
    }
}

/// Texts beside the conversation, by what they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanSources([Option<Text>; 6]);

impl ScanSources {
    /// Sets a text; a blank one is none.
    #[must_use]
    pub fn with(mut self, source: Source, text: Option<Text>) -> Self {
        if let Some(slot) = self.0.get_mut(source as usize) {
            *slot = text.filter(|text| !text.is_empty());
        }
        self
    }

    /// Returns a text.
    pub fn get(&self, source: Source) -> Option<&Text> {
        self.0.get(source as usize)?.as_ref()
    }
}

/// No text beside the conversation.
static NO_SOURCES: ScanSources = ScanSources([const { None }; 6]);
/// No effect.
static NO_STATE: TimedState = TimedState::EMPTY;

impl Default for ScanInput<'_> {
    fn default() -> Self {
        Self {
            messages: &[],
            length: None,
            answers: 0,
            sources: &NO_SOURCES,
            injected: &[],
            trigger: "normal",
            names: &[],
            tags: None,
            state: &NO_STATE,
            max_context: None,
            activated: &[],
            greeting: None,
            user_icon: None,
        }
    }
}

/// What a scan is lent.
pub struct Ports<'a> {
    /// Random numbers.
    pub draws: &'a mut dyn Draws,
    /// Macros.
    pub expand: &'a mut dyn Expand,
    /// The counter of tokens; without it there is no budget.
    pub counter: Option<&'a dyn TokenCounter>,
}

/// Expands the macros of entries.
pub trait Expand {
    /// Expands the text of an entry, or a key that holds macros.
    fn expand(&mut self, member: &Member, part: Part, text: &Text) -> Expanded;
}

/// A part of an entry in which macros are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The text; each at most once in a scan, in the order in which entries become active.
    Content,
    /// A key, of those that decide first.
    Key(usize),
    /// A secondary key.
    SecondaryKey(usize),
    /// A key of a condition: its number, and the key's.
    ConditionKey(usize, usize),
}

/// An expanded text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expanded {
    /// The text.
    pub text: Text,
    /// Where each byte of it came from; empty if all of it is the entry's.
    pub written: Vec<Segment>,
}

/// Leaves every text as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMacros;

impl Expand for NoMacros {
    fn expand(&mut self, _member: &Member, _part: Part, text: &Text) -> Expanded {
        Expanded { text: text.clone(), written: Vec::new() }
    }
}

impl std::fmt::Debug for Ports<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ports").field("counter", &self.counter.is_some()).finish_non_exhaustive()
    }
}
