//! Places in what was made, by JSON pointers, without writing all of it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use ctx_types::internal::{UnknownKeys, pointer_key};
use ctx_types::worldbook::{Worldbook, WorldbookEntry};
use ctx_types::{Agent, Persist as _, RegexRule};
use serde_json::{Map, Value};

use crate::import::{Import, NamedBook};
use crate::kept::IMPORTED;

/// Finds places in all that was made, but for conversations.
pub(super) struct Places<'v> {
    outline: &'v Value,
    books: Vec<Entries<'v>>,
    /// The regex rules of each list of the agent.
    rules: Vec<&'v [RegexRule]>,
}

/// The entries of a book, and by their keys as soon as one is looked for.
struct Entries<'v> {
    book: &'v Worldbook,
    by_key: OnceCell<HashMap<&'v str, &'v WorldbookEntry>>,
}

impl<'v> Places<'v> {
    pub(super) fn new(outline: &'v Outline, books: &'v [NamedBook], agent: Option<&'v Agent>) -> Self {
        let books =
            books.iter().map(|named| Entries { book: &named.book, by_key: OnceCell::new() }).collect();
        let config = agent.and_then(|agent| agent.regex_config.as_ref());
        let lists = config.map(|config| config.presets.as_slice()).unwrap_or_default();
        Self {
            outline: &outline.value,
            books,
            rules: lists.iter().map(|list| list.rules.as_slice()).collect(),
        }
    }

    /// Returns whether something is at a place. O(steps).
    pub(super) fn has(&self, to: &str) -> bool {
        if let Some((book, key, below)) = item_of(to, "/worldbooks/", "entries/") {
            let entry = self.books.get(book).and_then(|entries| entries.find(&pointer_key(key)));
            return entry.is_some_and(|entry| is_in_entry(entry, below));
        }
        if let Some((list, number, below)) = item_of(to, "/regexConfig/presets/", "rules/")
            && let Some(rule) =
                number.parse::<usize>().ok().and_then(|number| self.rules.get(list)?.get(number))
        {
            return is_in_rule(rule, below);
        }
        steps(self.outline, to).is_some() || self.has_rules(to)
    }

    /// Returns whether a place is that of rules, which the outline is without.
    fn has_rules(&self, to: &str) -> bool {
        let list = to.strip_prefix("/regexConfig/presets/").and_then(|below| below.strip_suffix("/rules"));
        let list = list.and_then(|number| self.rules.get(number.parse::<usize>().ok()?));
        list.is_some_and(|rules| !rules.is_empty())
    }

    /// Returns where a field of a book is if ours took its place.
    pub(super) fn displaced(&self, to: &str) -> Option<String> {
        let (number, below) = to.strip_prefix("/worldbooks/")?.split_once('/')?;
        let field = below.split('/').next().filter(|field| DISPLACED.contains(field))?;
        let books = self.outline.get("worldbooks")?;
        step(step(books, number)?, IMPORTED)?.get(field)?;
        let place = format!("/worldbooks/{number}/{IMPORTED}/{below}");
        steps(self.outline, &place).is_some().then_some(place)
    }
}

impl<'v> Entries<'v> {
    fn find(&self, key: &str) -> Option<&'v WorldbookEntry> {
        let all = || self.book.entries.iter().map(|(key, entry)| (&**key, entry)).collect();
        self.by_key.get_or_init(all).get(key).copied()
    }
}

/// What a book's own fields may displace.
const DISPLACED: [&str; 4] = ["name", "entries", "dialect", IMPORTED];

/// All that was made, but for conversations, the entries of books and regex rules, of which there may be thousands.
pub(super) struct Outline {
    pub(super) value: Value,
}

impl Outline {
    pub(super) fn of(made: &mut Import) -> Self {
        let mut all = match made.agent.as_mut().map(without_rules) {
            Some(Value::Object(agent)) => agent,
            _ => Map::new(),
        };
        let books = made.worldbooks.iter_mut().map(|named| without_entries(&mut named.book)).collect();
        all.insert("worldbooks".to_owned(), books);
        all.extend(made.profile.as_ref().map(|profile| ("profile".to_owned(), profile.write())));
        all.extend(made.template.clone().map(|template| ("template".to_owned(), template)));
        Self { value: Value::Object(all) }
    }

    /// Returns whether a book has entries of its own elsewhere, since ours took their place.
    pub(super) fn has_displaced_entries(&self) -> bool {
        let books = self.value.get("worldbooks").and_then(Value::as_array).map(Vec::as_slice);
        let entries = |book: &Value| book.get(IMPORTED).is_some_and(|kept| kept.get("entries").is_some());
        books.unwrap_or_default().iter().any(entries)
    }
}

/// Writes an agent but for its regex rules.
fn without_rules(agent: &mut Agent) -> Value {
    let mut lists = Vec::new();
    each_list(agent, |rules| lists.push(std::mem::take(rules)));
    let written = agent.write();
    let mut lists = lists.into_iter();
    each_list(agent, |rules| *rules = lists.next().unwrap_or_default());
    written
}

fn each_list(agent: &mut Agent, mut act: impl FnMut(&mut Vec<RegexRule>)) {
    let lists = agent.regex_config.iter_mut().flat_map(|config| &mut config.presets);
    lists.for_each(|list| act(&mut list.rules));
}

/// Writes a book but for its entries.
fn without_entries(book: &mut Worldbook) -> Value {
    let entries = std::mem::take(&mut book.entries);
    let written = book.write();
    book.entries = entries;
    written
}

/// Divides a place in an item of one of several lists: the number of the list, the item, and what is below it.
fn item_of<'t>(to: &'t str, lists: &str, items: &str) -> Option<(usize, &'t str, &'t str)> {
    let (number, below) = to.strip_prefix(lists)?.split_once('/')?;
    let item = below.strip_prefix(items)?;
    let (item, below) = item.find('/').map_or((item, ""), |at| item.split_at(at));
    Some((number.parse().ok()?, item, below))
}

/// Returns whether something is at a place of an entry that was read and not changed since: each key of its file is
/// written again, and the fields that we know have all that they had.
fn is_in_entry(entry: &WorldbookEntry, below: &str) -> bool {
    let is_known = |field: &str| WorldbookEntry::KEYS.contains(&field);
    slot_of(&entry.kept, below).is_none_or(|(field, slot, rest)| {
        slot.is_some_and(|slot| steps(slot, rest).is_some() || is_known(&field))
    })
}

/// Returns whether something is at a place of a rule that was read and not changed since.
fn is_in_rule(rule: &RegexRule, below: &str) -> bool {
    slot_of(&rule.kept, below).is_none_or(|(_, slot, rest)| {
        // What is below a field that we know was moved out of what is kept.
        slot.is_some_and(|slot| steps(slot, rest).is_some()) || steps(&rule.write(), below).is_some()
    })
}

/// Returns the field in which a place is, what is kept of it, and what is below it; none for the whole.
fn slot_of<'v, 't>(
    kept: &'v UnknownKeys,
    below: &'t str,
) -> Option<(Cow<'t, str>, Option<&'v Value>, &'t str)> {
    let below = below.strip_prefix('/')?;
    let (field, rest) = below.find('/').map_or((below, ""), |at| below.split_at(at));
    let field = pointer_key(field);
    let slot = kept.get(&field);
    Some((field, slot, rest))
}

/// Finds what is some steps below a value, as [`Value::pointer`] does, without a copy of each step.
pub(super) fn steps<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    match pointer.strip_prefix('/') {
        Some(below) => below.split('/').try_fold(value, step),
        None => pointer.is_empty().then_some(value),
    }
}

fn step<'v>(around: &'v Value, name: &str) -> Option<&'v Value> {
    match around {
        Value::Object(map) => map.get(&*pointer_key(name)),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}
