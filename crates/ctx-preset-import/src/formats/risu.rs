//! `RisuAI`'s presets, modules and lorebooks as their JSON has them.
//!
//! There is no published specification of them beside that of character cards: what is read here is what exported
//! files show. Packed files (`.risum`, `.risup`) are a form of their own and are not read.

use ctx_types::{Diagnostic, Phrase, phrase};
use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::lorebook::{self, RISU};
use crate::formats::sillytavern::regex_scripts::{LIST, not_a_script, wrong_value};
use crate::formats::sillytavern::{arrange, parameters};
use crate::loose::{Object, number_of, said, text};
use crate::report::NOT_READ;
use crate::source::Source;
use crate::worldbook::Form;

/// The endings of files that `RisuAI` packs, by which nothing is told but why they are not read.
pub(crate) const PACKED: [&str; 2] = ["risum", "risup"];

pub(crate) fn packed_help() -> Phrase {
    phrase!("export modules and presets as JSON in RisuAI; its binary format is not public")
}

/// The samplers of a preset, each with its name in chat-completion presets and what it is multiplied by there.
pub(crate) const SAMPLERS: [(&str, &str, f64); 8] = [
    ("temperature", "temperature", 100.0),
    ("frequencyPenalty", "frequency_penalty", 100.0),
    ("PresensePenalty", "presence_penalty", 100.0),
    ("top_p", "top_p", 1.0),
    ("top_k", "top_k", 1.0),
    ("min_p", "min_p", 1.0),
    ("maxContext", "openai_max_context", 1.0),
    ("maxResponse", "openai_max_tokens", 1.0),
];

/// Why fields of presets and modules are no more than nearly what they were, or kept.
const PART: &str = "the closest part of a chat completion preset";
const SCRIPT: &str = "the closest regex rule";
const CODE: &str = "programs in imported files do not run";
const TOLD: &str = "identifies the file type";

/// Returns the chat-completion preset that a preset comes nearest to.
pub(crate) fn as_chat_preset(preset: Source<'_>) -> Object {
    let mut chat = Map::new();
    for (theirs, ours, factor) in SAMPLERS {
        let value = sampler(preset.at(theirs), ours).map(|value| value / factor);
        chat.extend(value.map(|value| (ours.to_owned(), whole_or(value))));
    }
    preset.at("proxyKey").keep("an imported file must not set API keys");
    let (mut prompts, mut order) = (Vec::new(), Vec::new());
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (index, item) in preset.at("promptTemplate").items() {
        let Some(step) = Step::of(item) else { continue };
        let id = step.identifier.map_or_else(|| format!("risu_{index}"), str::to_owned);
        let id = if known.contains(&id) { format!("{id}_{index}") } else { id };
        known.insert(id.clone());
        order.push(json!({ "identifier": id, "enabled": true }));
        if let Some(content) = step.content {
            let name = part(item, "name").unwrap_or_default();
            prompts.push(json!({
                "identifier": id, "name": name, "role": step.role, "content": content, "system_prompt": false,
            }));
        }
    }
    for (id, field) in [("main", "mainPrompt"), ("jailbreak", "globalNote")] {
        let field = preset.at(field);
        if !order.is_empty() {
            field.keep("set by the template");
            continue;
        }
        let content = field.text().approximated(PART).into("/presetMessages/*/content");
        if let Some(content) = content.filter(|content| !content.trim().is_empty()) {
            prompts.push(json!({
                "identifier": id, "role": "system", "content": content, "system_prompt": false,
            }));
        }
    }
    chat.insert("prompts".to_owned(), Value::Array(prompts));
    if !order.is_empty() {
        let markers = arrange::MARKERS.iter().map(|marker| marker.identifier);
        let missing: Vec<&str> = markers.filter(|id| !known.contains(*id)).collect();
        order.extend(missing.iter().map(|id| json!({ "identifier": id, "enabled": false })));
        chat.insert("prompt_order".to_owned(), json!([{ "character_id": 100_001, "order": order }]));
    }
    chat
}

/// Reads a sampler that has a name in chat-completion presets; −1000 means that nothing is said.
fn sampler(field: Source<'_>, chat: &str) -> Option<f64> {
    match field.value().and_then(number_of) {
        Some(0.0..) => return field.number().approximated(PART).into(parameters::place(chat)),
        Some(_) => field.keep("negative values have no meaning"),
        None => field.keep(NOT_READ),
    }
    None
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
fn whole_or(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

/// Takes a text of a part of a prompt template.
fn part<'v>(item: Source<'v>, field: &str) -> Option<&'v str> {
    item.at(field).text().approximated(PART).into("/presetMessages")
}

/// A part of a prompt template.
struct Step<'v> {
    identifier: Option<&'static str>,
    role: &'static str,
    content: Option<Cow<'v, str>>,
}

impl<'v> Step<'v> {
    /// Reads a part; none for one that nothing here stands for.
    fn of(item: Source<'v>) -> Option<Self> {
        let marker = |identifier| Self { identifier: Some(identifier), role: "system", content: None };
        let slot = |identifier, name: &str| {
            let format =
                part(item, "innerFormat").filter(|format| !["", "{{slot}}"].contains(&format.trim()));
            match format {
                Some(format) => Self {
                    identifier: None,
                    role: "system",
                    content: Some(format.replace("{{slot}}", &format!("{{{{{name}}}}}")).into()),
                },
                None => marker(identifier),
            }
        };
        let step = match text(item.object()?, "type")? {
            "plain" | "jailbreak" | "cot" => Self::plain(item)?,
            "persona" => slot("personaDescription", "persona"),
            "description" => slot("charDescription", "description"),
            "lorebook" => marker("worldInfoAfter"),
            "chat" => marker("chatHistory"),
            _ => return None,
        };
        part(item, "type");
        Some(step)
    }

    fn plain(item: Source<'v>) -> Option<Self> {
        text(item.object()?, "text")?;
        let kind = item.at("type2").named(&["main", "globalNote", "normal"]);
        let identifier = match kind.approximated(PART).into("/presetMessages") {
            Some("main") => Some("main"),
            Some("globalNote") => Some("jailbreak"),
            _ => None,
        };
        let role = match part(item, "role") {
            Some("user") => "user",
            Some("bot" | "assistant") => "assistant",
            _ => "system",
        };
        Some(Self { identifier, role, content: part(item, "text").map(Cow::Borrowed) })
    }
}

pub(crate) struct Module {
    pub(crate) name: Option<String>,
    pub(crate) book: Option<Form>,
    /// Its regex scripts as `SillyTavern` has them.
    pub(crate) scripts: Option<Value>,
    /// Where the fields of the module are in its file.
    pub(crate) within: &'static str,
    /// What is odd about its scripts, with pointers into its file.
    pub(crate) found: Vec<Diagnostic>,
}

impl Module {
    /// Reads the file of a module, which may have it in an envelope; its lorebook goes to a place.
    pub(crate) fn new(file: Source<'_>, place: &str) -> Self {
        file.at("type").keep(TOLD);
        let (module, within) = match file.at("module") {
            module if module.object().is_some() => (module, "/module"),
            _ => (file, ""),
        };
        module.at("type").keep(TOLD);
        module.at("trigger").keep(CODE);
        module.at("cjs").keep(CODE);
        let fields = module.object();
        let name = fields.and_then(|module| text(module, "name")).map(str::to_owned);
        let scripts = module.at("regex").objects();
        let scripts: Vec<Value> =
            scripts.map(|(_, script)| as_script(script.lead_to(format!("{LIST}/rules/*")))).collect();
        let scripts = (!scripts.is_empty()).then_some(Value::Array(scripts));
        let found = odd_scripts(module, within);
        Self { name, book: lorebook(module, place), scripts, within, found }
    }
}

/// Finds scripts that are none, and values of scripts that cannot be read.
fn odd_scripts(module: Source<'_>, within: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (index, script) in module.at("regex").items() {
        let at = format!("{within}/regex/{index}");
        if script.object().is_none() {
            found.push(not_a_script().at_pointer(at));
            continue;
        }
        for key in ["comment", "in", "out", "type", "flag", "ableFlag"] {
            let is_flag = key == "ableFlag";
            let fits = |value: &Value| if is_flag { value.is_boolean() } else { value.is_string() };
            if script.at(key).filled().value().is_some_and(|value| !fits(value)) {
                let expected = if is_flag { "true or false" } else { "a string" };
                found.push(wrong_value(key, expected).at_pointer(format!("{at}/{key}")));
            }
        }
    }
    found
}

/// Returns the lorebook of a module as one by itself.
fn lorebook(module: Source<'_>, place: &str) -> Option<Form> {
    let list = module.at("lorebook");
    list.value()?.as_array().filter(|list| !list.is_empty())?;
    let Value::Object(mut rest) = json!({ "type": "risu", "ver": 1 }) else { return None };
    if let Some(name) = said(module.object()?, "name") {
        module.at("name").text().into(format!("{place}/name"));
        rest.insert("name".to_owned(), name.into());
    }
    for (_, item) in list.items() {
        item.lead_to(format!("{place}/entries/*"));
    }
    Some(lorebook::form(&RISU, list, rest))
}

fn as_script(script: Source<'_>) -> Value {
    let take = |field: &str, ours: &'static str| {
        script.at(field).text().approximated(SCRIPT).into(ours).unwrap_or_default()
    };
    let has_flags = script.at("ableFlag").flag().approximated(SCRIPT).into("/regex");
    let has_flags = has_flags == Some(true) && script.at("flag").value().is_some_and(Value::is_string);
    let flags = if has_flags { take("flag", "regex") } else { "g" };
    let kind = take("type", "targetRoles");
    let placement = match kind {
        "editinput" => json!([1]),
        "editoutput" | "editdisplay" => json!([2]),
        "editprocess" => json!([1, 2]),
        _ => json!([]),
    };
    let body = take("in", "regex");
    json!({
        "scriptName": take("comment", "name"),
        "findRegex": format!("/{}/{flags}", body.replace("\\/", "/").replace('/', "\\/")),
        "replaceString": take("out", "replacement"),
        "placement": placement,
        "disabled": body.is_empty() || kind == "disabled",
        "markdownOnly": kind == "editdisplay",
        "promptOnly": kind == "editprocess",
    })
}
