mod entries;
mod loose;
mod values;

use std::sync::Arc;

use crate::persist::noun;
use crate::text::Text;

pub use entries::WorldbookEntries;
pub use loose::{Flag, KeyList, Numeric};
pub use values::{EntryId, EntryPosition, EntryRole, RecursionDelay, SelectiveLogic};

noun! {
    /// A worldbook: texts that come in when the conversation speaks of them.
    ///
    /// ```
    /// use ctx_types::{Persist, Reader, Worldbook};
    ///
    /// let file = serde_json::json!({ "entries": {
    ///     "1": { "uid": 1, "key": ["moon"], "content": "It is hollow.", "order": "50" },
    ///     "0": { "uid": 0, "constant": true, "content": "A quiet town." },
    /// } });
    /// let mut reader = Reader::new();
    /// let book = Worldbook::read(file.clone(), &mut reader);
    /// let uids: Vec<_> = book.entries.in_order().map(|(key, _)| &**key).collect();
    /// assert_eq!(uids, ["0", "1"]);
    /// assert_eq!(book.write(), file);
    /// assert_eq!(reader.finish().len(), 1, "a number in quotes is understood, and reported");
    /// ```
    pub struct Worldbook {
        /// The title shown to people.
        name: Option<Arc<str>> => "name",
        /// What it is about, for people.
        description: Option<Text> => "description",
        /// The entries.
        entries: WorldbookEntries => "entries",
        /// Whose rules apply: `sillytavern` (default); `ccv3`, with all decorators and the three fields below;
        /// or `risuai`, with the same, but its decorators count all messages.
        dialect: Option<Arc<str>> => "dialect" [such_as ["sillytavern", "ccv3", "risuai"]],
        /// How many messages are looked at, as character cards say it.
        scan_depth: Option<Numeric> => "scan_depth",
        /// How many tokens its entries may have together, as character cards say it.
        token_budget: Option<Numeric> => "token_budget",
        /// Whether entries may bring in others, as character cards say it.
        recursive_scanning: Option<Flag> => "recursive_scanning",
    }
}

noun! {
    /// An entry of a worldbook.
    pub struct WorldbookEntry {
        /// The id, unique within the book; the key under which it stands if absent.
        uid: Option<EntryId> => "uid",
        /// The keys: plain texts, or regular expressions as `/pattern/flags`.
        key: KeyList => "key",
        /// Further keys, which count as `selectiveLogic` says.
        keysecondary: KeyList => "keysecondary",
        /// The title shown to people.
        comment: Option<Text> => "comment",
        /// The text; decorators may stand above it.
        content: Option<Text> => "content",
        /// Whether it is always active; absent means no.
        constant: Option<Flag> => "constant",
        /// Whether an extension may activate it by meaning; keys work all the same.
        vectorized: Option<Flag> => "vectorized",
        /// Whether secondary keys count; absent means yes.
        selective: Option<Flag> => "selective",
        /// How secondary keys count; 0 if absent.
        selective_logic: Option<SelectiveLogic> => "selectiveLogic",
        /// The rank: the greater, the earlier it is considered and the later its text stands; 100 if absent.
        order: Option<Numeric> => "order",
        /// Where its text goes; before the character if absent.
        position: Option<EntryPosition> => "position",
        /// The distance from the newest message, for position 4; 4 if absent.
        depth: Option<Numeric> => "depth",
        /// Who speaks it; the system if absent.
        role: Option<EntryRole> => "role",
        /// The name under which `{{outlet::name}}` gives the text, for position 7.
        outlet_name: Option<Arc<str>> => "outletName",
        /// Whether it is switched off; absent means no.
        disable: Option<Flag> => "disable",
        /// Whether it is taken whatever the budget; absent means no.
        ignore_budget: Option<Flag> => "ignoreBudget",
        /// Whether texts of other entries never activate it; absent means no.
        exclude_recursion: Option<Flag> => "excludeRecursion",
        /// Whether its text never activates others; absent means no.
        prevent_recursion: Option<Flag> => "preventRecursion",
        /// From which level of recursion on it can be active; absent means from the start.
        delay_until_recursion: Option<RecursionDelay> => "delayUntilRecursion",
        /// That level, as AIO Hub writes it beside a switch.
        delay_until_recursion_level: Option<Numeric> => "delayUntilRecursionLevel",
        /// How likely it is that it becomes active once it could, in percent; 100 if absent.
        probability: Option<Numeric> => "probability",
        /// Whether that is asked at all; absent means yes.
        use_probability: Option<Flag> => "useProbability",
        /// The inclusion groups, divided by commas: of each group one entry at a time becomes active.
        group: Option<Arc<str>> => "group",
        /// Whether it wins its groups without a draw; absent means no.
        group_override: Option<Flag> => "groupOverride",
        /// How likely it is to win a draw, beside the weights of the others; 100 if absent.
        group_weight: Option<Numeric> => "groupWeight",
        /// Whether the number of its keys that are found decides before a draw; the settings' if absent.
        use_group_scoring: Option<Flag> => "useGroupScoring",
        /// How many messages are looked at; the settings' if absent.
        scan_depth: Option<Numeric> => "scanDepth",
        /// Whether the case of letters counts; the settings' if absent.
        case_sensitive: Option<Flag> => "caseSensitive",
        /// Whether keys of one word match whole words only; the settings' if absent.
        match_whole_words: Option<Flag> => "matchWholeWords",
        /// For how many messages it stays active.
        sticky: Option<Numeric> => "sticky",
        /// For how many messages it cannot become active again.
        cooldown: Option<Numeric> => "cooldown",
        /// How many messages the conversation must have.
        delay: Option<Numeric> => "delay",
        /// Whether keys are looked for in what the user's profile says.
        match_persona_description: Option<Flag> => "matchPersonaDescription",
        /// Whether keys are looked for in the character's description.
        match_character_description: Option<Flag> => "matchCharacterDescription",
        /// Whether keys are looked for in the character's personality.
        match_character_personality: Option<Flag> => "matchCharacterPersonality",
        /// Whether keys are looked for in the character's note at a depth.
        match_character_depth_prompt: Option<Flag> => "matchCharacterDepthPrompt",
        /// Whether keys are looked for in the scenario.
        match_scenario: Option<Flag> => "matchScenario",
        /// Whether keys are looked for in the notes of the card's creator.
        match_creator_notes: Option<Flag> => "matchCreatorNotes",
        /// For which characters it is.
        character_filter: Option<EntryFilter> => "characterFilter",
        /// For which kinds of generation it is; for all if empty.
        triggers: KeyList => "triggers",
    }
}

noun! {
    /// For which characters an entry is.
    pub struct EntryFilter {
        /// Whether it is for all others instead; absent means no.
        is_exclude: Option<Flag> => "isExclude",
        /// The names of characters.
        names: KeyList => "names",
        /// The tags of characters.
        tags: KeyList => "tags",
    }
}

impl WorldbookEntry {
    /// Returns whether the file has a value other than an object.
    pub fn is_malformed(&self) -> bool {
        self.kept.is_malformed()
    }

    /// Returns the entry's id, or its key in the book.
    pub fn uid_under(&self, key: &str) -> Arc<str> {
        self.uid.as_ref().map_or_else(|| key.into(), |uid| uid.0.clone())
    }
}

/// A loaded worldbook.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedWorldbook {
    /// The id in `worldbookIds`.
    pub id: Arc<str>,
    /// The name in reports and in the state of timed effects.
    pub name: Arc<str>,
    /// The book.
    pub book: Arc<Worldbook>,
    /// Whether it applies to all agents, without a request by id or name.
    pub is_global: bool,
}
