//! The settings by which the pipeline assembles as `SillyTavern` does: all of it is data.

use ctx_types::internal::canonical_id;
use serde_json::{Map, Value, json};

use super::arrange::Arrangement;
use super::lanes;
use super::parameters;
use super::person::PersonaPlace;
use super::preset::ChatPreset;
use super::settings::Settings;
use crate::loose::Object;

/// Returns the fields of an agent that a preset makes, with its card.
pub(crate) fn agent_fields(arrangement: &Arrangement<'_>, settings: &Settings) -> Object {
    let preset = arrangement.preset.0;
    let entries = arrangement.entries();
    let mut parameters = parameters::take(preset);
    parameters.insert("processors".to_owned(), Value::Array(of(arrangement, settings)));
    let mut agent = Object::new();
    agent.insert("presetMessages".to_owned(), Value::Array(entries));
    agent.insert("parameters".to_owned(), Value::Object(parameters));
    if let Some(model) = parameters::take_model(preset) {
        agent.insert("modelId".to_owned(), model.into());
    }
    agent.insert("dialect".to_owned(), "sillytavern".into());
    agent.insert("historyWhenUnplaced".to_owned(), "omit".into());
    agent
}

/// Returns the settings of processors that differ from what is built in.
fn of(arrangement: &Arrangement<'_>, settings: &Settings) -> Vec<Value> {
    let preset = arrangement.preset;
    let squash = preset.0.at("squash_system_messages").flag().into("/parameters/processors/*/enabled");
    let is_prefilled = preset.0.at("continue_prefill").flag();
    let is_prefilled = is_prefilled.into("/parameters/processors/*/config/continuation") == Some(true);
    let continuation = if is_prefilled { "last" } else { "in_place" };
    let processing = preset.0.at("custom_prompt_post_processing").text();
    let processing = processing.approximated("the closest formatters").into("/parameters/processors");
    let processing = processing.unwrap_or_default();
    let names_behavior = preset.0.at(NAMES);
    names_behavior.among(&[-1, 0, 1, 2]).into("/parameters/processors/*/config/mode");
    let examples =
        json!({ "header": "", "omit": !arrangement.has_examples(), "prefix": is_joined(processing) });
    let generation = json!({ "impersonate": "", "continue": "", "sendIfEmpty": "" });
    let loader = json!({ "continuation": continuation, "quietInput": "instruction", "pinLeading": false });
    let mut made = vec![
        json!({ "id": "session-loader", "config": loader }),
        on(WORLDBOOKS, &worldbooks(preset, settings)),
        on("author-note", &note(arrangement, settings)),
        on(EXAMPLES, &take_texts(preset, EXAMPLES, examples)),
        json!({
            "id": "injection-assembler",
            "config": { "switchedOffAnchors": "omit", "whiteSpace": "send", "worldInfoPlace": "anchor" },
        }),
        on(
            "speaker-names",
            &json!({ "mode": names(names_behavior.as_whole(), processing), "whiteSpace": "send" }),
        ),
        on("merge-injections", &json!({ "separator": "\n", "deeperFirst": true, "trim": true })),
        on(GENERATION, &take_texts(preset, GENERATION, generation)),
        on("token-limiter", &json!({ "extraTokensPerMessage": 1 })),
        json!({ "id": "merge-system-to-head", "enabled": false }),
        json!({
            "id": "squash-system",
            "enabled": squash == Some(true),
            "config": { "separator": "\n", "except": ["new_chat", "example_header"] },
        }),
    ];
    made.extend(post_processing(processing));
    made.push(json!({ "id": "regex-processor", "config": { "whiteSpace": "send" } }));
    made
}

fn on(id: &str, config: &Value) -> Value {
    json!({ "id": id, "enabled": true, "config": config })
}

pub(crate) const NAMES: &str = "names_behavior";

/// The names of [`NAMES`]: −1 none, 0 those of other speakers before the words, 1 as a field, 2 before the words.
///
/// Messages that are joined have no field for names, and one message of everybody says whose words it holds.
pub(crate) fn names(behavior: Option<i64>, processing: &str) -> &'static str {
    match behavior {
        _ if processing == SINGLE => "prefix",
        Some(1) if is_joined(processing) => "prefix",
        Some(1) => "field",
        Some(2) => "prefix",
        Some(0) | None => "forced",
        _ => "none",
    }
}

/// The texts of presets that are settings of processors: the processor, the setting, and the field of a preset.
pub(crate) const TEXTS: [(&str, &str, &str); 7] = [
    (EXAMPLES, "header", "new_example_chat_prompt"),
    (GENERATION, "continue", "continue_nudge_prompt"),
    (GENERATION, "impersonate", "impersonation_prompt"),
    (GENERATION, "sendIfEmpty", "send_if_empty"),
    (GENERATION, "prefill", "assistant_prefill"),
    (GENERATION, "impersonatePrefill", "assistant_impersonation"),
    (WORLDBOOKS, "anchorFormat", "wi_format"),
];
const EXAMPLES: &str = "dialogue-examples";
const GENERATION: &str = "generation-prompt";
const WORLDBOOKS: &str = "worldbook-processor";

/// Takes the texts of a preset into the settings of a processor.
fn take_texts(preset: ChatPreset<'_>, processor: &str, mut config: Value) -> Value {
    let is_claude = preset.text("chat_completion_source") == Some("claude");
    for (_, key, field) in TEXTS.into_iter().filter(|(own, ..)| *own == processor) {
        let (text, place) = (preset.0.at(field), format!("/parameters/processors/*/config/{key}"));
        if !is_claude && field.starts_with("assistant_") {
            text.keep("only Claude accepts a prefill");
        } else {
            text.text().into(place);
            config[key] = preset.text_or_default(field).into();
        }
    }
    config
}

fn note(arrangement: &Arrangement<'_>, settings: &Settings) -> Value {
    let persona = match arrangement.persona {
        PersonaPlace::NoteTop => "top",
        PersonaPlace::NoteBottom => "bottom",
        _ => "none",
    };
    let mut config = Map::from_iter([("persona".to_owned(), Value::from(persona))]);
    config.extend(settings.note.clone());
    if let Some(main) = arrangement.main {
        // Beside a main prompt at a depth the note stands at that depth.
        config.insert("anchorDepth".to_owned(), main.depth.into());
        config.insert("anchorOrder".to_owned(), main.order.into());
        config.insert("aboveAnchorLane".to_owned(), (lanes::ABOVE_MAIN - lanes::NOTE).into());
        config.insert("belowAnchorLane".to_owned(), (lanes::BELOW_MAIN - lanes::NOTE).into());
    }
    config.extend(lanes::settings(lanes::NOTE).map(|(key, value)| (key.to_owned(), value)));
    Value::Object(config)
}

fn worldbooks(preset: ChatPreset<'_>, settings: &Settings) -> Value {
    let mut config = settings.world_info.clone();
    let format = preset.0.at("wi_format").text();
    let format = format
        .into("/parameters/processors/*/config/anchorFormat")
        .filter(|format| !format.trim().is_empty());
    config.insert("anchorFormat".to_owned(), format.unwrap_or("{0}").into());
    config.insert("gapOrder".to_owned(), "equal".into());
    config.extend(lanes::settings(lanes::WORLDBOOK).map(|(key, value)| (key.to_owned(), value)));
    Value::Object(config)
}

/// The formatters for providers that are strict about roles; without them nothing is joined.
fn post_processing(kind: &str) -> Vec<Value> {
    let switch = |id: &str, enabled: bool| json!({ "id": id, "enabled": enabled });
    let merge = on("merge-consecutive-roles", &json!({ "separator": "\n\n" }));
    let convert = |scope: &str| on("convert-system-to-user", &json!({ "separator": "\n\n", "scope": scope }));
    match kind {
        "merge" | "merge_tools" | "claude" => vec![merge],
        "semi" | "semi_tools" => vec![merge, convert("after_first")],
        "strict" | "strict_tools" => {
            let turns = json!({ "startWithUser": true, "userPlaceholder": "[Start a new chat]" });
            vec![merge, convert("after_first"), on("ensure-alternating-roles", &turns)]
        }
        SINGLE => vec![merge, convert("everyone")],
        _ => vec![switch("merge-consecutive-roles", false)],
    }
}

/// The kinds of processing that differ; those with tools send calls of tools too.
const KINDS: [&str; 8] = ["", "merge", "semi", "strict", SINGLE, "merge_tools", "semi_tools", "strict_tools"];

/// The formatters for strict providers: those that join, that convert, and that alternate.
const FORMATTERS: [&str; 3] =
    ["merge-consecutive-roles", "convert-system-to-user", "ensure-alternating-roles"];

/// Which formatters for strict providers are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Formatters {
    is_joining: bool,
    /// Which messages become the user's, if any do.
    converted: Option<&'static str>,
    is_alternating: bool,
}

impl Formatters {
    pub(crate) const BUILT_IN: Self = Self { is_joining: true, converted: None, is_alternating: false };

    /// Reads settings of processors; none if they set no formatter. Of two for one processor the later counts.
    pub(crate) fn of(settings: &[Value]) -> Option<Self> {
        let set = FORMATTERS.map(|formatter| settings.iter().rfind(|setting| is_for(setting, formatter)));
        if set.iter().all(Option::is_none) {
            return None;
        }
        let [join, convert, alternate] = set;
        let is_on = |setting: Option<&Value>| setting?.get("enabled")?.as_bool();
        let scope = || match convert.and_then(|setting| setting.pointer("/config/scope")?.as_str()) {
            Some("after_first") => "after_first",
            Some("everyone") => "everyone",
            _ => "all",
        };
        Some(Self {
            is_joining: is_on(join).unwrap_or(Self::BUILT_IN.is_joining),
            converted: (is_on(convert) == Some(true)).then(scope),
            is_alternating: is_on(alternate).unwrap_or(Self::BUILT_IN.is_alternating),
        })
    }

    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        Self::of(&post_processing(kind))
    }

    /// Returns the kind of processing that has these formatters, the one with tools or without if there are both.
    pub(crate) fn kind(&self, has_tools: bool) -> Option<&'static str> {
        let is_same = |kind: &&&str| Self::of_kind(kind).as_ref() == Some(self);
        let same = || KINDS.iter().filter(is_same).copied();
        same().find(|kind| has_tools == kind.ends_with(TOOLS)).or_else(|| same().next())
    }
}

/// Returns whether a setting is that of a processor.
pub(crate) fn is_for(setting: &Value, processor: &str) -> bool {
    setting.get("id").and_then(Value::as_str).is_some_and(|id| canonical_id(id) == processor)
}

/// Returns whether a setting is that of a formatter for strict providers.
pub(crate) fn is_for_formatter(setting: &Value) -> bool {
    FORMATTERS.iter().any(|formatter| is_for(setting, formatter))
}

/// The end of the kinds of processing that send calls of tools too.
pub(crate) const TOOLS: &str = "_tools";

/// The kind of processing that makes one message of all.
const SINGLE: &str = "single";

/// Returns whether a kind of processing joins messages.
fn is_joined(kind: &str) -> bool {
    let kind = kind.trim_end_matches(TOOLS);
    matches!(kind, "merge" | "claude" | "semi" | "strict" | SINGLE)
}
