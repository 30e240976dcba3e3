mod read;

use std::fmt;
use std::sync::Arc;

use ctx_types::internal::{excerpt, pointer_step};
use ctx_types::worldbook::{SelectiveLogic, WorldbookEntry};
use ctx_types::{Order, Phrase, Role, Text, phrase};

use crate::book::Dialect;
use crate::decorators::Condition;
use crate::input::EntryPart;
use crate::source::SourceSet;

pub(crate) use read::at_least_0;

/// A worldbook entry with defaults filled in.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent fields of the file")]
pub struct Entry {
    pub uid: Arc<str>,
    /// Key in the `entries` of its file.
    pub key: Arc<str>,
    pub title: Option<Arc<str>>,
    /// Text without decorators, before macro expansion.
    pub content: Text,
    /// Byte offset of `content` in the file's text.
    pub content_start: usize,
    /// Plain texts, or regular expressions as `/pattern/flags`.
    pub keys: Vec<Arc<str>>,
    /// Secondary keys, combined by [`Entry::logic`]; ignored if empty.
    pub secondary_keys: Vec<Arc<str>>,
    pub logic: SelectiveLogic,
    /// Whether secondary keys are checked. Scores always count them. Default: true.
    pub is_selective: bool,
    /// Whether it is enabled. Default: true.
    pub is_enabled: bool,
    pub is_constant: bool,
    /// Whether a semantic search may activate it.
    pub is_vectorized: bool,
    /// Priority: a higher order is considered earlier and placed later. Default: 100.
    pub order: Order,
    pub destination: Destination,
    pub role: Option<Role>,
    pub ignores_budget: bool,
    /// Whether other entries cannot activate it.
    pub is_excluded_from_recursion: bool,
    /// Whether it cannot activate other entries.
    pub prevents_recursion: bool,
    /// First recursion level at which it can activate; 0 is the initial pass.
    pub recursion_level: u32,
    /// Probability in percent; `None` is always.
    pub probability: Option<f64>,
    pub group: Arc<str>,
    /// Whether it wins its groups without a random choice.
    pub wins_group: bool,
    /// Weight in a random choice. Default: 100.
    pub group_weight: f64,
    /// Whether the number of matching keys decides in its groups; `None` uses the settings.
    pub use_group_scoring: Option<bool>,
    /// Messages to search, none at 0 or less; `None` uses the settings.
    pub scan_depth: Option<i64>,
    /// Whether keys are case-sensitive; `None` uses the settings.
    pub case_sensitive: Option<bool>,
    /// Whether single-word keys match whole words only; `None` uses the settings.
    pub match_whole_words: Option<bool>,
    pub timing: Timing,
    pub sources: SourceSet,
    pub filter: Option<CharacterFilter>,
    /// Accepted generation types; empty for all.
    pub triggers: Vec<Arc<str>>,
    /// Whether a decorator forces it on (true) or off (false).
    pub forced: Option<bool>,
    pub conditions: Vec<Condition>,
    /// Hash of the file's fields, to detect a changed entry. 0 without timed effects.
    pub fingerprint: u64,
}

/// Timed effects in messages; 0 is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Messages for which the entry stays active.
    pub sticky: u64,
    /// Messages for which it cannot activate again.
    pub cooldown: u64,
    /// Minimum number of messages in the conversation.
    pub delay: u64,
}

impl Timing {
    /// Returns whether an activation affects later scans.
    pub(crate) const fn lasts(self) -> bool {
        self.sticky > 0 || self.cooldown > 0
    }
}

/// Place for the text of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// Before the character description.
    #[default]
    BeforeCharacter,
    AfterCharacter,
    NoteTop,
    NoteBottom,
    /// This many messages before the end of the conversation.
    Depth(u64),
    ExamplesTop,
    ExamplesBottom,
    Outlet(Arc<str>),
    /// This many messages after the start of the conversation.
    FromStart(u64),
    Personality,
    Scenario,
}

impl Destination {
    /// Describes the place.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::BeforeCharacter => phrase!("before the character"),
            Self::AfterCharacter => phrase!("after the character"),
            Self::NoteTop => phrase!("above the author's note"),
            Self::NoteBottom => phrase!("below the author's note"),
            Self::Depth(depth) => phrase!("depth {points}", points = depth.to_string()),
            Self::ExamplesTop => phrase!("above the examples"),
            Self::ExamplesBottom => phrase!("below the examples"),
            Self::Outlet(name) => phrase!("outlet `{name}`", name = excerpt(name)),
            Self::FromStart(index) => phrase!("index {at}", at = index.to_string()),
            Self::Personality => phrase!("after the personality"),
            Self::Scenario => phrase!("after the scenario"),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

/// Characters that an entry accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CharacterFilter {
    /// Whether these characters are excluded instead.
    pub is_exclude: bool,
    pub names: Vec<Arc<str>>,
    pub tags: Vec<Arc<str>>,
}

/// The entry of an empty object.
impl Default for Entry {
    fn default() -> Self {
        Self::read("", &WorldbookEntry::default(), Dialect::Plain).0
    }
}

impl Entry {
    /// Returns the JSON pointer in the file.
    pub fn pointer(&self) -> String {
        format!("/entries/{}", pointer_step(&self.key))
    }

    /// Returns the JSON pointer of a part in the file.
    pub fn pointer_to(&self, part: EntryPart) -> String {
        let entry = self.pointer();
        match part {
            EntryPart::Key(index) => format!("{entry}/key/{index}"),
            EntryPart::SecondaryKey(index) => format!("{entry}/keysecondary/{index}"),
            // Conditions come from decorators in the text.
            EntryPart::Content | EntryPart::ConditionKey(..) => format!("{entry}/content"),
        }
    }

    /// Returns the names of the groups. Ignores empty names, and white space after commas.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        let mut parts = self.group.split(',');
        let first = parts.next();
        let others = parts.map(|part| part.trim_start_matches(ctx_types::space::is_space));
        first.into_iter().chain(others).filter(|name| !name.is_empty())
    }
}
