//! `RisuAI`'s presets and modules as their JSON has them.
//!
//! There is no published specification of them beside that of character cards: what is read here is what exported
//! files show. Packed files (`.risum`, `.risup`) are a form of their own and are not read.

use ctx_types::{Phrase, phrase};
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::loose::{Object, flag, number, objects, said, text};

/// The endings of files that `RisuAI` packs, by which nothing is told but why they are not read.
pub(crate) const PACKED: [&str; 2] = ["risum", "risup"];

/// What to do about them.
pub(crate) const PACKED_HELP: Phrase =
    phrase!("the form in which RisuAI packs modules and presets is not published; export them there as JSON");

/// The samplers of a preset, each with its name in chat-completion presets and what it is multiplied by there.
const SAMPLERS: [(&str, &str, f64); 8] = [
    ("temperature", "temperature", 100.0),
    ("frequencyPenalty", "frequency_penalty", 100.0),
    ("PresensePenalty", "presence_penalty", 100.0),
    ("top_p", "top_p", 1.0),
    ("top_k", "top_k", 1.0),
    ("min_p", "min_p", 1.0),
    ("maxContext", "openai_max_context", 1.0),
    ("maxResponse", "openai_max_tokens", 1.0),
];

/// Returns the chat-completion preset that a preset comes nearest to.
pub(crate) fn as_chat_preset(preset: &Object) -> Object {
    let mut chat = Map::new();
    for (theirs, ours, factor) in SAMPLERS {
        // −1000 means that nothing is said.
        let value = number(preset, theirs).filter(|value| *value >= 0.0).map(|value| value / factor);
        chat.extend(value.map(|value| (ours.to_owned(), whole_or(value))));
    }
    let (mut prompts, mut order) = (Vec::new(), Vec::new());
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (index, item) in objects(preset, "promptTemplate") {
        let Some(step) = Step::of(item) else { continue };
        let id = step.identifier.map_or_else(|| format!("risu_{index}"), str::to_owned);
        let id = if known.contains(&id) { format!("{id}_{index}") } else { id };
        known.insert(id.clone());
        order.push(json!({ "identifier": id, "enabled": true }));
        if let Some(content) = step.content {
            let name = text(item, "name").unwrap_or_default();
            prompts.push(json!({ "identifier": id, "name": name, "role": step.role, "content": content }));
        }
    }
    for (id, field) in [("main", "mainPrompt"), ("jailbreak", "globalNote")] {
        if let Some(content) = said(preset, field).filter(|_| order.is_empty()) {
            prompts.push(json!({ "identifier": id, "role": "system", "content": content }));
        }
    }
    chat.insert("prompts".to_owned(), Value::Array(prompts));
    if !order.is_empty() {
        let markers = crate::sillytavern::arrange::MARKERS.iter().map(|marker| marker.identifier);
        let missing: Vec<&str> = markers.filter(|id| !known.contains(*id)).collect();
        order.extend(missing.iter().map(|id| json!({ "identifier": id, "enabled": false })));
        chat.insert("prompt_order".to_owned(), json!([{ "character_id": 100_001, "order": order }]));
    }
    chat
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
fn whole_or(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

/// A part of a prompt template.
struct Step<'v> {
    identifier: Option<&'static str>,
    role: &'static str,
    content: Option<std::borrow::Cow<'v, str>>,
}

impl<'v> Step<'v> {
    /// Reads a part; none for one that nothing here stands for.
    fn of(item: &'v Object) -> Option<Self> {
        let role = match text(item, "role") {
            Some("user") => "user",
            Some("bot" | "assistant") => "assistant",
            _ => "system",
        };
        let marker = |identifier, name: &str| {
            let format = said(item, "innerFormat").filter(|format| format.trim() != "{{slot}}");
            match format {
                Some(format) => Self {
                    identifier: None,
                    role: "system",
                    content: Some(format.replace("{{slot}}", &format!("{{{{{name}}}}}")).into()),
                },
                None => Self { identifier: Some(identifier), role: "system", content: None },
            }
        };
        Some(match text(item, "type")? {
            "plain" | "jailbreak" | "cot" => {
                let identifier = match text(item, "type2") {
                    Some("main") => Some("main"),
                    Some("globalNote") => Some("jailbreak"),
                    _ => None,
                };
                Self { identifier, role, content: Some(text(item, "text")?.into()) }
            }
            "persona" => marker("personaDescription", "persona"),
            "description" => marker("charDescription", "description"),
            "lorebook" => Self { identifier: Some("worldInfoAfter"), role, content: None },
            "chat" => Self { identifier: Some("chatHistory"), role, content: None },
            _ => return None,
        })
    }
}

/// Returns the fields of a module, which may stand in an envelope.
pub(crate) fn module(file: &Object) -> &Object {
    file.get("module").and_then(Value::as_object).unwrap_or(file)
}

/// Returns the lorebook of a module as one of `RisuAI`'s by itself.
pub(crate) fn lorebook(module: &Object) -> Option<Value> {
    let entries =
        module.get("lorebook").filter(|list| list.as_array().is_some_and(|list| !list.is_empty()))?;
    let mut book = json!({ "type": "risu", "ver": 1, "data": entries });
    if let Some(name) = said(module, "name") {
        book["name"] = name.into();
    }
    Some(book)
}

/// Returns the regex scripts of a module as `SillyTavern` has them.
pub(crate) fn scripts(module: &Object) -> Option<Value> {
    let list: Vec<Value> = objects(module, "regex").map(|(_, script)| as_script(script)).collect();
    (!list.is_empty()).then_some(Value::Array(list))
}

fn as_script(script: &Object) -> Value {
    let flags = match flag(script, "ableFlag") {
        Some(true) => text(script, "flag").unwrap_or("g"),
        _ => "g",
    };
    let kind = text(script, "type").unwrap_or_default();
    let placement = match kind {
        "editinput" => json!([1]),
        "editoutput" | "editdisplay" => json!([2]),
        "editprocess" => json!([1, 2]),
        _ => json!([]),
    };
    let body = text(script, "in").unwrap_or_default();
    json!({
        "scriptName": text(script, "comment").unwrap_or_default(),
        "findRegex": format!("/{}/{flags}", body.replace("\\/", "/").replace('/', "\\/")),
        "replaceString": text(script, "out").unwrap_or_default(),
        "placement": placement,
        "disabled": body.is_empty() || kind == "disabled",
        "markdownOnly": kind == "editdisplay",
        "promptOnly": kind == "editprocess",
    })
}

/// The rows of presets and modules.
pub(crate) mod rows {
    use std::rc::Rc;

    use serde_json::Value;

    use super::SAMPLERS;
    use crate::loose::{Object, number, object, objects, said};
    use crate::report::Expect::{Flag, Named, Number, Text};
    use crate::report::{Link, NOT_READ, Rule, RuleSet, approximated, kept, mapped};
    use crate::sillytavern::parameters;
    use crate::sillytavern::rows::scripts::LIST;
    use crate::worldbook::{self, Application};

    const PART: &str = "the part of a chat-completion preset that comes nearest";
    const SCRIPT: &str = "a regex rule that comes nearest";
    const TYPES: &[&str] = &["plain", "jailbreak", "cot", "persona", "description", "lorebook", "chat"];
    const CODE: &str = "programs of others are not run";

    const PRESET: [Rule; 7] = [
        approximated("/promptTemplate/*/type", "/presetMessages", PART).of(Named(TYPES)),
        approximated("/promptTemplate/*/type2", "/presetMessages", PART).of(Named(&[
            "main",
            "globalNote",
            "normal",
        ])),
        approximated("/promptTemplate/*/text", "/presetMessages", PART).of(Text),
        approximated("/promptTemplate/*/role", "/presetMessages", PART).of(Text),
        approximated("/promptTemplate/*/innerFormat", "/presetMessages", PART).of(Text),
        approximated("/promptTemplate/*/name", "/presetMessages", PART).of(Text),
        kept("/proxyKey", "keys are not for a file of somebody else to say"),
    ];

    const UNSAID: &str = "a negative one says nothing";

    /// Returns the rules for a preset.
    pub(crate) fn of_preset(file: &Object) -> RuleSet {
        let mut rules = RuleSet::new(PRESET);
        for (theirs, chat, _) in SAMPLERS {
            let ours = parameters::SAMPLERS.iter().find(|(known, _)| *known == chat).map(|(_, ours)| *ours);
            let ours = ours.unwrap_or("/contextManagement/maxContextTokens");
            let rule = match number(file, theirs) {
                Some(value) if value >= 0.0 => approximated("", ours, PART).of(Number),
                Some(_) => kept("", UNSAID),
                None => kept("", NOT_READ),
            };
            rules.link("", theirs, Link::new(&Rc::new(RuleSet::new([rule])), "/parameters"));
        }
        let has_template = objects(file, "promptTemplate").any(|(_, item)| super::Step::of(item).is_some());
        for (field, to) in [
            ("mainPrompt", "/presetMessages/main/content"),
            ("globalNote", "/presetMessages/jailbreak/content"),
        ] {
            let rule = if has_template {
                kept("", "the template says it")
            } else {
                approximated("", to, PART).of(Text)
            };
            rules.field("", field, rule);
        }
        rules
    }

    const MODULE: [Rule; 3] = [kept("/type", TOLD), kept("/trigger/**", CODE), kept("/cjs", CODE)];
    const TOLD: &str = "tells what the file is";

    const REGEX: [Rule; 6] = [
        approximated("/comment", "/name", SCRIPT).of(Text),
        approximated("/in", "/regex", SCRIPT).of(Text),
        approximated("/out", "/replacement", SCRIPT).of(Text),
        approximated("/type", "/targetRoles", SCRIPT).of(Text),
        approximated("/flag", "/regex", SCRIPT).of(Text),
        approximated("/ableFlag", "/regex", SCRIPT).of(Flag),
    ];

    /// Returns the rules for a module's file, whose lorebook goes to a place.
    pub(crate) fn of_file(file: &Object, book: &str) -> RuleSet {
        if object(file, "module").is_none() {
            return of_module(file, book);
        }
        let mut rules = RuleSet::new([kept("/type", TOLD)]);
        rules.link("", "module", Link::new(&Rc::new(of_module(super::module(file), book)), ""));
        rules
    }

    fn of_module(module: &Object, book: &str) -> RuleSet {
        let mut rules = RuleSet::new(MODULE);
        let entries = module.get("lorebook").and_then(Value::as_array).filter(|list| !list.is_empty());
        if let Some(entries) = entries {
            let mut list = RuleSet::default();
            let entry = worldbook::of_entry(Application::Risu);
            for (index, _) in entries.iter().enumerate().filter(|(_, entry)| entry.is_object()) {
                list.link("", index.to_string(), Link::new(&entry, format!("{book}/entries/{index}")));
            }
            rules.link("", "lorebook", Link::new(&Rc::new(list), book));
            if said(module, "name").is_some() {
                let name = Rc::new(RuleSet::new([mapped("", Text, "")]));
                rules.link("", "name", Link::new(&name, format!("{book}/name")));
            }
        }
        let script = Rc::new(RuleSet::new(REGEX));
        for (number, (index, _)) in objects(module, "regex").enumerate() {
            rules.link("/regex", index.to_string(), Link::new(&script, format!("{LIST}/rules/{number}")));
        }
        rules
    }
}
