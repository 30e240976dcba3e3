//! Markers: texts with a special meaning to a reader, and files that contain only one marker.
//!
//! `cargo xtask sequences` counts instructions with these files, and fails if work grows faster than the files.

use serde_json::{Value, json};

/// Markers that are repeated until they fill a text. Add the markers of a new reader here.
#[rustfmt::skip]
pub(crate) const MARKERS: &[&str] = &[
    // Markdown and pictures.
    "](data:", "![a](data:image/png;base64,", "![", "[", "]", "(", ")", "`", "```\n", "~~~\n", "*", "**",
    "_", "#", "> ", "- ", "1. ", "|", "---\n", "---", "***\n",
    // Macros, variables, and placeholders of files.
    "{{", "}}", "{", "}", "{{x}}", "{{user}}", "{{//", "{{#if x}}", "{{#if", "{{/if}}", "{{setvar::a::",
    "{{random::", "{{original}}", "::", ":::", "\\{", "\\", "<USER>", "$[", "$[x]", "$[a.b", "$[a[0]",
    "<svar name=a value=1>", "<svar ", "<svar name=a value='", "【file::", "】",
    // Markup and reasoning.
    "<", "</", "<a>", "<a ", ">", "<!--", "-->", "&", "&amp;", "<think>", "</think>", "<think></think>",
    "<|", "|>", "<START>\n", "[INST]",
    // Regexes, replacements, paths, and URLs.
    "/", "//", "/*", "/a/", "$", "$1", "$<", "${", "^", "~", ".", "..", "@", "@@", "@@depth 1\n", "%",
    "http://", "a@b.c ",
    // Values, quotations, names, and numbers.
    "\"", "'", "“", "《", ",", ";", "=", "0x", "1", "1,", "-1 ", "[0]", "[[", "]]", "A. ", "Ab ", "User: ",
    "\nUser: ",
    // Letters, spaces, and joiners.
    "a", "a ", "a\n", "界", "。", "🙂", "👨\u{200d}👩\u{200d}👧", "e\u{301}", "\u{301}", "İ", "ﷺ", "\u{200d}",
    "\u{feff}", "\u{0}", " ", "\t", "\n", "\n\n", " \n", "\r", "\r\n",
];

/// Commands to run in the folder with the [`files`].
pub(crate) const COMMANDS: [&str; 4] = [
    "assemble agent.json --session session.json --worldbook book.json --profile profile.txt",
    "check agent.json session.json book.json chat.json anthropic.json gemini.json raw.yaml raw.jsonl",
    "import card.json preset.json",
    "assemble agent.json --session session.json --worldbook book.json --context-tokens 8000 --format openai",
];

/// Processors that are disabled by default, or that run only with certain settings.
const PROCESSORS: &str = "\
    regex-processor transcription-processor worldbook-processor author-note dialogue-examples \
    speaker-names merge-injections generation-prompt variable-processor request-compressor recall \
    squash-system merge-consecutive-roles merge-system-to-head convert-system-to-user \
    ensure-alternating-roles";

/// Repeats a marker up to a number of bytes, but at least once.
pub(crate) fn repeated(marker: &str, bytes: usize) -> String {
    marker.repeat((bytes / marker.len()).max(1))
}

/// Names and contents of files.
pub(crate) type Files = Vec<(&'static str, String)>;

/// Returns files with the text in every possible place.
pub(crate) fn files(text: &str) -> Files {
    vec![
        ("agent.json", agent(text).to_string()),
        ("session.json", session(text).to_string()),
        ("book.json", book(text).to_string()),
        ("card.json", card(text).to_string()),
        ("preset.json", preset(text).to_string()),
        ("chat.json", chat(text).to_string()),
        ("anthropic.json", anthropic(text).to_string()),
        ("gemini.json", gemini(text).to_string()),
        ("profile.txt", text.to_owned()),
        ("raw.yaml", text.to_owned()),
        ("raw.jsonl", text.to_owned()),
    ]
}

fn agent(text: &str) -> Value {
    let enabled = PROCESSORS.split_whitespace().map(|id| json!({ "id": id, "enabled": true }));
    let loader = json!({
        "id": "session-loader",
        "config": { "htmlToMarkdown": true, "htmlKeptMessages": 0, "reasoning": "none", "toolsAsUser": true },
    });
    json!({
        "name": "Ada",
        "character": { "description": text, "mesExample": text },
        "presetMessages": [
            { "role": "system", "content": text },
            { "type": "char_description" },
            { "type": "chat_history" },
            { "role": "user", "content": text, "injectionStrategy": { "type": "depth", "depth": 0 } },
        ],
        "variableConfig": { "enabled": true, "definitions": [{ "key": "hp", "initialValue": 1 }] },
        "regexConfig": { "presets": [{ "rules": [{ "id": "r", "regex": "/x(y)/g", "replacement": text }] }] },
        "parameters": { "processors": std::iter::once(loader).chain(enabled).collect::<Vec<Value>>() },
    })
}

fn session(text: &str) -> Value {
    let said = |role: &str| json!({ "role": role, "content": text });
    json!([said("system"), said("user"), said("assistant"), { "role": "user", "content": format!("And {text}") }])
}

fn book(text: &str) -> Value {
    json!({ "entries": {
        "0": { "uid": 0, "key": [text, "b"], "keysecondary": [text], "selective": true, "content": text, "constant": true },
        "1": { "uid": 1, "key": [format!("a{text}")], "content": "x", "matchWholeWords": true },
    } })
}

fn card(text: &str) -> Value {
    let script = json!({ "scriptName": "x", "findRegex": "/a/g", "replaceString": text, "placement": [1] });
    let entry =
        json!({ "keys": [text], "content": text, "extensions": {}, "enabled": true, "insertion_order": 1 });
    json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Ada",
        "description": text,
        "first_mes": text,
        "mes_example": text,
        "system_prompt": text,
        "post_history_instructions": text,
        "character_book": { "entries": [entry] },
        "extensions": { "regex_scripts": [script] },
    } })
}

fn preset(text: &str) -> Value {
    json!({
        "prompts": [
            { "identifier": "main", "name": "m", "role": "system", "content": text },
            { "identifier": "chatHistory", "name": "h", "marker": true },
        ],
        "prompt_order": [{ "character_id": 100_001, "order": [
            { "identifier": "main", "enabled": true },
            { "identifier": "chatHistory", "enabled": true },
        ] }],
    })
}

fn chat(text: &str) -> Value {
    let call = json!({ "id": text, "type": "function", "function": { "name": text, "arguments": text } });
    json!({ "model": "m", "messages": [
        { "role": "user", "content": text },
        { "role": "assistant", "content": text, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": text, "content": text },
    ] })
}

fn anthropic(text: &str) -> Value {
    json!({ "model": "m", "max_tokens": 1, "messages": [
        { "role": "user", "content": text },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": text, "name": text, "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": text, "content": text }] },
    ] })
}

fn gemini(text: &str) -> Value {
    json!({ "contents": [
        { "role": "user", "parts": [{ "text": text }] },
        { "role": "model", "parts": [{ "functionCall": { "name": text } }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": text, "response": {} } }] },
    ] })
}

/// Returns the files of [`files`], with lists of many small items instead of long texts.
pub(crate) fn lists(count: usize) -> Files {
    let each = |item: &dyn Fn(usize) -> Value| (0..count).map(item).collect::<Vec<Value>>();
    let names: Vec<String> =
        (0..count).map(|n| format!("$[v{n}] $[x{n}] {{{{getvar::x{n}}}}} 【file::a{n}】")).collect();
    let names = names.concat();
    let mut agent = agent(&names);
    agent["variableConfig"]["definitions"] =
        each(&|n| json!({ "key": format!("v{n}"), "initialValue": n })).into();
    agent["regexConfig"]["presets"][0]["rules"] =
        each(&|n| json!({ "id": format!("r{n}"), "regex": format!("/x{n}y/g"), "replacement": "" })).into();
    let role = |n| if n % 2 == 0 { "user" } else { "assistant" };
    let messages = each(&|n| json!({ "id": format!("n{n}"), "role": role(n), "content": format!("w{n}") }));
    let entries: serde_json::Map<String, Value> = (0..count)
        .map(|n| {
            (n.to_string(), json!({ "uid": n, "key": [format!("w{n}")], "content": format!("w{}", n + 1) }))
        })
        .collect();
    let prompts = each(&|n| json!({ "identifier": format!("p{n}"), "role": "system", "content": "a" }));
    let order = each(&|n| json!({ "identifier": format!("p{n}"), "enabled": true }));
    let calls = each(
        &|n| json!({ "id": format!("c{n}"), "type": "function", "function": { "name": "f", "arguments": "{}" } }),
    );
    let results = each(&|n| json!({ "role": "tool", "tool_call_id": format!("c{n}"), "content": "a" }));
    let uses = each(&|n| json!({ "type": "tool_use", "id": format!("c{n}"), "name": "f", "input": {} }));
    let used = each(&|n| json!({ "type": "tool_result", "tool_use_id": format!("c{n}"), "content": "a" }));
    let asked = each(&|n| json!({ "functionCall": { "id": format!("c{n}"), "name": "f" } }));
    let answered =
        each(&|n| json!({ "functionResponse": { "id": format!("c{n}"), "name": "f", "response": {} } }));
    let user = json!({ "role": "user", "content": "a" });
    let openai =
        [vec![user.clone(), json!({ "role": "assistant", "content": "a", "tool_calls": calls })], results];
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Ada",
        "character_book": { "entries": each(&|n| json!({
            "keys": [format!("w{n}")], "content": "a", "extensions": {}, "enabled": true, "insertion_order": n,
        })) },
    } });
    let preset = json!({ "prompts": prompts, "prompt_order": [{ "character_id": 100_001, "order": order }] });
    let anthropic = json!({ "model": "m", "max_tokens": 1, "messages": [
        user,
        { "role": "assistant", "content": uses },
        { "role": "user", "content": used },
    ] });
    let gemini = json!({ "contents": [
        { "role": "user", "parts": [{ "text": "a" }] },
        { "role": "model", "parts": asked },
        { "role": "user", "parts": answered },
    ] });
    vec![
        ("agent.json", agent.to_string()),
        ("session.json", json!(messages).to_string()),
        ("book.json", json!({ "entries": entries }).to_string()),
        ("card.json", card.to_string()),
        ("preset.json", preset.to_string()),
        ("chat.json", json!({ "model": "m", "messages": openai.concat() }).to_string()),
        ("anthropic.json", anthropic.to_string()),
        ("gemini.json", gemini.to_string()),
        ("profile.txt", names),
        ("raw.yaml", "- a: 1\n".repeat(count)),
        ("raw.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\n".repeat(count)),
    ]
}
