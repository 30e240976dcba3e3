//! OpenAI's responses.

use ctx_types::{CacheMark, Message, Role};
use ctx_wire::{Dialect, Options, Request, openai_responses};
use serde_json::{Value, json};

use super::case::*;

const RESPONSES: Dialect = Dialect::OpenaiResponses;

#[test]
fn earlier_answers_are_output_text() {
    check(
        RESPONSES,
        &[system("rules"), user("hi"), answer("yes"), says(Role::Developer, "now")],
        "/input",
        &json!([
            { "role": "system", "content": "rules" },
            { "role": "user", "content": "hi" },
            { "type": "message", "id": "msg_2", "role": "assistant", "status": "completed",
              "content": [{ "type": "output_text", "text": "yes", "annotations": [] }] },
            { "role": "developer", "content": "now" },
        ]),
        &[],
    );
}

#[test]
fn pictures_and_documents_have_parts_and_office_files_too() {
    check(
        RESPONSES,
        &[with_files(
            user("see"),
            &[
                PNG,
                PDF,
                ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK"),
            ],
        )],
        "/input/0/content",
        &json!([
            { "type": "input_text", "text": "see" },
            { "type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,cG5n" },
            { "type": "input_file", "filename": "plan.pdf", "file_data": "data:application/pdf;base64,cGRm" },
            { "type": "input_file", "filename": "a.docx",
              "file_data": "data:application/vnd.openxmlformats-officedocument.wordprocessingml.document;base64,UEs=" },
        ]),
        &[],
    );
}

#[test]
fn recordings_are_never_sent() {
    check(
        RESPONSES,
        &[with_files(user("hear"), &[WAV])],
        "/input/0/content",
        &json!("hear"),
        &[
            "error[CTX0513]: message 0: `memo.wav` (audio/wav) is not sent: this API dialect does not accept its type (at /input)",
        ],
    );
    let chat = json!({ "type": "input_audio", "input_audio": { "data": "AA==", "format": "wav" } });
    check(
        RESPONSES,
        &[with_part(user("hear"), chat)],
        "/input/0/content",
        &json!("hear"),
        &[
            "error[CTX0513]: message 0: audio of type `audio/wav` is not sent: this API dialect does not accept its type (at /input)",
        ],
    );
}

#[test]
fn calls_and_results_are_items() {
    check(
        RESPONSES,
        &[user("look"), calling("", &["c1"]), with_files(result("c1", "here"), &[PNG]), user("so")],
        "/input",
        &json!([
            { "role": "user", "content": "look" },
            { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"at\":1}" },
            { "type": "function_call_output", "call_id": "c1", "output": [
                { "type": "input_text", "text": "here" },
                { "type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,cG5n" },
            ] },
            { "role": "user", "content": "so" },
        ]),
        &[],
    );
}

#[test]
fn reasoning_goes_back_before_what_it_led_to() {
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "zz" });
    let known = json!({ "type": "message", "id": "msg_abc", "phase": "commentary" });
    check(
        RESPONSES,
        &[user("look"), thinking(calling("ok", &["c1"]), &[reasoning.clone(), known]), result("c1", "x")],
        "/input",
        &json!([
            { "role": "user", "content": "look" },
            reasoning,
            { "type": "message", "id": "msg_abc", "role": "assistant", "status": "completed",
              "content": [{ "type": "output_text", "text": "ok", "annotations": [] }], "phase": "commentary" },
            { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"at\":1}" },
            { "type": "function_call_output", "call_id": "c1", "output": "x" },
        ]),
        &[],
    );
}

#[test]
fn a_cache_mark_stands_on_a_part_of_the_input() {
    check(
        RESPONSES,
        &[marked(user("hi"), CacheMark::Short), marked(answer("yes"), CacheMark::Short), user("so")],
        "/input/0/content",
        &json!([{ "type": "input_text", "text": "hi", "prompt_cache_breakpoint": { "mode": "explicit" } }]),
        &[
            "info[CTX0519]: its cache mark is not sent: replies cannot have one in this API dialect (at /input/1)",
        ],
    );
}

#[test]
fn counts_cache_marks_of_parts() {
    let mark = json!({ "mode": "explicit" });
    let picture =
        json!({ "type": "input_image", "image_url": "https://a/b.png", "prompt_cache_breakpoint": mark });
    let messages: Vec<Message> =
        (0..3).map(|_| marked(with_part(user("a"), picture.clone()), CacheMark::Short)).collect();
    let with_both: Vec<Message> =
        messages.iter().cloned().chain((0..2).map(|_| marked(user("b"), CacheMark::Short))).collect();
    let encoded = encode(RESPONSES, &with_both, &Options::default());
    assert_eq!(encoded.to_string().matches("prompt_cache_breakpoint").count(), 4);
    assert_eq!(encoded.diagnostics.len(), 1, "{:?}", encoded.diagnostics);
}

#[test]
fn keeps_items_of_own_tools() {
    let search = json!({ "type": "web_search_call", "id": "ws_1", "status": "completed" });
    let message = with_part(answer("so"), search.clone());
    let text = json!({ "type": "message", "id": "msg_0", "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": "so", "annotations": [] }] });
    check(RESPONSES, &[message], "/input", &json!([text, search]), &[]);
}

#[test]
fn broken_pairs_are_reported() {
    check(
        RESPONSES,
        &[user("look"), calling("", &["c1"]), result("c9", "x")],
        "/input/2/call_id",
        &json!("c9"),
        &[
            "error[CTX0521]: no earlier call has id `c9` (at /input/2/call_id)",
            "error[CTX0522]: call `c1` has no result (at /input/1/call_id)",
        ],
    );
}

#[test]
fn tools_and_parameters_have_this_dialects_names() {
    let tools = [
        json!({ "type": "function", "function": { "name": "look", "parameters": { "type": "object" } } }),
        json!({ "type": "web_search" }),
    ];
    let parameters = json!({
        "max_tokens": 90, "reasoning_effort": "low", "stop": "x", "store": false,
        "response_format": { "type": "json_schema", "json_schema": { "name": "n", "schema": {} } },
    });
    let request = Request { model: "m", tools: &tools, parameters: parameters.as_object().unwrap() };
    let messages = [user("hi")];
    let encoded = openai_responses::encode(&messages, &request);
    let expected: Value = json!({
        "model": "m",
        "input": [{ "role": "user", "content": "hi" }],
        "tools": [
            { "type": "function", "name": "look", "parameters": { "type": "object" }, "strict": false },
            { "type": "web_search" },
        ],
        "max_output_tokens": 90,
        "reasoning": { "effort": "low" },
        "store": false,
        "text": { "format": { "type": "json_schema", "name": "n", "schema": {} } },
    });
    assert_eq!(format!("{:#}", encoded.to_value()), format!("{expected:#}"));
    let told: Vec<String> = encoded.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["warning[CTX0503]: parameter `stop` is not sent: this API dialect does not support it"]
    );
}
