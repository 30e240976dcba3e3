//! What becomes of each field of a worldbook's file.

use std::collections::BTreeMap;
use std::rc::Rc;

use ctx_types::{Worldbook, WorldbookEntry, pointer_step};
use serde_json::Value;

use super::card::{self, CARD_EXTENSIONS};
use super::other::Application;
use crate::loose::{Object, text};
use crate::report::Expect::{Any, Flag, List, Named, Number, Switch, Text, Texts, Value as Scalar};
use crate::report::{Link, Rule, RuleSet, approximated, kept, mapped};

/// Where an entry has the one that it was made of.
const ORIGINAL: &str = "/imported";

/// Returns the rules for world info, which is our own form of worldbooks too.
pub(crate) fn of_world_info() -> RuleSet {
    let mut rules = RuleSet::new([
        kept("/originalData/**", "what the file was converted from; nothing reads it"),
        kept("/extensions/**", "of other applications"),
        mapped("/entries", List, "/entries"),
    ]);
    rules.same("", Worldbook::KEYS);
    rules.add(EDITING_IN_ENTRIES.iter().copied());
    rules.same("/entries/*", WorldbookEntry::KEYS);
    rules
}

const EDITOR: &str = "for editors; the same field here";
const QUICK_REPLIES: &str = "there are no quick replies";

const EDITING_IN_ENTRIES: [Rule; 4] = [
    approximated("/entries/*/addMemo", "/entries/*/addMemo", EDITOR),
    approximated("/entries/*/displayIndex", "/entries/*/displayIndex", EDITOR),
    kept("/entries/*/automationId", QUICK_REPLIES),
    mapped("/entries/*", Any, "/entries/*"),
];

const BOOK: [Rule; 6] = [
    mapped("/name", Text, "/name"),
    mapped("/description", Text, "/description"),
    mapped("/scan_depth", Number, "/scan_depth"),
    mapped("/token_budget", Number, "/token_budget"),
    mapped("/recursive_scanning", Switch, "/recursive_scanning"),
    mapped("/entries", List, "/entries"),
];

/// Returns the rules for a book as cards have it, which goes to a place; `is_v3` if version 3 says so.
pub(crate) fn of_card_book(book: &Object, to: &str, is_v3: bool) -> RuleSet {
    let mut rules = RuleSet::new(BOOK);
    let (theirs, entries) = card::listed(book);
    let (ours, _) = card::entry_keys(&entries);
    let mut kinds = BTreeMap::new();
    for ((theirs, ours), entry) in theirs.into_iter().zip(ours).zip(entries) {
        let Some(entry) = entry.as_object() else { continue };
        let kind = EntryKind::of(entry, is_v3);
        let set = kinds.entry(kind).or_insert_with(|| Rc::new(kind.map_or_else(our_entry, EntryKind::rules)));
        let place = format!("{to}/entries/{}", pointer_step(&ours));
        rules.link("/entries", theirs, Link::new(set, place).keeping_below(ORIGINAL));
    }
    rules
}

/// Returns the rules for a standalone book of version 3, and for another in an envelope.
pub(crate) fn of_envelope(file: &Object, to: &str) -> Option<RuleSet> {
    let is_v3 = text(file, "spec") == Some("lorebook_v3");
    let data = file.get("data")?.as_object()?;
    let mut rules = RuleSet::new([mapped("/spec", Named(&["lorebook_v3"]), "/dialect")]);
    rules.link("", "data", Link::new(&Rc::new(of_card_book(data, to, is_v3)), to).keeping_at(to));
    Some(rules)
}

/// What decides which fields of a card's entry count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EntryKind {
    has_comment: bool,
    has_position: bool,
    reads_case: bool,
}

impl EntryKind {
    /// Returns the kind of an entry; none for one in our own form.
    fn of(entry: &Object, is_v3: bool) -> Option<Self> {
        let [comment, extensions, key] =
            card::find_each(entry, &["comment", "extensions", "key"], |name| name);
        let extension = |key: &str| extensions.and_then(|all| all.get(key));
        let is_said = |key: &str| extension(key).is_some_and(|value| !value.is_null());
        key.is_none().then(|| Self {
            has_comment: comment.is_some_and(|comment| !card::is_blank(comment)),
            has_position: is_said("position"),
            reads_case: is_v3 && !is_said("case_sensitive"),
        })
    }

    fn rules(self) -> RuleSet {
        let conditional = [
            match self.has_comment {
                true => kept("/name", "the comment is the title"),
                false => mapped("/name", Text, "/comment"),
            },
            match self.has_position {
                true => kept("/position", "the position in `extensions` counts"),
                false => mapped("/position", Named(&["before_char", "after_char"]), "/position"),
            },
            match self.reads_case {
                true => mapped("/case_sensitive", Flag, "/caseSensitive"),
                false => kept("/case_sensitive", "that of `extensions` counts"),
            },
            match self.has_position {
                true => mapped("/extensions/position", Any, "/position"),
                false => kept("/extensions/position", "it is empty"),
            },
        ];
        let mut rules = RuleSet::new(conditional.into_iter().chain(CARD_ENTRY));
        for (theirs, ours) in CARD_EXTENSIONS {
            rules.field("/extensions", theirs, mapped("", Any, ours));
        }
        rules
    }
}

/// The rules for an entry that has our own form.
fn our_entry() -> RuleSet {
    let mut rules = RuleSet::new([
        approximated("/addMemo", "/addMemo", EDITOR),
        approximated("/displayIndex", "/displayIndex", EDITOR),
        kept("/automationId", QUICK_REPLIES),
    ]);
    rules.same("", WorldbookEntry::KEYS);
    rules
}

/// The fields of a card's entry that count in each of them.
const CARD_ENTRY: [Rule; 16] = [
    mapped("/id", Scalar, "/uid"),
    mapped("/keys", Texts, "/key"),
    mapped("/keys/*", Text, "/key/*"),
    mapped("/secondary_keys", Texts, "/keysecondary"),
    mapped("/secondary_keys/*", Text, "/keysecondary/*"),
    mapped("/comment", Text, "/comment"),
    mapped("/content", Text, "/content"),
    mapped("/constant", Switch, "/constant"),
    mapped("/selective", Switch, "/selective"),
    mapped("/enabled", Flag, "/disable"),
    mapped("/insertion_order", Number, "/order"),
    approximated("/use_regex", "/key", "a key of the form /…/ is a regular expression, whatever this says")
        .of(Flag),
    mapped("/extensions/triggers/*", Text, "/triggers/*"),
    approximated("/extensions/display_index", "/displayIndex", EDITOR),
    kept("/extensions/automation_id", QUICK_REPLIES),
    kept("/priority", "no application orders by it"),
];

/// Returns the rules for a lorebook of another application, which goes to a place.
pub(crate) fn of_other(file: &Object, to: &str) -> RuleSet {
    let Some(application) = Application::of(file) else { return RuleSet::default() };
    let mut rules = RuleSet::new([mapped("/name", Text, "/name")]);
    let entry = Rc::new(RuleSet::new(application_rules(application).iter().copied()));
    let entries = file.get(application.list()).and_then(Value::as_array).into_iter().flatten();
    for (index, _) in entries.enumerate().filter(|(_, entry)| entry.is_object()) {
        let place = format!("{to}/entries/{index}");
        rules.link(
            application.list_at(),
            index.to_string(),
            Link::new(&entry, place).keeping_below(ORIGINAL),
        );
    }
    rules
}

fn application_rules(application: Application) -> &'static [Rule] {
    match application {
        Application::NovelAi => &NOVEL_AI,
        Application::Agnai => &AGNAI,
        Application::Risu => &RISU,
    }
}

const NOVEL_AI: [Rule; 7] = [
    mapped("/keys", Texts, "/key"),
    mapped("/keys/*", Text, "/key/*"),
    mapped("/text", Text, "/content"),
    mapped("/displayName", Text, "/comment"),
    mapped("/forceActivation", Switch, "/constant"),
    mapped("/contextConfig/budgetPriority", Number, "/order"),
    mapped("/enabled", Flag, "/disable"),
];

const AGNAI: [Rule; 6] = [
    mapped("/keywords", Texts, "/key"),
    mapped("/keywords/*", Text, "/key/*"),
    mapped("/entry", Text, "/content"),
    mapped("/name", Text, "/comment"),
    mapped("/weight", Number, "/order"),
    mapped("/enabled", Flag, "/disable"),
];

const RISU: [Rule; 8] = [
    mapped("/key", Text, "/key"),
    mapped("/secondkey", Text, "/keysecondary"),
    mapped("/comment", Text, "/comment"),
    mapped("/content", Text, "/content"),
    mapped("/alwaysActive", Switch, "/constant"),
    mapped("/selective", Switch, "/selective"),
    mapped("/insertorder", Number, "/order"),
    mapped("/activationPercent", Number, "/probability"),
];
