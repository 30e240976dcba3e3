use std::sync::Arc;

use ctx_types::ports::TokenCounter;
use ctx_types::{Segment, Text};

use crate::draws::Draws;
use crate::set::Member;
use crate::source::Source;
use crate::timed::TimedState;

/// Input of a scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanInput<'a> {
    /// Newest messages, oldest first.
    pub messages: &'a [ScanMessage],
    /// Number of all messages, if `messages` has fewer.
    pub length: Option<u64>,
    /// Number of all assistant messages.
    pub answers: u64,
    /// Texts of the character and the user profile.
    pub sources: &'a ScanSources,
    /// Texts that every entry searches, such as the author's note.
    pub injected: &'a [Text],
    /// Generation type: `normal`, `continue`, `impersonate`, `swipe`, `regenerate`, or `quiet`.
    pub trigger: &'a str,
    /// Names of the character for filters.
    pub names: &'a [Arc<str>],
    /// Tags of the character; `None` disables filters by tag.
    pub tags: Option<&'a [Arc<str>]>,
    /// Timed effects from earlier scans.
    pub state: &'a TimedState,
    /// Context size in tokens for the percentage budget; `None` leaves only the cap.
    pub max_context: Option<u64>,
    /// Entries that the caller activates, as `book.uid`.
    pub activated: &'a [Arc<str>],
    /// Index of the greeting, from 0, if known.
    pub greeting: Option<u64>,
    /// Name of the user's avatar, if known.
    pub user_icon: Option<&'a str>,
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanMessage {
    /// Speaker, if names are searched.
    pub name: Option<Arc<str>>,
    /// Text.
    pub text: Text,
}

impl ScanMessage {
    /// Creates a message.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Text>) -> Self {
        Self { name: Some(name.into()), text: text.into() }
    }
}

/// Texts of the character and the user profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanSources([Option<Text>; 6]);

impl ScanSources {
    /// Sets a text; an empty one is ignored.
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

static NO_SOURCES: ScanSources = ScanSources([const { None }; 6]);
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

/// Services for a scan.
pub struct Ports<'a> {
    /// Random values.
    pub draws: &'a mut dyn Draws,
    /// Macro expansion.
    pub expand: &'a mut dyn Expand,
    /// Token counter; `None` disables the budget.
    pub counter: Option<&'a dyn TokenCounter>,
}

/// Expands the macros of entries.
pub trait Expand {
    /// Expands a text or a key.
    fn expand(&mut self, member: &Member, part: EntryPart, text: &Text) -> ExpandedText;
}

/// Part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryPart {
    /// Text; expanded at most once per scan, in the order of activation.
    Content,
    /// Key.
    Key(usize),
    /// Secondary key.
    SecondaryKey(usize),
    /// Condition and its key.
    ConditionKey(usize, usize),
}

/// An expanded text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpandedText {
    /// The text.
    pub text: Text,
    /// Origin of each byte; empty if all text is the entry's.
    pub written: Vec<Segment>,
}

/// Leaves texts unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMacros;

impl Expand for NoMacros {
    fn expand(&mut self, _member: &Member, _part: EntryPart, text: &Text) -> ExpandedText {
        ExpandedText { text: text.clone(), written: Vec::new() }
    }
}

impl std::fmt::Debug for Ports<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ports").field("counter", &self.counter.is_some()).finish_non_exhaustive()
    }
}
