//! Conversations, personas, settings, templates and files of other applications, with wrong values among the right ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::files::{
    always, book, flag, list, number, object, one_of, preset, script, text, texts, with, wrong,
};

/// A value that is mostly right.
fn often(value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![6 => value, 1 => wrong()].boxed()
}

fn line() -> BoxedStrategy<Value> {
    let extra = object([
        (one_of(json!(["narrator", "x"])), "type"),
        (text(), "reasoning"),
        (number(), "token_count"),
    ]);
    let info = object([(text(), "send_date"), (wrong(), "extra")]);
    let fields = object([
        (text(), "name role id"),
        (flag(), "is_user is_system"),
        (prop_oneof![text(), number()].boxed(), "send_date"),
        (extra, "extra"),
        (texts(), "swipes"),
        (number(), "swipe_id"),
        (list(info, 3), "swipe_info"),
        (wrong(), "imported"),
    ]);
    with(fields, "mes", often(text()))
}

/// A chat of SillyTavern, with or without its header.
pub(crate) fn chat() -> BoxedStrategy<Value> {
    let metadata = object([
        (text(), "note_prompt world_info"),
        (number(), "note_interval note_position note_depth note_role"),
        (object([(text(), "a")]), "variables"),
        (flag(), "tainted"),
    ]);
    let header =
        object([(text(), "user_name character_name create_date id"), (wrong(), "nodes authorNote imported")]);
    let header = with(header, "chat_metadata", metadata);
    let lines = prop::collection::vec(prop_oneof![9 => line(), 1 => wrong()], 1..4);
    (prop::option::weighted(0.8, header), lines)
        .prop_map(|(header, lines)| header.into_iter().chain(lines).collect())
        .boxed()
}

fn message() -> BoxedStrategy<Value> {
    let function = object([(text(), "name arguments")]);
    let call = object([(text(), "id"), (always(json!("function")), "type"), (function, "function")]);
    let fields = object([
        (one_of(json!(["u", "n1", "a/b", ""])), "id"),
        (text(), "createdAt timestamp reasoning_content name tool_call_id toolCallId parentId runId"),
        (list(prop_oneof![4 => call.clone(), 1 => wrong()].boxed(), 3), "tool_calls"),
        (prop_oneof![call, wrong()].boxed(), "function_call"),
        (object([(text(), "reasoningContent"), (number(), "z")]), "metadata"),
        (wrong(), "imported"),
    ]);
    let roles = one_of(json!(["user", "assistant", "tool", "function", "robot"]));
    with(with(fields, "role", roles), "content", often(text()))
}

/// Messages as a list or under `messages`.
pub(crate) fn messages() -> BoxedStrategy<Value> {
    let items = || {
        prop::collection::vec(prop_oneof![9 => message(), 1 => wrong()], 1..4).prop_map(Value::from).boxed()
    };
    let around = object([(text(), "id name"), (wrong(), "nodes")]);
    prop_oneof![items(), with(around, "messages", items())].boxed()
}

/// A session, whole or in two halves.
pub(crate) fn session() -> BoxedStrategy<Value> {
    let around = || object([(text(), "id name updatedAt"), (wrong(), "variables")]);
    let node = |id: &str, parent: &str| {
        with(with(message(), "id", always(json!(id))), "parentId", always(json!(parent)))
    };
    let whole = || {
        (around(), node("u", "r"), node("v", "u")).prop_map(|(mut file, first, second)| {
            file["rootNodeId"] = json!("r");
            file["activeLeafId"] = json!("v");
            file["nodes"] =
                json!({ "r": { "id": "r", "role": "system", "content": "" }, "u": first, "v": second });
            file
        })
    };
    let halves = (around(), whole()).prop_map(|(index, detail)| json!({ "index": index, "detail": detail }));
    prop_oneof![whole(), halves].boxed()
}

/// A backup of personas.
pub(crate) fn personas() -> BoxedStrategy<Value> {
    let persona = object([(text(), "description lorebook title"), (number(), "position depth role")]);
    let default = one_of(json!(["k.png", "l.png", "none", 5]));
    (text(), persona, prop::option::weighted(0.8, default))
        .prop_map(|(name, one, default)| {
            let descriptions = json!({ "k.png": one, "l.png": { "description": "x" } });
            let mut file =
                json!({ "personas": { "k.png": name, "l.png": "Lee" }, "persona_descriptions": descriptions });
            if let Some(default) = default {
                file["default_persona"] = default;
            }
            file
        })
        .boxed()
}

/// `settings.json`.
pub(crate) fn settings() -> BoxedStrategy<Value> {
    let power = object([
        (text(), "persona_description"),
        (number(), "persona_description_position persona_description_depth persona_description_role"),
        (flag(), "prefer_character_prompt prefer_character_jailbreak"),
    ]);
    let info = object([
        (number(), "world_info_depth world_info_character_strategy"),
        (flag(), "world_info_recursive"),
        (wrong(), "world_info"),
    ]);
    let note = object([(number(), "defaultInterval defaultDepth"), (text(), "x")]);
    let fields = object([
        (text(), "username"),
        (one_of(json!(["k.png", "none"])), "user_avatar"),
        (info, "world_info_settings"),
        (object([(note, "note"), (list(script(), 2), "regex")]), "extension_settings"),
    ]);
    (fields, power, prop::option::of(personas()), prop::option::of(preset()))
        .prop_map(|(mut file, mut power, personas, preset)| {
            if let Some(Value::Object(personas)) = personas {
                power.as_object_mut().unwrap().extend(personas);
            }
            file["power_user"] = power;
            if let Some(preset) = preset {
                file["oai_settings"] = preset;
            }
            file
        })
        .boxed()
}

/// A profile of our own form.
pub(crate) fn profile() -> BoxedStrategy<Value> {
    let fields = object([(text(), "name icon"), (wrong(), "regexConfig x")]);
    with(fields, "content", always(json!("Tea.")))
}

fn instruct() -> BoxedStrategy<Value> {
    let fields = object([
        (text(), "name output_sequence system_sequence stop_sequence separator_sequence story_string_prefix"),
        (text(), "names_behavior"),
        (flag(), "system_same_as_user sequences_as_stop_strings wrap macro"),
    ]);
    with(fields, "input_sequence", text())
}

fn context() -> BoxedStrategy<Value> {
    let story = "{{#if system}}{{system}}\n{{/if}}{{description}}\n{{persona}}{{trim}}";
    let fields = object([
        (text(), "name chat_start example_separator"),
        (number(), "story_string_position story_string_depth story_string_role"),
        (flag(), "single_line"),
    ]);
    with(fields, "story_string", one_of(json!([story, "x", ""])))
}

fn system_prompt() -> BoxedStrategy<Value> {
    with(with(object([(text(), "name")]), "content", text()), "post_history", text())
}

fn reasoning() -> BoxedStrategy<Value> {
    with(with(object([(text(), "name separator")]), "prefix", text()), "suffix", text())
}

fn samplers() -> BoxedStrategy<Value> {
    let fields = object([(number(), "top_p top_k freq_pen genamt max_length")]);
    with(with(fields, "temp", number()), "rep_pen", number())
}

/// A template of text completion, or several in one file.
pub(crate) fn template() -> BoxedStrategy<Value> {
    let parts = object([
        (system_prompt(), "sysprompt"),
        (samplers(), "preset"),
        (reasoning(), "reasoning"),
        (wrong(), "srw"),
    ]);
    let master = with(with(parts, "instruct", instruct()), "context", context());
    prop_oneof![2 => master, 1 => instruct(), 1 => context(), 1 => system_prompt(), 1 => reasoning(), 1 => samplers()]
        .boxed()
}

/// A preset or a module of RisuAI.
pub(crate) fn risu() -> BoxedStrategy<Value> {
    let step = object([
        (one_of(json!(["plain", "persona", "description", "lorebook", "chat", "memory"])), "type"),
        (one_of(json!(["main", "globalNote", "normal"])), "type2"),
        (text(), "text innerFormat name"),
        (one_of(json!(["bot", "user"])), "role"),
    ]);
    let fields =
        object([(number(), "temperature maxContext top_p"), (text(), "mainPrompt globalNote proxyKey")]);
    let preset = with(fields, "promptTemplate", list(step, 4));
    let entry = object([
        (text(), "key secondkey comment content mode"),
        (flag(), "alwaysActive selective"),
        (number(), "insertorder activationPercent"),
    ]);
    let rule = object([
        (text(), "comment in out flag"),
        (one_of(json!(["editinput", "editdisplay", "editprocess", "x"])), "type"),
        (flag(), "ableFlag"),
    ]);
    let module = object([
        (text(), "name cjs"),
        (list(entry, 3), "lorebook"),
        (list(rule, 3), "regex"),
        (wrong(), "trigger"),
    ]);
    let enveloped = with(always(json!({})), "module", module.clone());
    let kind = always(json!("risuModule"));
    prop_oneof![preset, with(module, "type", kind.clone()), with(enveloped, "type", kind)].boxed()
}

/// A lorebook of Agnai, or of another kind.
pub(crate) fn lorebook() -> BoxedStrategy<Value> {
    let entry = object([
        (texts(), "keywords"),
        (text(), "entry name"),
        (number(), "weight priority"),
        (flag(), "enabled"),
    ]);
    let agnai = object([(text(), "name description"), (list(entry, 3), "entries")]);
    prop_oneof![with(agnai, "kind", always(json!("memory"))), book()].boxed()
}

/// A file that is nothing known.
pub(crate) fn unknown() -> BoxedStrategy<Value> {
    with(always(json!({})), "zzz", wrong())
}
