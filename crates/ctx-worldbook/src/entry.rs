//! An entry as a scan sees it: every field with its meaning, defaults filled in.

use std::fmt;
use std::sync::Arc;

use ctx_types::{
    EntryFilter, EntryPosition, Flag, Numeric, Order, Role, SelectiveLogic, Text, WorldbookEntry, excerpt,
};

use crate::book::Dialect;
use crate::decorators::{Condition, Decorated};
use crate::input::Part;

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

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeCharacter => f.write_str("before the character"),
            Self::AfterCharacter => f.write_str("after the character"),
            Self::NoteTop => f.write_str("above the author's note"),
            Self::NoteBottom => f.write_str("below the author's note"),
            Self::Depth(depth) => write!(f, "depth {depth}"),
            Self::ExamplesTop => f.write_str("above the examples"),
            Self::ExamplesBottom => f.write_str("below the examples"),
            Self::Outlet(name) => write!(f, "outlet `{}`", excerpt(name)),
            Self::FromStart(index) => write!(f, "index {index}"),
            Self::Personality => f.write_str("behind the personality"),
            Self::Scenario => f.write_str("behind the scenario"),
        }
    }
}

/// A text beside the conversation in which keys may be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// What the user's profile says.
    Persona,
    /// The description of the character.
    Description,
    /// Its personality.
    Personality,
    /// Its note at a depth.
    DepthPrompt,
    /// The scenario.
    Scenario,
    /// The notes of the card's creator.
    CreatorNotes,
}

impl Source {
    /// All, in the order in which they are searched.
    pub const ALL: [Self; 6] = [
        Self::Persona,
        Self::Description,
        Self::Personality,
        Self::DepthPrompt,
        Self::Scenario,
        Self::CreatorNotes,
    ];

    /// Returns the words for reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Persona => "the user's profile",
            Self::Description => "the character's description",
            Self::Personality => "the character's personality",
            Self::DepthPrompt => "the character's note",
            Self::Scenario => "the scenario",
            Self::CreatorNotes => "the creator's notes",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of [`Source`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceSet(u8);

impl SourceSet {
    /// Tells whether a source is in the set.
    pub const fn contains(self, source: Source) -> bool {
        self.0 & source.bit() != 0
    }

    /// Adds a source.
    #[must_use]
    pub const fn with(self, source: Source) -> Self {
        Self(self.0 | source.bit())
    }

    /// Returns the first source that is in both sets.
    pub fn first_common(self, other: Self) -> Option<Source> {
        Source::ALL.into_iter().find(|source| self.contains(*source) && other.contains(*source))
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }
}

impl FromIterator<Source> for SourceSet {
    fn from_iter<I: IntoIterator<Item = Source>>(sources: I) -> Self {
        sources.into_iter().fold(Self::default(), Self::with)
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

/// The depth of entries that name none.
const DEFAULT_DEPTH: u64 = 4;

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
        }
    }
}

impl Entry {
    /// Reads an entry that stands under a key of its book; also returns what its decorators say.
    pub(crate) fn of(key: &str, noun: &WorldbookEntry, dialect: Dialect) -> (Self, Decorated) {
        let is = |flag: Option<Flag>| flag.is_some_and(|flag| flag.0);
        let maybe = |flag: Option<Flag>| flag.map(|flag| flag.0);
        let decorated = Decorated::read(noun.content.as_ref(), dialect);
        let mut entry = Self {
            uid: noun.uid.as_ref().map_or_else(|| key.into(), |uid| uid.0.clone()),
            key: key.into(),
            title: title(noun),
            content: decorated.content.clone(),
            content_start: noun.content.as_ref().map_or(0, |whole| whole.len() - decorated.content.len()),
            keys: noun.key.to_vec(),
            secondary_keys: noun.keysecondary.to_vec(),
            logic: noun.selective_logic.unwrap_or_default(),
            is_selective: noun.selective.is_none_or(|flag| flag.0),
            is_enabled: !is(noun.disable) && !noun.is_malformed(),
            is_constant: is(noun.constant),
            is_vectorized: is(noun.vectorized),
            order: noun.order.map_or(Order::DEFAULT, |order| Order(order.0)),
            destination: destination(noun),
            role: noun.role.map(|role| role.0),
            ignores_budget: is(noun.ignore_budget),
            is_excluded_from_recursion: is(noun.exclude_recursion),
            prevents_recursion: is(noun.prevent_recursion),
            recursion_level: recursion_level(noun),
            probability: probability(noun),
            group: noun.group.clone().unwrap_or_default(),
            wins_group: is(noun.group_override),
            group_weight: noun.group_weight.map_or(100.0, |weight| weight.0),
            use_group_scoring: maybe(noun.use_group_scoring),
            scan_depth: noun.scan_depth.map(|depth| whole(depth.0)),
            case_sensitive: maybe(noun.case_sensitive),
            match_whole_words: maybe(noun.match_whole_words),
            timing: Timing {
                sticky: count(noun.sticky),
                cooldown: count(noun.cooldown),
                delay: count(noun.delay),
            },
            sources: sources(noun),
            filter: noun.character_filter.as_ref().map(filter),
            triggers: noun.triggers.to_vec(),
            forced: None,
            conditions: Vec::new(),
        };
        decorated.apply_to(&mut entry);
        (entry, decorated)
    }

    /// Returns the JSON pointer of the entry in its file.
    pub fn pointer(&self) -> String {
        format!("/entries/{}", self.key.replace('~', "~0").replace('/', "~1"))
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
        let others = parts.map(|part| part.trim_start_matches(crate::space::is_space));
        first.into_iter().chain(others).filter(|name| !name.is_empty())
    }

    /// Returns a number that changes when what the entry says, when it fires or how long it lasts is changed.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::default();
        hash.text(&self.content);
        for list in [&self.keys, &self.secondary_keys] {
            for key in list {
                hash.text(key);
            }
            hash.number(list.len() as u64);
        }
        let Timing { sticky, cooldown, delay } = self.timing;
        for number in [sticky, cooldown, delay] {
            hash.number(number);
        }
        hash.0
    }
}

/// The 64-bit hash of Fowler, Noll and Vo (FNV-1a).
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn text(&mut self, text: &str) {
        text.bytes().chain([0xff]).for_each(|byte| self.byte(byte));
    }

    fn number(&mut self, number: u64) {
        number.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

fn title(noun: &WorldbookEntry) -> Option<Arc<str>> {
    let title = noun.comment.as_deref().map(str::trim).filter(|title| !title.is_empty());
    title.map(Arc::from)
}

fn destination(noun: &WorldbookEntry) -> Destination {
    match noun.position.unwrap_or_default() {
        EntryPosition::BeforeCharacter => Destination::BeforeCharacter,
        EntryPosition::AfterCharacter => Destination::AfterCharacter,
        EntryPosition::NoteTop => Destination::NoteTop,
        EntryPosition::NoteBottom => Destination::NoteBottom,
        EntryPosition::AtDepth => {
            Destination::Depth(noun.depth.map_or(DEFAULT_DEPTH, |depth| at_least_0(depth.0)))
        }
        EntryPosition::ExamplesTop => Destination::ExamplesTop,
        EntryPosition::ExamplesBottom => Destination::ExamplesBottom,
        EntryPosition::Outlet => Destination::Outlet(noun.outlet_name.clone().unwrap_or_default()),
    }
}

/// A probability of exactly 100 is not asked.
fn probability(noun: &WorldbookEntry) -> Option<f64> {
    let is_used = noun.use_probability.is_none_or(|flag| flag.0);
    let probability = noun.probability.map_or(100.0, |probability| probability.0);
    #[expect(clippy::float_cmp, reason = "files write the whole number")]
    let is_asked = is_used && probability != 100.0;
    is_asked.then_some(probability)
}

/// A level beside a switch counts where the switch is on.
fn recursion_level(noun: &WorldbookEntry) -> u32 {
    let level = noun.delay_until_recursion.map_or(0, |delay| delay.0);
    let beside = noun.delay_until_recursion_level.map_or(0, |level| at_least_0(level.0));
    if level == 1 && beside > 1 { u32::try_from(beside).unwrap_or(u32::MAX) } else { level }
}

fn sources(noun: &WorldbookEntry) -> SourceSet {
    let flags = [
        (noun.match_persona_description, Source::Persona),
        (noun.match_character_description, Source::Description),
        (noun.match_character_personality, Source::Personality),
        (noun.match_character_depth_prompt, Source::DepthPrompt),
        (noun.match_scenario, Source::Scenario),
        (noun.match_creator_notes, Source::CreatorNotes),
    ];
    let on = flags.into_iter().filter(|(flag, _)| flag.is_some_and(|flag| flag.0));
    on.map(|(_, source)| source).collect()
}

fn filter(noun: &EntryFilter) -> CharacterFilter {
    CharacterFilter {
        is_exclude: noun.is_exclude.is_some_and(|flag| flag.0),
        names: noun.names.to_vec(),
        tags: noun.tags.to_vec(),
    }
}

fn count(number: Option<Numeric>) -> u64 {
    number.map_or(0, |number| at_least_0(number.0))
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates, far beyond any conversation")]
fn whole(number: f64) -> i64 {
    number as i64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) fn at_least_0(number: f64) -> u64 {
    number as u64
}
