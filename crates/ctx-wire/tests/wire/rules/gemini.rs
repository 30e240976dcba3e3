//! Gemini's `generateContent`.

use ctx_types::CacheMark;
use ctx_wire::{Dialect, Request, gemini};
use serde_json::{Value, json};

use super::case::*;

const GEMINI: Dialect = Dialect::Gemini;

#[test]
fn the_roles_are_user_and_model() {
    check(
        GEMINI,
        &[system("rules"), user("hi"), user("there"), answer("yes"), user("so")],
        "",
        &json!({
            "systemInstruction": { "parts": [{ "text": "rules" }] },
            "contents": [
                { "role": "user", "parts": [{ "text": "hi" }, { "text": "there" }] },
                { "role": "model", "parts": [{ "text": "yes" }] },
                { "role": "user", "parts": [{ "text": "so" }] },
            ],
            "generationConfig": { "maxOutputTokens": 90 },
        }),
        &[],
    );
}

#[test]
fn empty_contents_are_an_error() {
    let found = ["error[CTX0500]: the request has no `contents` (at /contents)"];
    check(GEMINI, &[], "/contents", &json!([]), &found);
    check(GEMINI, &[system("rules")], "/contents", &json!([]), &found);
}

#[test]
fn every_medium_is_inline_data() {
    check(
        GEMINI,
        &[with_files(user("see"), &[PNG, PDF, WAV, MP4, TXT])],
        "/contents/0/parts",
        &json!([
            { "text": "see" },
            { "inlineData": { "mimeType": "image/png", "data": "cG5n" } },
            { "inlineData": { "mimeType": "application/pdf", "data": "cGRm" } },
            { "inlineData": { "mimeType": "audio/wav", "data": "d2F2" } },
            { "inlineData": { "mimeType": "video/mp4", "data": "bXA0" } },
            { "inlineData": { "mimeType": "text/plain", "data": "6Zuq" } },
        ]),
        &[],
    );
}

#[test]
fn a_part_of_a_film_is_told() {
    let film = with_files(user("see"), &[MP4]).with(|message| {
        let kept = json!({ "videoMetadata": { "startOffset": "1s", "endOffset": "2s", "fps": 2 } });
        message.attachments[0].kept = std::sync::Arc::new(kept);
    });
    check(
        GEMINI,
        &[film],
        "/contents/0/parts/1/videoMetadata",
        &json!({ "startOffset": "1s", "endOffset": "2s", "fps": 2 }),
        &[],
    );
}

#[test]
fn office_files_are_not_sent() {
    check(
        GEMINI,
        &[with_files(user("see"), &[("a.xls", "application/vnd.ms-excel", b"x")])],
        "/contents/0/parts",
        &json!([{ "text": "see" }]),
        &[
            "error[CTX0513]: `a.xls` (application/vnd.ms-excel) is not sent: this API dialect does not accept its type (at /messages/0)",
        ],
    );
}

#[test]
fn a_result_names_the_function_that_was_called() {
    check(
        GEMINI,
        &[
            user("look"),
            calling("ok", &["c1", "c2"]),
            result("c1", "snow"),
            result("c2", r#"{"depth":2}"#),
            user("well?"),
        ],
        "/contents",
        &json!([
            { "role": "user", "parts": [{ "text": "look" }] },
            { "role": "model", "parts": [
                { "text": "ok" },
                { "functionCall": { "id": "c1", "name": "look", "args": { "at": 1 } } },
                { "functionCall": { "id": "c2", "name": "look", "args": { "at": 1 } } },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": { "id": "c1", "name": "look", "response": { "output": "snow" } } },
                { "functionResponse": { "id": "c2", "name": "look", "response": { "depth": 2 } } },
                { "text": "well?" },
            ] },
        ]),
        &[],
    );
}

#[test]
fn media_of_a_result_are_parts_of_it() {
    check(
        GEMINI,
        &[user("look"), calling("", &["c1"]), with_files(result("c1", "here"), &[PNG])],
        "/contents/2/parts/0/functionResponse/parts",
        &json!([{ "inlineData": { "mimeType": "image/png", "data": "cG5n" } }]),
        &[],
    );
}

#[test]
fn a_signature_goes_back_byte_by_byte_on_its_part() {
    let signed =
        [json!({ "thoughtSignature": "a+/=\u{e9}" }), json!({ "thoughtSignature": "b==", "call": 1 })];
    check(
        GEMINI,
        &[
            user("look"),
            thinking(calling("ok", &["c1", "c2"]), &signed),
            result("c1", "x"),
            result("c2", "y"),
        ],
        "/contents/1/parts",
        &json!([
            { "text": "ok", "thoughtSignature": "a+/=\u{e9}" },
            { "functionCall": { "id": "c1", "name": "look", "args": { "at": 1 } } },
            { "functionCall": { "id": "c2", "name": "look", "args": { "at": 1 } }, "thoughtSignature": "b==" },
        ]),
        &[],
    );
    // It comes without a word sometimes.
    check(
        GEMINI,
        &[user("look"), thinking(answer(""), &signed[..1]), user("so")],
        "/contents/1/parts",
        &json!([{ "text": "", "thoughtSignature": "a+/=\u{e9}" }]),
        &[],
    );
}

#[test]
fn wraps_later_system_message() {
    let messages = [system("a"), user("b"), system("now"), answer("c")];
    check(
        GEMINI,
        &messages,
        "/contents/0/parts/1/text",
        &json!("<system>\nnow\n</system>"),
        &[
            "info[CTX0516]: a system message in the conversation is sent as a user message in `<system>` tags (at /messages/2)",
        ],
    );
}

#[test]
fn inserts_user_message_before_first_call() {
    check(
        GEMINI,
        &[calling("", &["c1"]), result("c1", "x")],
        "/contents/0",
        &json!({ "role": "user", "parts": [{ "text": "(The conversation begins.)" }] }),
        &[
            "info[CTX0516]: the API rejects a leading assistant message; a user message is inserted before it (at /contents/0)",
        ],
    );
}

#[test]
fn cache_marks_have_no_place() {
    check(
        GEMINI,
        &[marked(user("hi"), CacheMark::Short)],
        "/contents/0/parts",
        &json!([{ "text": "hi" }]),
        &["info[CTX0519]: cache marks are not sent: this API dialect caches common prefixes automatically"],
    );
}

#[test]
fn tools_and_parameters_have_this_dialects_names() {
    let tools = [
        json!({ "type": "function", "function": { "name": "look", "description": "Looks.", "parameters": { "type": "object" } } }),
        json!({ "googleSearch": {} }),
    ];
    let parameters = json!({
        "temperature": 0.5, "top_p": 1, "stop": "x", "seed": 7, "stream": true, "logit_bias": {}, "model": "y",
        "response_format": { "type": "json_schema", "json_schema": { "name": "n", "schema": { "type": "object" } } },
        "generationConfig": { "thinkingConfig": { "thinkingBudget": 9 } }, "cachedContent": "caches/1",
    });
    let request = Request { model: "m", tools: &tools, parameters: parameters.as_object().unwrap() };
    let messages = [user("hi")];
    let encoded = gemini::encode(&messages, &request);
    let expected: Value = json!({
        "contents": [{ "role": "user", "parts": [{ "text": "hi" }] }],
        "tools": [
            { "functionDeclarations": [
                { "name": "look", "description": "Looks.", "parametersJsonSchema": { "type": "object" } },
            ] },
            { "googleSearch": {} },
        ],
        "generationConfig": {
            "temperature": 0.5, "topP": 1, "stopSequences": ["x"], "seed": 7,
            "responseMimeType": "application/json", "responseJsonSchema": { "type": "object" },
            "thinkingConfig": { "thinkingBudget": 9 },
        },
        "cachedContent": "caches/1",
    });
    assert_eq!(format!("{:#}", encoded.to_value()), format!("{expected:#}"));
    let told: Vec<String> = encoded.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "warning[CTX0503]: parameter `logit_bias` is not sent: this API dialect does not support it",
            "warning[CTX0502]: parameter `model` is not sent: ctx sets it",
        ]
    );
}
