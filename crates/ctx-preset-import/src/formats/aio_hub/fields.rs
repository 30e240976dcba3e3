//! AIO Hub's files but for conversations, whose form is ours: their fields stay where they are.
//!
//! What reads our nouns takes each field that a noun has. One that only applications look at is approximated, and any
//! other is kept beside them.

use ctx_types::codes::WRONG_TYPE;
use ctx_types::internal::pointer_step;
use ctx_types::{
    Agent, Character, Diagnostic, Greeting, InjectionStrategy, ModelMatch, PresetGroup, PresetMessage,
    RegexConfig, RegexDepths, RegexPreset, RegexRule, RegexStages, StoredAttachment, UserProfile,
};
use serde_json::Value;

use super::{BUNDLED, is_of_export};
use crate::codes;
use crate::format::Format;
use crate::formats::sillytavern::parameters::SAMPLERS;
use crate::imported::Moves;
use crate::kept::{IMPORTED, has_room};
use crate::report::NOT_READ;
use crate::source::Source;
use crate::worldbook::Form;

pub(crate) const SHOWN: &str = "display only; no effect on contexts";
const GREETING: &str = "an old import stored a greeting as an entry";
const OLDER: &str = "an old form of `processors`";
const TEMPLATE: &str = "the default template of the anchor replaces it";
const STRATEGY: &str = "the type is inferred from the other fields";

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

/// Takes the fields of the document of an agent, with the diagnostics of its reader.
///
/// `books` has the numbers of bundled worldbooks outside of the agent.
pub(crate) fn take_agent(
    format: Format,
    file: Source<'_>,
    found: &[Diagnostic],
    moves: &Moves,
    books: &[Option<usize>],
) {
    match format {
        Format::AgentExport => export(file, moves, books),
        Format::PresetList => entries(placed(file, "/presetMessages"), moves),
        Format::PresetFile => preset_file(placed(file, ""), moves, books),
        _ => agent(placed(file, ""), moves, books),
    }
    take_found(file, found);
}

/// Takes the fields of a profile, with what reading it found.
pub(crate) fn take_profile(file: Source<'_>, found: &[Diagnostic]) {
    if file.object().is_none() {
        file.any().into("/profile/content");
        return;
    }
    profile(placed(file, "/profile"));
    take_found(file, found);
}

/// Records for values what reading found in them, or made of them.
fn take_found(file: Source<'_>, found: &[Diagnostic]) {
    for finding in found {
        let at = finding.location.pointer.as_deref().map(|pointer| file.at_pointer(pointer));
        match (finding.code, at) {
            (WRONG_TYPE, Some(value)) => value.keep(NOT_READ),
            (codes::MIGRATED_TEMPLATE, Some(content)) => content.stay_approximated(TEMPLATE),
            (codes::MIGRATED_STRATEGY, Some(strategy)) => {
                strategy.at("type").or(strategy).any().approximated(STRATEGY).stay();
            }
            (codes::MIGRATED_PARAMETERS, Some(custom)) => {
                custom.lead_to("/parameters/custom/params").stay_approximated("moved to `params`");
            }
            _ => {}
        }
    }
}

/// Describes where what stands at a place goes, whether it is taken or kept.
pub(crate) fn placed<'v>(source: Source<'v>, place: &str) -> Source<'v> {
    source.lead_to(place).keep_at(place)
}

pub(crate) fn noun(source: Source<'_>, keys: &[&str]) {
    source.divide();
    source.stay_each(keys);
}

/// Takes a list, or an object of its items by their names.
pub(crate) fn list(source: Source<'_>, take: impl Fn(Source<'_>)) {
    source.divide();
    source.with_names().children().for_each(take);
}

/// Takes fields that no noun has.
pub(crate) fn shown(source: Source<'_>, keys: &[&str], note: &'static str) {
    for key in keys {
        source.at(key).stay_approximated(note);
    }
}

fn export(file: Source<'_>, moves: &Moves, books: &[Option<usize>]) {
    let file = file.lead_to("").keep_at("/imported/envelope");
    for (_, field) in file.fields().filter(|(key, field)| is_needless(key, *field)) {
        field.approximate_all("identifies the file type; written again on export", "");
    }
    for (index, other) in file.at("agents").items() {
        if index > 0 {
            other.lead_to("").keep_at("/imported/envelope/agents/*");
        } else if let Some(first) = other.object() {
            agent(placed(other, ""), moves, books);
            let own = first.get(IMPORTED).and_then(Value::as_object);
            if own.is_none_or(|own| !has_room(own, [])) && has_envelope(file) {
                other.at(IMPORTED).keep_at("/imported/imported");
            }
        }
    }
}

/// Returns whether every export says this around its agents.
fn is_needless(key: &str, field: Source<'_>) -> bool {
    field.value().is_some_and(|value| is_of_export(key, value))
}

/// Returns whether there is anything around the first agent of an export that not every export says.
fn has_envelope(file: Source<'_>) -> bool {
    file.fields().any(|(key, field)| match key {
        "agents" => field.items().count() > 1,
        key => !is_needless(key, field),
    })
}

fn agent(file: Source<'_>, moves: &Moves, books: &[Option<usize>]) {
    shown(file, &AGENT_SHOWN, SHOWN);
    if !moves.greetings.is_empty() {
        file.at("displayPresetCount").stay_approximated("reduced by the number of greetings");
    }
    noun(file, Agent::KEYS);
    file.stay_each(&OF_AGENT);
    noun(file.at("character"), Character::KEYS);
    noun(file.at("character/depthPrompt"), &["prompt", "depth", "role"]);
    entries(file.at("presetMessages"), moves);
    list(file.at("presetGroups"), |group| noun(group, PresetGroup::KEYS));
    list(file.at("greetings"), |greeting| noun(greeting, Greeting::KEYS));
    take_parameters(file.at("parameters"), moves);
    regex(file.at("regexConfig"));
    noun(file.at("variableConfig"), &["enabled", "definitions"]);
    let time = file.at("virtualTimeConfig");
    time.divide();
    time.at("virtualBaseTime").text().stay();
    time.at("realBaseTime").text().stay();
    time.at("timeScale").plain_number().stay();
    list(file.at("assets"), |asset| noun(asset, &ASSET));
    bundled(file.at(BUNDLED), books);
    // Other files may be kept next to these.
    file.at(IMPORTED).keep_at("/imported");
}

const ASSET: [&str; 8] = ["id", "path", "filename", "type", "description", "group", "usage", "extension"];

/// Takes the entries of a preset, of which some may have become greetings.
fn entries(given: Source<'_>, moves: &Moves) {
    if moves.greetings.is_empty() {
        return list(given, entry);
    }
    given.divide();
    for ((_, item), is_greeting) in given.items().zip(&moves.greetings) {
        if *is_greeting {
            shown(placed(item, "/greetings/*"), Greeting::KEYS, GREETING);
        } else {
            entry(placed(item, "/presetMessages/*"));
        }
    }
}

fn entry(entry: Source<'_>) {
    shown(entry, &ENTRY_SHOWN, SHOWN);
    shown(entry, &ENTRY_LINKS, "the order of the list applies");
    noun(entry, PresetMessage::KEYS);
    noun(entry.at("injectionStrategy"), InjectionStrategy::KEYS);
    noun(entry.at("modelMatch"), ModelMatch::KEYS);
    list(entry.at("presetAttachments"), attachment);
    list(entry.at("attachments"), attachment);
}

pub(crate) fn attachment(attachment: Source<'_>) {
    noun(attachment, StoredAttachment::KEYS);
    attachment.stay_each(&["url", "detail", "size", "metadata", "videoMetadata"]);
}

fn regex(config: Source<'_>) {
    noun(config, RegexConfig::KEYS);
    list(config.at("presets"), |preset| {
        noun(preset, RegexPreset::KEYS);
        list(preset.at("rules"), |rule| {
            noun(rule, RegexRule::KEYS);
            noun(rule.at("applyTo"), RegexStages::KEYS);
            noun(rule.at("depthRange"), RegexDepths::KEYS);
        });
    });
}

/// Other names that samplers have in an agent.
const SAMPLER_NAMES: [&str; 5] = ["top_p", "top_k", "max_tokens", "frequency_penalty", "presence_penalty"];

/// Takes the settings of an agent: samplers, the size of the context, processors, compression.
fn take_parameters(given: Source<'_>, moves: &Moves) {
    given.divide();
    for name in SAMPLERS.iter().map(|(_, name)| *name).chain(SAMPLER_NAMES) {
        match name {
            "reasoningEffort" | "verbosity" => drop(given.at(name).text().stay()),
            name => drop(given.at(name).plain_number().stay()),
        }
    }
    given.at("stop").stay();
    given.at("contextCompression").stay();
    list(given.at("processors"), |processor| noun(processor, &["id", "enabled", "priority", "config"]));
    let management = given.at("contextManagement");
    management.any().stay();
    for name in ["enabled", "includesAnswer"] {
        management.at(name).flag().stay();
    }
    for name in ["maxContextTokens", "retainedCharacters"] {
        management.at(name).plain_number().stay();
    }
    formatters(given.at("contextPostProcessing/rules"), &moves.rules);
}

/// Takes formatter rules, of which each became a setting of a processor or stays among the others that did not.
fn formatters(rules: Source<'_>, moves: &[bool]) {
    for ((_, rule), _) in rules.items().zip(moves).filter(|(_, is_moved)| **is_moved) {
        let rule = placed(rule, "/parameters/processors/*");
        rule.any().approximated(OLDER).into("/id");
        for (key, field) in rule.fields() {
            match key {
                "type" => drop(field.any().approximated(OLDER).into("/id")),
                "enabled" => drop(field.any().approximated(OLDER).into("/enabled")),
                key => {
                    let place = format!("/parameters/processors/*/config/{}", pointer_step(key));
                    field.lead_to(place).stay_approximated(OLDER);
                }
            }
        }
    }
}

fn preset_file(file: Source<'_>, moves: &Moves, books: &[Option<usize>]) {
    agent(file, moves, books);
    entries(placed(file.at("messages"), "/presetMessages"), moves);
    let groups = file.at("groups");
    if file.at("presetGroups").value().is_none() && groups.value().is_some_and(Value::is_array) {
        list(placed(groups, "/presetGroups"), |group| noun(group, PresetGroup::KEYS));
    }
}

fn profile(profile: Source<'_>) {
    shown(profile, &["icon", "avatarHistory", "createdAt", "lastUsedAt"], SHOWN);
    noun(profile, UserProfile::KEYS);
    regex(profile.at("regexConfig"));
}

const FILE: &str = "the name is used to find its worldbook";

/// Takes the books in the file of an agent; `taken` has the numbers of those outside of the agent.
fn bundled(items: Source<'_>, taken: &[Option<usize>]) {
    items.divide();
    for (index, item) in items.objects() {
        item.at("id").text().stay();
        item.at("name").text().stay();
        item.at("fileName").text().approximated(FILE).into("/worldbookIds");
        if let Some(number) = taken.get(index).copied().flatten() {
            drop(Form::take(item.at("content"), &format!("/worldbooks/{number}")));
        }
    }
}
