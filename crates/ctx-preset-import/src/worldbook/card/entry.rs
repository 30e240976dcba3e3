//! Entries of character cards, with their fields under other names.

use serde_json::Value;

use crate::kept::IMPORTED;
use crate::loose::Object;
use crate::source::{Source, SourceNode};
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

const USE_REGEX: &str = "a key written as /…/ is always a regular expression";
pub(in crate::worldbook) const EDITOR: &str = "for editors; same field here";
pub(in crate::worldbook) const QUICK_REPLIES: &str = "quick replies are not supported";

/// Brings an entry into the unified form, with the original next to it. The text is in the unified form only; it is
/// null in the original.
pub(crate) fn converted(value: Value, is_v3: bool) -> Value {
    let unified = unified(SourceNode::new(&value).source(), is_v3);
    completed(unified, value)
}

/// Returns the unified form of an entry, with null for its text and its original. `None` for a value that is not an
/// entry, and for an entry that has our own form too.
pub(super) fn unified(entry: Source<'_>, is_v3: bool) -> Option<Object> {
    entry.object()?;
    if entry.at("key").value().is_some() {
        world_info::take_entry(entry);
        return None;
    }
    let mut unified = Object::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            unified.entry(key).or_insert(value);
        }
    };
    let title = take_title(entry);
    for (theirs, to) in CARD_FIELDS {
        let field = entry.at(theirs);
        let value = match theirs {
            "id" => {
                field.scalar().into(to);
                field.value()
            }
            "keys" | "secondary_keys" => {
                field.texts(to);
                field.value()
            }
            "insertion_order" => {
                field.number().into(to);
                field.value()
            }
            "comment" if title.is_some() => {
                field.keep("empty; the name becomes the title");
                field.value().and(title)
            }
            "content" if field.text().into(to).is_some() => Some(&Value::Null),
            _ => {
                field.text().into(to);
                field.value()
            }
        };
        put(to, value.cloned());
    }
    put("comment", title.cloned());
    for key in ["constant", "selective"] {
        let field = entry.at(key);
        field.switch().into(key);
        let otherwise = (key == "selective").then_some(Value::Bool(false));
        put(key, field.value().cloned().or(otherwise));
    }
    let is_enabled = entry.at("enabled").flag().into("/disable");
    put("disable", is_enabled.map(|is_enabled| Value::Bool(!is_enabled)));
    entry.at("use_regex").flag().approximated(USE_REGEX).into("/key");
    entry.at("priority").keep("not used for sorting");
    let (case, extensions) = (take_case(entry, is_v3), entry.at("extensions"));
    for (theirs, to) in CARD_EXTENSIONS {
        let field = extensions.at(theirs);
        match theirs {
            "display_index" => drop(field.any().equivalent(EDITOR).into(to)),
            "automation_id" => field.keep(QUICK_REPLIES),
            _ => drop(field.any().into(to)),
        }
        if theirs == "triggers" {
            field.each_text(to);
        }
        let case = case.filter(|_| to == "caseSensitive" && field.value().is_some());
        put(to, case.or(field.value()).cloned());
    }
    put("caseSensitive", case.cloned());
    put("position", Some(take_position(entry)));
    put(IMPORTED, Some(Value::Null));
    Some(unified)
}

/// Takes the name of an entry where its comment is blank.
fn take_title(entry: Source<'_>) -> Option<&Value> {
    let (comment, name) = (entry.at("comment"), entry.at("name"));
    if comment.value().is_some_and(|comment| !is_blank(comment)) {
        name.keep("the comment becomes the title");
        return None;
    }
    name.text().into("/comment");
    name.value()
}

/// Takes `case_sensitive` of version 3, unless the extensions set it.
fn take_case(entry: Source<'_>, is_v3: bool) -> Option<&Value> {
    let case = entry.at("case_sensitive");
    if is_v3 && entry.at("extensions/case_sensitive").filled().value().is_none() {
        case.flag().into("/caseSensitive");
        return case.value();
    }
    case.keep("the value in `extensions` is used");
    None
}

fn take_position(entry: Source<'_>) -> Value {
    let (place, extended) = (entry.at("position"), entry.at("extensions/position"));
    if let Some(position) = extended.filled().value() {
        extended.any().into("/position");
        place.keep("the position in `extensions` applies");
        return position.clone();
    }
    extended.keep("empty");
    place.named(&["before_char", "after_char"]).into("/position");
    Value::from(u8::from(place.as_str() != Some("before_char")))
}

/// Puts an entry and its text into its unified form, if it has one.
pub(super) fn completed(unified: Option<Object>, value: Value) -> Value {
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

fn is_blank(value: &Value) -> bool {
    value.as_str().is_none_or(|text| text.trim().is_empty())
}
