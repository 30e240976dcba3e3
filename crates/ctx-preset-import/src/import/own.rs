//! What becomes of each field of AIO Hub's files but for conversations, whose form is ours.
//!
//! A field that one of our nouns has is mapped to its place there, one that only applications look at is approximated,
//! and any other is kept beside them.

use std::rc::Rc;

use ctx_types::{
    Agent, Character, Greeting, InjectionStrategy, ModelMatch, PresetGroup, PresetMessage, RegexConfig,
    RegexDepths, RegexPreset, RegexRule, RegexStages, StoredAttachment, UserProfile,
};
use serde_json::Value;

use super::bundled;
use crate::aio_hub::{BUNDLED, is_of_export};
use crate::format::Format;
use crate::kept::{IMPORTED, has_room};
use crate::loose::Object;
use crate::report::Expect::{Any, Flag, PlainNumber, Text};
use crate::report::{Link, Rule, RuleSet, SAME, approximated, mapped};
use crate::sillytavern::parameters::SAMPLERS;
use crate::{greetings, parameters};

pub(super) const SHOWN: &str = "for applications that show it; no context depends on it";
const LISTED: &str = "the order of the list says what follows what";
const ENVELOPE: &str = "says what the file is, and is written again on export";
const GREETING: &str = "an old import left a greeting among the entries";
const OLDER: &str = "an older spelling of `processors`";

/// Fields that are read of an agent though none of its noun's.
const OF_AGENT: [&str; 7] =
    ["tags", "assetGroups", "visualGuideline", "tools", "expandInput", "persona", "systemPrompt"];

/// Fields of an agent that are shown to people.
const AGENT_SHOWN: [&str; 10] = [
    "version",
    "icon",
    "avatarHistory",
    "category",
    "creator",
    "displayPresetCount",
    "defaultGreetingId",
    "createdAt",
    "lastUsedAt",
    "updatedAt",
];

/// Fields of an entry that are shown to people, and links that its list makes needless.
const ENTRY_SHOWN: [&str; 3] = ["status", "timestamp", "updatedAt"];
const ENTRY_LINKS: [&str; 3] = ["parentId", "childrenIds", "lastSelectedChildId"];

/// Returns the rules for a document of AIO Hub, where its fields go, and where what is kept is.
pub(super) fn of(format: Format, document: &Value) -> (RuleSet, &'static str, &'static str) {
    let none = Object::new();
    let file = document.as_object().unwrap_or(&none);
    match format {
        Format::AgentExport => (export(file), "", "/imported/envelope"),
        Format::PresetList => {
            let set = entries(document, None);
            (set, "/presetMessages", "/presetMessages")
        }
        Format::PresetFile => (preset_file(file), "", ""),
        Format::Profile => (profile(), "/profile", "/profile"),
        Format::PlainText => (RuleSet::new([mapped("", Any, "/profile/content")]), "", ""),
        _ => (agent(file), "", ""),
    }
}

/// The fields of a noun, some with rules of their own; all stay where they are.
pub(super) fn noun<const N: usize>(keys: &[&'static str], nested: [(&'static str, RuleSet); N]) -> RuleSet {
    let mut set = RuleSet::new([mapped("", Any, SAME)]);
    for (key, rules) in nested {
        set.link("", key, Link::here(rules));
    }
    set.same("", keys);
    set
}

/// A list whose items have rules, or an object of such by their names.
pub(super) fn list(item: RuleSet) -> RuleSet {
    let mut set = RuleSet::new([mapped("", Any, SAME)]);
    set.link_any(Link::here(item));
    set
}

pub(super) fn shown(set: &mut RuleSet, keys: &[&'static str], note: &'static str) {
    for key in keys {
        set.below("", key, approximated("", SAME, note));
    }
}

fn export(file: &Object) -> RuleSet {
    let mut set = RuleSet::default();
    for (key, _) in file.iter().filter(|(key, value)| is_of_export(key, value)) {
        set.single("", key, approximated("", "", ENVELOPE));
    }
    let agents = file.get("agents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if let Some(Value::Object(first)) = agents.first() {
        let mut rules = agent(first);
        let own = first.get(IMPORTED);
        let is_alone = own.and_then(Value::as_object).is_none_or(|own| !has_room(own, []));
        if is_alone && has_envelope(file) {
            let other = Rc::new(RuleSet::default());
            rules.link("", IMPORTED, Link::new(&other, "").keeping_at("/imported/imported"));
        }
        set.link("/agents", "0", Link::new(&Rc::new(rules), "").keeping_at(""));
    }
    let other = Rc::new(RuleSet::default());
    for index in 1..agents.len() {
        let place = format!("/imported/envelope/agents/{}", index - 1);
        set.link("/agents", index.to_string(), Link::new(&other, "").keeping_at(place));
    }
    set
}

/// Tells whether there is anything around the first agent of an export that not every export says.
fn has_envelope(file: &Object) -> bool {
    let is_own = |(key, value): (&String, &Value)| match key.as_str() {
        "agents" => value.as_array().is_some_and(|agents| agents.len() > 1),
        key => !is_of_export(key, value),
    };
    file.iter().any(is_own)
}

fn agent(file: &Object) -> RuleSet {
    let entries = entries(file.get("presetMessages").unwrap_or(&Value::Null), file.get("greetings"));
    let group = noun(PresetGroup::KEYS, []);
    let greeting = noun(Greeting::KEYS, []);
    let note = noun(&["prompt", "depth", "role"], []);
    let mut set = noun(
        Agent::KEYS,
        [
            ("character", noun(Character::KEYS, [("depthPrompt", note)])),
            ("presetMessages", entries),
            ("presetGroups", list(group)),
            ("greetings", list(greeting)),
            ("parameters", parameters(file.get("parameters").unwrap_or(&Value::Null))),
            ("regexConfig", regex()),
            ("variableConfig", noun(&["enabled", "definitions"], [])),
            ("virtualTimeConfig", RuleSet::new(VIRTUAL_TIME)),
            ("assets", list(noun(&ASSET, []))),
            (BUNDLED, bundled::rules(file)),
        ],
    );
    set.same("", &OF_AGENT);
    shown(&mut set, &AGENT_SHOWN, SHOWN);
    set
}

const VIRTUAL_TIME: [Rule; 4] = [
    mapped("", Any, SAME),
    mapped("/virtualBaseTime", Text, SAME),
    mapped("/realBaseTime", Text, SAME),
    mapped("/timeScale", PlainNumber, SAME),
];

const ASSET: [&str; 8] = ["id", "path", "filename", "type", "description", "group", "usage", "extension"];

/// The entries of a preset, from which greetings move as [`greetings::gather`] has it.
fn entries(given: &Value, greetings: Option<&Value>) -> RuleSet {
    let mut set = list(entry());
    let given = given.as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(moves) = greetings::moving(given, greetings) else { return set };
    let mut greeting = RuleSet::default();
    shown(&mut greeting, Greeting::KEYS, GREETING);
    let (greeting, entry) = (Rc::new(greeting), Rc::new(entry()));
    let (mut said, mut left) = (0, 0);
    for (index, is_greeting) in moves.into_iter().enumerate() {
        let (rules, name, number) = match is_greeting {
            true => (&greeting, "greetings", &mut said),
            false => (&entry, "presetMessages", &mut left),
        };
        let place = format!("/{name}/{number}");
        *number += 1;
        set.link("", index.to_string(), Link::new(rules, place.as_str()).keeping_at(place));
    }
    set
}

fn entry() -> RuleSet {
    let mut set = noun(
        PresetMessage::KEYS,
        [
            ("injectionStrategy", noun(InjectionStrategy::KEYS, [])),
            ("modelMatch", noun(ModelMatch::KEYS, [])),
            ("presetAttachments", list(attachment())),
            ("attachments", list(attachment())),
        ],
    );
    shown(&mut set, &ENTRY_SHOWN, SHOWN);
    shown(&mut set, &ENTRY_LINKS, LISTED);
    set
}

pub(super) fn attachment() -> RuleSet {
    let mut set = noun(StoredAttachment::KEYS, []);
    set.same("", &["url", "detail", "size", "metadata", "videoMetadata"]);
    set
}

fn regex() -> RuleSet {
    let rule = noun(
        RegexRule::KEYS,
        [("applyTo", noun(RegexStages::KEYS, [])), ("depthRange", noun(RegexDepths::KEYS, []))],
    );
    noun(RegexConfig::KEYS, [("presets", list(noun(RegexPreset::KEYS, [("rules", list(rule))])))])
}

/// Other names that samplers have in an agent.
const SAMPLER_NAMES: [&str; 5] = ["top_p", "top_k", "max_tokens", "frequency_penalty", "presence_penalty"];

/// The settings of an agent: samplers, the size of the context, processors, compression.
fn parameters(given: &Value) -> RuleSet {
    let mut set = RuleSet::new([mapped("", Any, SAME)]);
    let words = ["reasoningEffort", "verbosity"];
    for name in SAMPLERS.iter().map(|(_, name)| *name).chain(SAMPLER_NAMES) {
        let expect = if words.contains(&name) { Text } else { PlainNumber };
        set.field("", name, mapped("", expect, SAME));
    }
    set.same("", &["stop", "contextCompression"]);
    let processor = noun(&["id", "enabled", "priority", "config"], []);
    set.link("", "processors", Link::here(list(processor)));
    set.add([
        mapped("/contextManagement", Any, SAME),
        mapped("/contextManagement/enabled", Flag, SAME),
        mapped("/contextManagement/maxContextTokens", PlainNumber, SAME),
        mapped("/contextManagement/includesAnswer", Flag, SAME),
        mapped("/contextManagement/retainedCharacters", PlainNumber, SAME),
    ]);
    if let Some(moves) = parameters::moving(given) {
        formatters(&moves, &mut set);
    }
    set
}

/// Formatter rules, of which each became a setting of a processor or stays among the others that did not.
fn formatters(moves: &[Option<usize>], set: &mut RuleSet) {
    let moved = Rc::new(RuleSet::new([
        approximated("", "/id", OLDER),
        approximated("/type", "/id", OLDER),
        approximated("/enabled", "/enabled", OLDER),
        approximated("/*/**", "/config/*/**", OLDER),
    ]));
    let kept = Rc::new(RuleSet::default());
    let mut left = 0;
    for (index, number) in moves.iter().enumerate() {
        let (rules, place) = match number {
            Some(number) => (&moved, format!("/parameters/processors/{number}")),
            None => (&kept, format!("/parameters/contextPostProcessing/rules/{left}")),
        };
        left += usize::from(number.is_none());
        let link = Link::new(rules, place.as_str()).keeping_at(place);
        set.link("/contextPostProcessing/rules", index.to_string(), link);
    }
}

fn preset_file(file: &Object) -> RuleSet {
    let mut set = agent(file);
    let messages = file.get("messages").unwrap_or(&Value::Null);
    let entries = Rc::new(entries(messages, file.get("greetings")));
    set.link("", "messages", Link::new(&entries, "/presetMessages").keeping_at("/presetMessages"));
    if !file.contains_key("presetGroups") && file.get("groups").is_some_and(Value::is_array) {
        let groups = Rc::new(list(noun(PresetGroup::KEYS, [])));
        set.link("", "groups", Link::new(&groups, "/presetGroups").keeping_at("/presetGroups"));
    }
    set
}

fn profile() -> RuleSet {
    let mut set = noun(UserProfile::KEYS, [("regexConfig", regex())]);
    shown(&mut set, &["icon", "avatarHistory", "createdAt", "lastUsedAt"], SHOWN);
    set
}
