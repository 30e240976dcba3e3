//! Worldbooks as in their files.

mod entries;
mod loose;
mod values;

use std::sync::Arc;

use crate::persist::data_type;
use crate::text::Text;

pub use entries::{WorldbookEntries, array_index};
pub use loose::{Flag, KeyList, Numeric};
pub use values::{EntryId, EntryPosition, EntryRole, RecursionDelay, SelectiveLogic};

data_type! {
    /// A worldbook: texts that are sent when the conversation mentions their keys.
    ///
    /// ```
    /// use ctx_types::{Persist, Reader};
    /// use ctx_types::worldbook::Worldbook;
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
        /// Display title.
        name: Option<Arc<str>> => "name",
        /// Description for users.
        description: Option<Text> => "description",
        /// Entries of the worldbook.
        entries: WorldbookEntries => "entries",
        /// Rules of another program: `sillytavern` (default), `ccv3`, or `risuai`. `ccv3` adds all
        /// decorators, `scan_depth`, `token_budget`, and `recursive_scanning`. `risuai` is like `ccv3`, but
        /// its decorators count all messages.
        dialect: Option<Arc<str>> => "dialect" [such_as ["sillytavern", "ccv3", "risuai"]],
        /// Number of recent messages to scan for keys. From character cards; `ccv3` and `risuai` only.
        scan_depth: Option<Numeric> => "scan_depth",
        /// Token limit for all entries together. From character cards; `ccv3` and `risuai` only.
        token_budget: Option<Numeric> => "token_budget",
        /// Whether active entries can activate others. From character cards; `ccv3` and `risuai` only.
        recursive_scanning: Option<Flag> => "recursive_scanning",
    }
}

data_type! {
    /// An entry of a worldbook.
    pub struct WorldbookEntry {
        /// Entry id, unique in the worldbook. Default: the entry's key in `entries`.
        uid: Option<EntryId> => "uid",
        /// Worldbook keys: plain texts, or regular expressions as `/pattern/flags`.
        key: KeyList => "key",
        /// Secondary keys, combined by `selectiveLogic`.
        keysecondary: KeyList => "keysecondary",
        /// Display title.
        comment: Option<Text> => "comment",
        /// Text to send. Decorators can precede it.
        content: Option<Text> => "content",
        /// Whether the entry is always active. Default: `false`.
        constant: Option<Flag> => "constant",
        /// Whether an extension can activate the entry by vector search. Keys also work.
        vectorized: Option<Flag> => "vectorized",
        /// Whether secondary keys apply. Default: `true`.
        selective: Option<Flag> => "selective",
        /// Rule for secondary keys. Default: 0.
        selective_logic: Option<SelectiveLogic> => "selectiveLogic",
        /// Order. Entries with a higher number are considered first, and their text is sent later. Default:
        /// 100.
        order: Option<Numeric> => "order",
        /// Place of the text. Default: before the character description.
        position: Option<EntryPosition> => "position",
        /// Messages from the end of the conversation, for position 4. Default: 4.
        depth: Option<Numeric> => "depth",
        /// Message role: 0 system, 1 user, 2 assistant. Default: system.
        role: Option<EntryRole> => "role",
        /// Outlet name, for position 7. `{{outlet::name}}` inserts the text.
        outlet_name: Option<Arc<str>> => "outletName",
        /// Whether the entry is disabled. Default: `false`.
        disable: Option<Flag> => "disable",
        /// Whether the token budget does not apply to the entry. Default: `false`.
        ignore_budget: Option<Flag> => "ignoreBudget",
        /// Whether texts of other entries cannot activate this entry. Default: `false`.
        exclude_recursion: Option<Flag> => "excludeRecursion",
        /// Whether the text of this entry cannot activate others. Default: `false`.
        prevent_recursion: Option<Flag> => "preventRecursion",
        /// First recursion level that can activate the entry; `true` is level 1. Default: 0, the initial
        /// scan.
        delay_until_recursion: Option<RecursionDelay> => "delayUntilRecursion",
        /// Recursion level if `delayUntilRecursion` is `true`. From AIO Hub.
        delay_until_recursion_level: Option<Numeric> => "delayUntilRecursionLevel",
        /// Chance of activation after a match, in percent. Default: 100.
        probability: Option<Numeric> => "probability",
        /// Whether `probability` applies. Default: `true`.
        use_probability: Option<Flag> => "useProbability",
        /// Inclusion groups, separated by commas. Only one entry of a group can be active at a time.
        group: Option<Arc<str>> => "group",
        /// Whether the entry has priority in its groups, without a random choice. Default: `false`.
        group_override: Option<Flag> => "groupOverride",
        /// Weight in the random choice within a group. Default: 100.
        group_weight: Option<Numeric> => "groupWeight",
        /// Whether the number of matched keys decides before the random choice within a group. Default: from
        /// the settings.
        use_group_scoring: Option<Flag> => "useGroupScoring",
        /// Number of recent messages to scan for keys. Default: from the settings.
        scan_depth: Option<Numeric> => "scanDepth",
        /// Whether keys are case-sensitive. Default: from the settings.
        case_sensitive: Option<Flag> => "caseSensitive",
        /// Whether one-word keys match only whole words. Default: from the settings.
        match_whole_words: Option<Flag> => "matchWholeWords",
        /// Number of messages for which the entry stays active.
        sticky: Option<Numeric> => "sticky",
        /// Number of messages before the entry can become active again.
        cooldown: Option<Numeric> => "cooldown",
        /// Minimum number of messages in the conversation.
        delay: Option<Numeric> => "delay",
        /// Whether to search the user profile's description for keys. Default: `false`.
        match_persona_description: Option<Flag> => "matchPersonaDescription",
        /// Whether to search the character's description for keys. Default: `false`.
        match_character_description: Option<Flag> => "matchCharacterDescription",
        /// Whether to search the character's personality for keys. Default: `false`.
        match_character_personality: Option<Flag> => "matchCharacterPersonality",
        /// Whether to search the character's `depthPrompt` for keys. Default: `false`.
        match_character_depth_prompt: Option<Flag> => "matchCharacterDepthPrompt",
        /// Whether to search the scenario for keys. Default: `false`.
        match_scenario: Option<Flag> => "matchScenario",
        /// Whether to search the creator's notes for keys. Default: `false`.
        match_creator_notes: Option<Flag> => "matchCreatorNotes",
        /// Characters that the entry applies to.
        character_filter: Option<EntryFilter> => "characterFilter",
        /// Generation kinds that include the entry, such as `continue`. If empty, all kinds.
        triggers: KeyList => "triggers",
    }
}

data_type! {
    /// The characters that a worldbook entry applies to.
    pub struct EntryFilter {
        /// Whether the entry applies to all other characters instead. Default: `false`.
        is_exclude: Option<Flag> => "isExclude",
        /// Character names.
        names: KeyList => "names",
        /// Character tags.
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
