//! What becomes of each field of a worldbook's file.

use std::collections::BTreeMap;
use std::rc::Rc;

use ctx_types::{Worldbook, WorldbookEntry, pointer_step};
use serde_json::Value;

use super::card::{self, CARD_EXTENSIONS, CARD_FIELDS};
use crate::loose::{Object, text};
use crate::report::Expect::{Any, Flag, List, Named, Number, Switch, Text, Texts, Value as Scalar};
use crate::report::{Link, Making, Rule, RuleSet, approximated, kept, mapped};

/// Where an entry has the one that it was made of.
const ORIGINAL: &str = "/imported";

/// Returns the rules for world info, which is our own form of worldbooks too and goes to a place.
pub(crate) fn of_world_info(file: &Object, to: &str) -> RuleSet {
    let mut rules = RuleSet::new([
        kept("/originalData/**", "what the file was converted from; nothing reads it"),
        kept("/extensions/**", "of other applications"),
        mapped("/entries", List, "/entries"),
    ]);
    Worldbook::KEYS.iter().filter(|key| **key != "entries").for_each(|key| rules.same("", &[*key]));
    let (keys, entries) = card::listed(file);
    let mut kinds = BTreeMap::new();
    for (key, entry) in keys.into_iter().zip(entries) {
        let Some(mut kind) = entry.as_object().map(mirrors) else { continue };
        if kinds.len() >= MAX_KINDS && !kinds.contains_key(&kind) {
            kind = 0;
        }
        let set = kinds.entry(kind).or_insert_with(|| Rc::new(our_entry(kind)));
        let place = format!("{to}/entries/{}", pointer_step(&key));
        rules.link("/entries", key, Link::new(set, place.as_str()).keeping_at(place).making(Making::All));
    }
    rules
}

/// What an entry in our own form may say in that of cards too: the field or extension, and the same in ours.
fn mirrored() -> impl Iterator<Item = (bool, &'static str, &'static str)> {
    let fields = CARD_FIELDS.into_iter().chain([("enabled", "disable"), ("name", "comment")]);
    let fields = fields.filter(|(theirs, ours)| theirs != ours).map(|(theirs, ours)| (false, theirs, ours));
    let extensions = CARD_EXTENSIONS.into_iter().chain([("position", "position")]);
    fields.chain(extensions.map(|(theirs, ours)| (true, theirs, ours)))
}

/// How many kinds of entries have rules of their own: every application writes the same fields in each of them. In
/// further ones what they mirror is kept, and nothing is said of that.
const MAX_KINDS: usize = 64;

/// Tells which of the fields in the form of cards say the same as those in ours: a bit for each.
fn mirrors(entry: &Object) -> u64 {
    let extensions = entry.get("extensions").and_then(Value::as_object);
    if extensions.is_none() && !entry.contains_key("keys") && !entry.contains_key("insertion_order") {
        return 0;
    }
    let says = |(bit, (is_extension, theirs, ours)): (usize, (bool, &str, &str))| {
        let around = if is_extension { extensions } else { Some(entry) };
        // Its meaning is the opposite.
        let is_switch = (is_extension, theirs) == (false, "enabled");
        let (theirs, ours) = (around.and_then(|around| around.get(theirs)), entry.get(ours));
        let is_same = match (theirs, ours) {
            (Some(Value::Bool(enabled)), Some(Value::Bool(is_off))) if is_switch => enabled != is_off,
            (theirs, ours) => theirs.is_some() && theirs == ours && !is_switch,
        };
        u64::from(is_same) << bit
    };
    mirrored().enumerate().map(says).sum()
}

const MIRROR: &str = "the entry says the same in our own form";
const EDITOR: &str = "for editors; the same field here";
const QUICK_REPLIES: &str = "there are no quick replies";

const BOOK: [Rule; 7] = [
    approximated("", "", "there is nothing in it"),
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
    let other = Rc::new(RuleSet::default());
    for ((theirs, ours), entry) in theirs.into_iter().zip(ours).zip(entries) {
        let place = format!("{to}/entries/{}", pointer_step(&ours));
        let Some(entry) = entry.as_object() else {
            let link = Link::new(&other, place.as_str()).keeping_at(place);
            rules.link("/entries", theirs, link);
            continue;
        };
        let kind = EntryKind::of(entry, is_v3);
        let mut kind = kind.ok_or_else(|| mirrors(entry));
        if kinds.len() >= MAX_KINDS && !kinds.contains_key(&kind) {
            kind = kind.or(Err(0));
        }
        let set = kinds.entry(kind).or_insert_with(|| Rc::new(kind.map_or_else(our_entry, EntryKind::rules)));
        rules.link("/entries", theirs, Link::new(set, place).keeping_below(ORIGINAL).making(Making::All));
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
    title: Title,
    has_position: bool,
    has_keys: bool,
    reads_case: bool,
}

/// What an entry of a card is called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Title {
    Comment,
    Name,
    Nothing,
}

impl EntryKind {
    /// Returns the kind of an entry; none for one in our own form.
    fn of(entry: &Object, is_v3: bool) -> Option<Self> {
        let [comment, name, extensions, key] =
            card::find_each(entry, &["comment", "name", "extensions", "key"], |name| name);
        let extension = |key: &str| extensions.and_then(|all| all.get(key));
        let is_said = |key: &str| extension(key).is_some_and(|value| !value.is_null());
        key.is_none().then(|| Self {
            title: match (comment, name) {
                (Some(comment), _) if !card::is_blank(comment) => Title::Comment,
                (_, Some(_)) => Title::Name,
                _ => Title::Nothing,
            },
            has_position: is_said("position"),
            has_keys: entry.contains_key("keys"),
            reads_case: is_v3 && !is_said("case_sensitive"),
        })
    }

    fn rules(self) -> RuleSet {
        let conditional = [
            match self.title == Title::Comment {
                true => kept("/name", "the comment is the title"),
                false => mapped("/name", Text, "/comment"),
            },
            match self.title == Title::Name {
                true => kept("/comment", "it says nothing, and the name is the title"),
                false => mapped("/comment", Text, "/comment"),
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
            match self.has_keys {
                true => USE_REGEX.making(Making::All),
                false => USE_REGEX,
            },
        ];
        let mut rules = RuleSet::new(conditional.into_iter().chain(CARD_ENTRY));
        for (theirs, ours) in CARD_EXTENSIONS {
            rules.field("/extensions", theirs, mapped("", Any, ours));
        }
        rules
    }
}

/// The rules for an entry that has our own form, and these fields in the form of cards too.
fn our_entry(mirrors: u64) -> RuleSet {
    let mut rules = RuleSet::new([
        approximated("/addMemo", "/addMemo", EDITOR).making(Making::All),
        approximated("/displayIndex", "/displayIndex", EDITOR).making(Making::All),
        kept("/automationId", QUICK_REPLIES),
    ]);
    for (bit, (is_extension, theirs, ours)) in mirrored().enumerate() {
        if mirrors >> bit & 1 == 1 {
            rules.below(
                if is_extension { "/extensions" } else { "" },
                theirs,
                approximated("", ours, MIRROR).making(Making::All),
            );
        }
    }
    rules.same("", WorldbookEntry::KEYS);
    rules
}

const USE_REGEX: Rule =
    approximated("/use_regex", "/key", "a key of the form /…/ is a regular expression, whatever this says")
        .of(Flag);

/// The fields of a card's entry that count in each of them.
const CARD_ENTRY: [Rule; 14] = [
    mapped("/id", Scalar, "/uid"),
    mapped("/keys", Texts, "/key"),
    mapped("/keys/*", Text, "/key/*"),
    mapped("/secondary_keys", Texts, "/keysecondary"),
    mapped("/secondary_keys/*", Text, "/keysecondary/*"),
    mapped("/content", Text, "/content"),
    mapped("/constant", Switch, "/constant"),
    mapped("/selective", Switch, "/selective"),
    mapped("/enabled", Flag, "/disable").making(Making::Said),
    mapped("/insertion_order", Number, "/order"),
    mapped("/extensions/triggers/*", Text, "/triggers/*"),
    approximated("/extensions/display_index", "/displayIndex", EDITOR).making(Making::All),
    kept("/extensions/automation_id", QUICK_REPLIES),
    kept("/priority", "no application orders by it"),
];
