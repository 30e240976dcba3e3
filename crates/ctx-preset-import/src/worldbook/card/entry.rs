//! Entries of character cards, with their fields under other names.

use serde_json::{Map, Value};

use crate::kept::IMPORTED;
use crate::source::Source;
use crate::worldbook::world_info;

/// Where an entry of a card has a field.
pub(super) fn field(name: &str) -> Option<String> {
    if name == "disable" {
        return Some("enabled".to_owned());
    }
    let renamed = CARD_FIELDS.iter().find(|(_, ours)| *ours == name).map(|(theirs, _)| (*theirs).to_owned());
    let extension = || CARD_EXTENSIONS.iter().find(|(_, ours)| *ours == name);
    renamed.or_else(|| extension().map(|(theirs, _)| format!("extensions/{theirs}")))
}

/// The fields of an entry that have another name, or stand below `extensions`; each with its name here.
pub(crate) const CARD_FIELDS: [(&str, &str); 6] = [
    ("id", "uid"),
    ("keys", "key"),
    ("secondary_keys", "keysecondary"),
    ("comment", "comment"),
    ("content", "content"),
    ("insertion_order", "order"),
];

/// What SillyTavern keeps below `extensions`.
pub(crate) const CARD_EXTENSIONS: [(&str, &str); 30] = [
    ("exclude_recursion", "excludeRecursion"),
    ("prevent_recursion", "preventRecursion"),
    ("delay_until_recursion", "delayUntilRecursion"),
    ("probability", "probability"),
    ("useProbability", "useProbability"),
    ("depth", "depth"),
    ("selectiveLogic", "selectiveLogic"),
    ("outlet_name", "outletName"),
    ("group", "group"),
    ("group_override", "groupOverride"),
    ("group_weight", "groupWeight"),
    ("scan_depth", "scanDepth"),
    ("case_sensitive", "caseSensitive"),
    ("match_whole_words", "matchWholeWords"),
    ("use_group_scoring", "useGroupScoring"),
    ("automation_id", "automationId"),
    ("role", "role"),
    ("vectorized", "vectorized"),
    ("sticky", "sticky"),
    ("cooldown", "cooldown"),
    ("delay", "delay"),
    ("match_persona_description", "matchPersonaDescription"),
    ("match_character_description", "matchCharacterDescription"),
    ("match_character_personality", "matchCharacterPersonality"),
    ("match_character_depth_prompt", "matchCharacterDepthPrompt"),
    ("match_scenario", "matchScenario"),
    ("match_creator_notes", "matchCreatorNotes"),
    ("triggers", "triggers"),
    ("ignore_budget", "ignoreBudget"),
    ("display_index", "displayIndex"),
];

/// What else counts in an entry.
const OTHERS: [&str; 9] = [
    "comment",
    "name",
    "constant",
    "selective",
    "enabled",
    "case_sensitive",
    "position",
    "extensions",
    "key",
];

const USE_REGEX: &str = "a key written as /…/ is always a regular expression";
pub(in crate::worldbook) const EDITOR: &str = "for editors; same field here";
pub(in crate::worldbook) const QUICK_REPLIES: &str = "quick replies are not supported";

/// Brings entries of one book into the unified form.
pub(crate) struct Converter {
    is_v3: bool,
    /// The form that the last entry got.
    last: Option<Shape>,
}

/// An entry in the unified form without its values: applications write the same fields in each, and to copy a map costs
/// less than to make another one.
struct Shape {
    /// Which of the fields are there, a bit for each.
    fields: u64,
    map: Map<String, Value>,
}

/// How many places for fields an entry has: those of cards and their extensions, four more, and a second one for two.
const FIELDS: usize = CARD_FIELDS.len() + CARD_EXTENSIONS.len() + 6;

// Each has a bit.
const _: () = assert!(FIELDS <= u64::BITS as usize);

/// The fields of an entry in the unified form, in their order, with the values of those that are there.
struct Fields<'v> {
    all: [(&'static str, Option<&'v Value>); FIELDS],
    count: usize,
}

impl<'v> Fields<'v> {
    fn push(&mut self, name: &'static str, value: Option<&'v Value>) {
        debug_assert!(self.count < FIELDS, "converted field by field");
        if let Some(place) = self.all.get_mut(self.count) {
            *place = (name, value);
            self.count += 1;
        }
    }

    fn of_those_there(&self) -> impl Iterator<Item = (usize, &'static str, &'v Value)> {
        let numbered = self.all.iter().enumerate();
        numbered.filter_map(|(at, (name, value))| value.map(|value| (at, *name, value)))
    }
}

impl Converter {
    /// Converts entries of a book; `is_v3` if version 3 says so.
    pub(crate) fn new(is_v3: bool) -> Self {
        Self { is_v3, last: None }
    }

    /// Brings an entry into the unified form, with what it was beside, where the text is null: it stands once.
    pub(crate) fn entry(&mut self, value: Value) -> Value {
        let unified = self.unified(Source::unrecorded(&value));
        completed(unified, value)
    }

    /// Makes the unified form of an entry, where its text and what it is made of have their places; none for what is no
    /// entry, and for one that has our own form too.
    pub(super) fn unified(&mut self, entry: Source<'_>) -> Option<Map<String, Value>> {
        let map = entry.object()?;
        let [comment, name, constant, selective, enabled, case_sensitive, place, extensions, own] =
            find_each(map, &OTHERS, |name| name);
        if own.is_some() {
            world_info::take_entry(entry);
            return None;
        }
        let none = Map::new();
        let extensions = extensions.and_then(Value::as_object).unwrap_or(&none);
        let has_title = comment.is_some_and(|comment| !is_blank(comment));
        let title = if has_title {
            entry.found(name).keep("the comment becomes the title");
            None
        } else {
            entry.found(name).text().into("/comment");
            name
        };
        let is_enabled = entry.found(enabled).flag().perhaps().into("/disable");
        let is_off = is_enabled.map(|enabled| Value::Bool(!enabled));
        let has_case = extensions.get("case_sensitive").is_some_and(|case| !case.is_null());
        let case = case_sensitive.filter(|_| self.is_v3 && !has_case);
        if self.is_v3 && !has_case {
            entry.found(case).flag().into("/caseSensitive");
        } else {
            entry.found(case_sensitive).keep("the value in `extensions` is used");
        }
        let extended = entry.found(extensions.get("position"));
        let position = extended.value().filter(|position| !position.is_null());
        let otherwise = Value::from(u8::from(place.and_then(Value::as_str) != Some("before_char")));
        if position.is_some() {
            extended.any().into("/position");
            entry.found(place).keep("the position in `extensions` applies");
        } else {
            extended.keep("empty");
            entry.found(place).named(&["before_char", "after_char"]).into("/position");
        }
        entry.found(constant).switch().into("/constant");
        entry.found(selective).switch().into("/selective");
        entry.at("use_regex").flag().nearly(USE_REGEX).perhaps().into("/key");
        entry.at("priority").keep("not used for sorting");

        let mut fields = Fields { all: [("", None); FIELDS], count: 0 };
        let (mut is_titled, mut is_cased) = (false, false);
        let given = find_each(map, &CARD_FIELDS, |(theirs, _)| theirs);
        for ((theirs, to), found) in CARD_FIELDS.iter().zip(given) {
            let field = entry.found(found);
            match *theirs {
                "id" => drop(field.scalar().into(*to)),
                "keys" | "secondary_keys" => field.texts(to),
                "insertion_order" => drop(field.number().into(*to)),
                "comment" if title.is_some() => field.keep("empty; the name becomes the title"),
                _ => drop(field.text().into(*to)),
            }
            let is_title = *to == "comment" && found.is_some();
            is_titled |= is_title;
            let found = found.map(|found| title.filter(|_| is_title).unwrap_or(found));
            let moves = *to == "content" && found.is_some_and(Value::is_string);
            fields.push(to, if moves { Some(&Value::Null) } else { found });
        }
        fields.push("comment", title.filter(|_| !is_titled));
        fields.push("constant", constant);
        fields.push("selective", selective.or(Some(&Value::Bool(false))));
        fields.push("disable", is_off.as_ref());
        let extended = find_each(extensions, &CARD_EXTENSIONS, |(theirs, _)| theirs);
        for ((theirs, to), found) in CARD_EXTENSIONS.iter().zip(extended) {
            let field = entry.found(found);
            match *theirs {
                "display_index" => drop(field.any().alike(EDITOR).into(*to)),
                "automation_id" => field.keep(QUICK_REPLIES),
                _ => drop(field.any().into(*to)),
            }
            if *theirs == "triggers" {
                field.each_text(to);
            }
            let is_case = *to == "caseSensitive" && found.is_some();
            is_cased |= is_case;
            fields.push(to, found.map(|found| case.filter(|_| is_case).unwrap_or(found)));
        }
        fields.push("caseSensitive", case.filter(|_| !is_cased));
        fields.push("position", Some(position.unwrap_or(&otherwise)));
        Some(self.shaped(&fields))
    }

    /// Makes a map of fields and of a place for what they are made of.
    fn shaped(&mut self, fields: &Fields<'_>) -> Map<String, Value> {
        let there = fields.of_those_there().map(|(at, ..)| 1 << at).sum();
        let shape = self.last.take().filter(|last| last.fields == there).unwrap_or_else(|| {
            let names = fields.of_those_there().map(|(_, name, _)| name).chain([IMPORTED]);
            Shape { fields: there, map: names.map(|name| (name.to_owned(), Value::Null)).collect() }
        });
        let mut entry = shape.map.clone();
        for (place, (.., value)) in entry.values_mut().zip(fields.of_those_there()) {
            *place = value.clone();
        }
        self.last = Some(shape);
        entry
    }
}

/// Puts an entry and its text into its unified form, if it has one.
pub(super) fn completed(unified: Option<Map<String, Value>>, value: Value) -> Value {
    let Value::Object(mut map) = value else { return value };
    let Some(mut entry) = unified else {
        // A file that several applications wrote may have both forms side by side.
        let mut entry = map.clone();
        entry.insert(IMPORTED.to_owned(), Value::Object(map));
        return Value::Object(entry);
    };
    let content = map.get_mut("content").filter(|content| content.is_string()).map(Value::take);
    if let (Some(place), Some(content)) = (entry.get_mut("content"), content) {
        *place = content;
    }
    if let Some(original) = entry.get_mut(IMPORTED) {
        *original = Value::Object(map);
    }
    Value::Object(entry)
}

/// Finds the values of fields. O(keys) where they stand in nearly this order, as applications write them.
pub(super) fn find_each<'v, T, const N: usize>(
    map: &'v Map<String, Value>,
    fields: &[T; N],
    name: impl Fn(&T) -> &str,
) -> [Option<&'v Value>; N] {
    let mut found = [None; N];
    let mut next = 0;
    for (key, value) in map {
        let is_next = fields.get(next).is_some_and(|field| name(field) == key);
        let at = if is_next { Some(next) } else { fields.iter().position(|field| name(field) == key) };
        if let Some(at) = at {
            found[at] = Some(value);
            next = at + 1;
        }
    }
    found
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_none_or(|text| text.trim().is_empty())
}
