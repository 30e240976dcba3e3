//! An entry as a scan sees it: every field with its meaning, defaults filled in.

mod read;

use std::fmt;
use std::sync::Arc;

use ctx_types::{Order, Phrase, Role, SelectiveLogic, Text, excerpt, phrase, pointer_step};

use crate::decorators::Condition;
use crate::input::Part;
use crate::source::SourceSet;

pub(crate) use read::at_least_0;

/// An entry of a worldbook.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the file")]
pub struct Entry {
    /// The id, unique within the book.
    pub uid: Arc<str>,
    /// The key under which it stands among the entries of its file.
    pub key: Arc<str>,
    /// The title shown to people.
    pub title: Option<Arc<str>>,
    /// The text, without decorators; macros are expanded when the entry becomes active.
    pub content: Text,
    /// Where in the text of the file it begins, in bytes.
    pub content_start: usize,
    /// The keys: plain texts, or regular expressions as `/pattern/flags`.
    pub keys: Vec<Arc<str>>,
    /// Further keys, of which [`Entry::logic`] speaks; without them the first ones are enough.
    pub secondary_keys: Vec<Arc<str>>,
    /// How secondary keys count.
    pub logic: SelectiveLogic,
    /// Whether secondary keys are asked at all; they count for scores all the same. On by default.
    pub is_selective: bool,
    /// Whether it takes part. On by default.
    pub is_enabled: bool,
    /// Whether it needs no key.
    pub is_constant: bool,
    /// Whether something else may activate it by its meaning.
    pub is_vectorized: bool,
    /// The rank: the greater, the earlier it is considered, and the later its text stands. 100 by default.
    pub order: Order,
    /// Where its text goes.
    pub destination: Destination,
    /// Who speaks it, if the file says so.
    pub role: Option<Role>,
    /// Whether it is taken whatever the budget.
    pub ignores_budget: bool,
    /// Whether texts of other entries never activate it.
    pub is_excluded_from_recursion: bool,
    /// Whether its text never activates others.
    pub prevents_recursion: bool,
    /// The level of recursion from which on it can be active; 0 is from the start.
    pub recursion_level: u32,
    /// How likely it becomes active once it could, in percent; none if that is not asked.
    pub probability: Option<f64>,
    /// The inclusion groups as the file has them: divided by commas.
    pub group: Arc<str>,
    /// Whether it wins its groups without a draw.
    pub wins_group: bool,
    /// Its weight in a draw. 100 by default.
    pub group_weight: f64,
    /// Whether the number of found keys decides in its groups; the settings' if absent.
    pub use_group_scoring: Option<bool>,
    /// How many messages are searched; the settings' if absent. 0 and less search nothing at all.
    pub scan_depth: Option<i64>,
    /// Whether the case of letters counts; the settings' if absent.
    pub case_sensitive: Option<bool>,
    /// Whether keys of one word match whole words only; the settings' if absent.
    pub match_whole_words: Option<bool>,
    /// Its timed effects.
    pub timing: Timing,
    /// What is searched beside messages.
    pub sources: SourceSet,
    /// For which characters it is.
    pub filter: Option<CharacterFilter>,
    /// For which kinds of generation it is; for all if empty.
    pub triggers: Vec<Arc<str>>,
    /// Whether decorators activate it always (true) or never (false).
    pub forced: Option<bool>,
    /// What else must hold, as decorators say it.
    pub conditions: Vec<Condition>,
    /// All that its file says of it as one number, by which timed effects know that it is still the same entry; 0
    /// where it has none.
    pub fingerprint: u64,
}

/// Timed effects, in messages of the conversation; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// How long it stays active.
    pub sticky: u64,
    /// How long it cannot become active again.
    pub cooldown: u64,
    /// How many messages there must be.
    pub delay: u64,
}

impl Timing {
    /// Returns whether being active has effects on later scans.
    pub const fn lasts(self) -> bool {
        self.sticky > 0 || self.cooldown > 0
    }
}

/// Where the text of an entry goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// Before the description of the character.
    #[default]
    BeforeCharacter,
    /// After it.
    AfterCharacter,
    /// Above the author's note.
    NoteTop,
    /// Below it.
    NoteBottom,
    /// So many messages before the end of the conversation.
    Depth(u64),
    /// Above the examples of dialogue.
    ExamplesTop,
    /// Below them.
    ExamplesBottom,
    /// Where a macro asks for the outlet of that name.
    Outlet(Arc<str>),
    /// So many messages after the beginning of the conversation.
    FromStart(u64),
    /// Behind the personality of the character.
    Personality,
    /// Behind the scenario.
    Scenario,
}

impl Destination {
    /// Writes it in one phrase.
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

/// For which characters an entry is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CharacterFilter {
    /// Whether it is for all others instead.
    pub is_exclude: bool,
    /// The names of characters.
    pub names: Vec<Arc<str>>,
    /// The tags of characters.
    pub tags: Vec<Arc<str>>,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            uid: Arc::from(""),
            key: Arc::from(""),
            title: None,
            content: Text::default(),
            content_start: 0,
            keys: Vec::new(),
            secondary_keys: Vec::new(),
            logic: SelectiveLogic::AndAny,
            is_selective: true,
            is_enabled: true,
            is_constant: false,
            is_vectorized: false,
            order: Order::DEFAULT,
            destination: Destination::BeforeCharacter,
            role: None,
            ignores_budget: false,
            is_excluded_from_recursion: false,
            prevents_recursion: false,
            recursion_level: 0,
            probability: None,
            group: Arc::from(""),
            wins_group: false,
            group_weight: 100.0,
            use_group_scoring: None,
            scan_depth: None,
            case_sensitive: None,
            match_whole_words: None,
            timing: Timing::default(),
            sources: SourceSet::default(),
            filter: None,
            triggers: Vec::new(),
            forced: None,
            conditions: Vec::new(),
            fingerprint: 0,
        }
    }
}

/// Returns the JSON pointer of the entry that stands under a key of its book.
pub(crate) fn pointer_under(key: &str) -> String {
    format!("/entries/{}", pointer_step(key))
}

impl Entry {
    /// Returns the JSON pointer of the entry in its file.
    pub fn pointer(&self) -> String {
        pointer_under(&self.key)
    }

    /// Returns the JSON pointer of a part of the entry in its file.
    pub fn pointer_to(&self, part: Part) -> String {
        let entry = self.pointer();
        match part {
            Part::Key(index) => format!("{entry}/key/{index}"),
            Part::SecondaryKey(index) => format!("{entry}/keysecondary/{index}"),
            // Conditions are decorators of the text.
            Part::Content | Part::ConditionKey(..) => format!("{entry}/content"),
        }
    }

    /// Returns its inclusion groups.
    ///
    /// White space behind a comma does not count, nor do groups without a name.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        let mut parts = self.group.split(',');
        let first = parts.next();
        let others = parts.map(|part| part.trim_start_matches(ctx_types::space::is_space));
        first.into_iter().chain(others).filter(|name| !name.is_empty())
    }
}
