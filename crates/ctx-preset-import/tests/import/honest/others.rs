//! Conversations, personas, settings, templates and files of other applications, with wrong values among the right ones.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::files::{book, flag, list, number, object, preset, script, text, texts, wrong};

fn line() -> BoxedStrategy<Value> {
    let extra = object(vec![
        ("type", select(vec![json!("narrator"), json!("x")]).boxed()),
        ("reasoning", text()),
        ("token_count", number()),
    ]);
    let fields = object(vec![
        ("name", text()),
        ("is_user", flag()),
        ("is_system", flag()),
        ("send_date", prop_oneof![text(), number()].boxed()),
        ("extra", extra),
        ("swipes", texts()),
        ("swipe_id", number()),
        ("swipe_info", list(object(vec![("send_date", text()), ("extra", wrong().boxed())]), 3)),
        ("role", text()),
        ("id", text()),
        ("imported", wrong().boxed()),
    ]);
    (fields, prop_oneof![6 => text(), 1 => wrong()])
        .prop_map(|(mut line, text)| {
            line["mes"] = text;
            line
        })
        .boxed()
}

/// A chat of SillyTavern, with or without its header.
pub(crate) fn chat() -> BoxedStrategy<Value> {
    let metadata = object(vec![
        ("note_prompt", text()),
        ("note_interval", number()),
        ("note_position", number()),
        ("note_depth", number()),
        ("note_role", number()),
        ("world_info", text()),
        ("variables", object(vec![("a", text())])),
        ("tainted", flag()),
    ]);
    let header = object(vec![
        ("user_name", text()),
        ("character_name", text()),
        ("create_date", text()),
        ("id", text()),
        ("nodes", wrong().boxed()),
        ("authorNote", wrong().boxed()),
        ("imported", wrong().boxed()),
    ]);
    let header = (header, metadata).prop_map(|(mut header, metadata)| {
        header["chat_metadata"] = metadata;
        header
    });
    let lines = prop::collection::vec(prop_oneof![9 => line(), 1 => wrong()], 1..4);
    (prop::option::weighted(0.8, header), lines)
        .prop_map(|(header, lines)| header.into_iter().chain(lines).collect())
        .boxed()
}

fn message() -> BoxedStrategy<Value> {
    let call = object(vec![
        ("id", text()),
        ("type", Just(json!("function")).boxed()),
        ("function", object(vec![("name", text()), ("arguments", text())])),
    ]);
    let fields = object(vec![
        ("id", prop_oneof![select(vec![json!("u"), json!("n1"), json!("a/b")]), Just(json!(""))].boxed()),
        ("createdAt", text()),
        ("timestamp", text()),
        ("reasoning_content", text()),
        ("name", text()),
        ("tool_calls", list(prop_oneof![4 => call.clone(), 1 => wrong()].boxed(), 3)),
        ("function_call", prop_oneof![call, wrong()].boxed()),
        ("tool_call_id", text()),
        ("toolCallId", text()),
        ("parentId", text()),
        ("metadata", object(vec![("reasoningContent", text()), ("z", number())])),
        ("runId", text()),
        ("imported", wrong().boxed()),
    ]);
    let role =
        select(vec![json!("user"), json!("assistant"), json!("tool"), json!("function"), json!("robot")]);
    (fields, role, prop_oneof![6 => text(), 1 => wrong()])
        .prop_map(|(mut message, role, content)| {
            message["role"] = role;
            message["content"] = content;
            message
        })
        .boxed()
}

/// Messages as a list or under `messages`.
pub(crate) fn messages() -> BoxedStrategy<Value> {
    let items = || prop::collection::vec(prop_oneof![9 => message(), 1 => wrong()], 1..4);
    let around = object(vec![("id", text()), ("name", text()), ("nodes", wrong().boxed())]);
    prop_oneof![
        items().prop_map(Value::from),
        (around, items()).prop_map(|(mut file, items)| {
            file["messages"] = items.into();
            file
        }),
    ]
    .boxed()
}

/// A session, whole or in two halves.
pub(crate) fn session() -> BoxedStrategy<Value> {
    let node = |id: &'static str| {
        message().prop_map(move |mut node| {
            node["id"] = json!(id);
            node["parentId"] = json!(if id == "u" { "r" } else { "u" });
            node
        })
    };
    let around = || {
        object(vec![("id", text()), ("name", text()), ("updatedAt", text()), ("variables", wrong().boxed())])
    };
    let whole = || {
        (around(), node("u"), node("v")).prop_map(|(mut file, first, second)| {
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

fn persona() -> BoxedStrategy<Value> {
    object(vec![
        ("description", text()),
        ("position", number()),
        ("depth", number()),
        ("role", number()),
        ("lorebook", text()),
        ("title", text()),
    ])
}

/// A backup of personas.
pub(crate) fn personas() -> BoxedStrategy<Value> {
    (text(), persona(), field_of_default()).prop_map(|(name, one, default)| {
        let mut file = json!({
            "personas": { "k.png": name, "l.png": "Lee" }, "persona_descriptions": { "k.png": one, "l.png": { "description": "x" } },
        });
        if let Some(default) = default {
            file["default_persona"] = default;
        }
        file
    }).boxed()
}

fn field_of_default() -> BoxedStrategy<Option<Value>> {
    select(vec![None, Some(json!("k.png")), Some(json!("l.png")), Some(json!("none")), Some(json!(5))])
        .boxed()
}

/// `settings.json`.
pub(crate) fn settings() -> BoxedStrategy<Value> {
    let power = object(vec![
        ("persona_description", text()),
        ("persona_description_position", number()),
        ("persona_description_depth", number()),
        ("persona_description_role", number()),
        ("prefer_character_prompt", flag()),
        ("prefer_character_jailbreak", flag()),
    ]);
    let info = object(vec![
        ("world_info_depth", number()),
        ("world_info_recursive", flag()),
        ("world_info_character_strategy", number()),
        ("world_info", wrong().boxed()),
    ]);
    let note = object(vec![("defaultInterval", number()), ("defaultDepth", number()), ("x", text())]);
    let extensions = object(vec![("note", note), ("regex", list(script(), 2))]);
    let fields = object(vec![
        ("username", text()),
        ("user_avatar", select(vec![json!("k.png"), json!("none")]).boxed()),
        ("world_info_settings", info),
        ("extension_settings", extensions),
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
    object(vec![("name", text()), ("icon", text()), ("regexConfig", wrong().boxed()), ("x", wrong().boxed())])
        .prop_map(|mut profile| {
            profile["content"] = json!("Tea.");
            profile
        })
        .boxed()
}

fn instruct() -> BoxedStrategy<Value> {
    let fields = object(vec![
        ("name", text()),
        ("output_sequence", text()),
        ("system_sequence", text()),
        ("stop_sequence", text()),
        ("system_same_as_user", flag()),
        ("sequences_as_stop_strings", flag()),
        ("wrap", flag()),
        ("macro", flag()),
        ("separator_sequence", text()),
        ("story_string_prefix", text()),
        ("names_behavior", text()),
    ]);
    with(fields, "input_sequence", text())
}

fn context() -> BoxedStrategy<Value> {
    let story = select(vec![
        json!("{{#if system}}{{system}}\n{{/if}}{{description}}\n{{persona}}{{trim}}"),
        json!("x"),
        json!(""),
    ]);
    let fields = object(vec![
        ("name", text()),
        ("story_string_position", number()),
        ("story_string_depth", number()),
        ("story_string_role", number()),
        ("chat_start", text()),
        ("example_separator", text()),
        ("single_line", flag()),
    ]);
    with(fields, "story_string", story.boxed())
}

fn system_prompt() -> BoxedStrategy<Value> {
    with(with(object(vec![("name", text())]), "content", text()), "post_history", text())
}

fn reasoning() -> BoxedStrategy<Value> {
    with(with(object(vec![("name", text()), ("separator", text())]), "prefix", text()), "suffix", text())
}

fn samplers() -> BoxedStrategy<Value> {
    let fields = object(vec![
        ("top_p", number()),
        ("top_k", number()),
        ("freq_pen", number()),
        ("genamt", number()),
        ("max_length", number()),
    ]);
    with(with(fields, "temp", number()), "rep_pen", number())
}

/// An object that has a field in any case.
fn with(
    fields: BoxedStrategy<Value>,
    key: &'static str,
    value: BoxedStrategy<Value>,
) -> BoxedStrategy<Value> {
    (fields, value)
        .prop_map(move |(mut file, value)| {
            file[key] = value;
            file
        })
        .boxed()
}

/// A template of text completion, or several in one file.
pub(crate) fn template() -> BoxedStrategy<Value> {
    let parts = || {
        object(vec![
            ("sysprompt", system_prompt()),
            ("preset", samplers()),
            ("reasoning", reasoning()),
            ("srw", wrong().boxed()),
        ])
    };
    let master = with(with(parts(), "instruct", instruct()), "context", context());
    prop_oneof![2 => master, 1 => instruct(), 1 => context(), 1 => system_prompt(), 1 => reasoning(), 1 => samplers()]
        .boxed()
}

/// A preset or a module of RisuAI.
pub(crate) fn risu() -> BoxedStrategy<Value> {
    let step = object(vec![
        (
            "type",
            select(vec![
                json!("plain"),
                json!("persona"),
                json!("description"),
                json!("lorebook"),
                json!("chat"),
                json!("memory"),
            ])
            .boxed(),
        ),
        ("type2", select(vec![json!("main"), json!("globalNote"), json!("normal")]).boxed()),
        ("text", text()),
        ("role", select(vec![json!("bot"), json!("user")]).boxed()),
        ("innerFormat", text()),
        ("name", text()),
    ]);
    let preset = with(
        object(vec![
            ("temperature", number()),
            ("maxContext", number()),
            ("top_p", number()),
            ("mainPrompt", text()),
            ("globalNote", text()),
            ("proxyKey", text()),
        ]),
        "promptTemplate",
        list(step, 4),
    );
    let entry = object(vec![
        ("key", text()),
        ("secondkey", text()),
        ("comment", text()),
        ("content", text()),
        ("mode", text()),
        ("alwaysActive", flag()),
        ("selective", flag()),
        ("insertorder", number()),
        ("activationPercent", number()),
    ]);
    let rule = object(vec![
        ("comment", text()),
        ("in", text()),
        ("out", text()),
        (
            "type",
            select(vec![json!("editinput"), json!("editdisplay"), json!("editprocess"), json!("x")]).boxed(),
        ),
        ("flag", text()),
        ("ableFlag", flag()),
    ]);
    let module = || {
        object(vec![
            ("name", text()),
            ("lorebook", list(entry.clone(), 3)),
            ("regex", list(rule.clone(), 3)),
            ("trigger", wrong().boxed()),
            ("cjs", text()),
        ])
    };
    let kind = || Just(json!("risuModule")).boxed();
    let enveloped = with(Just(json!({})).boxed(), "module", module());
    prop_oneof![preset, with(module(), "type", kind()), with(enveloped, "type", kind())].boxed()
}

/// A lorebook of Agnai, or of another kind.
pub(crate) fn lorebook() -> BoxedStrategy<Value> {
    let entry = object(vec![
        ("keywords", texts()),
        ("entry", text()),
        ("name", text()),
        ("weight", number()),
        ("priority", number()),
        ("enabled", flag()),
    ]);
    let agnai = object(vec![("name", text()), ("entries", list(entry, 3)), ("description", text())]);
    prop_oneof![with(agnai, "kind", Just(json!("memory")).boxed()), book()].boxed()
}

/// A file that is nothing known.
pub(crate) fn unknown() -> BoxedStrategy<Value> {
    wrong().prop_map(|own| json!({ "zzz": own })).boxed()
}
