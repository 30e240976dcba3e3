//! Chat completions.

use ctx_types::internal::{ReasoningState, RequestRules};
use ctx_types::{CacheMark, Role};
use ctx_wire::{Dialect, Options};
use serde_json::json;

use super::case::*;

const CHAT: Dialect = Dialect::OpenaiChat;

fn with_state(reasoning_state: ReasoningState) -> Options<'static> {
    Options { rules: RequestRules { reasoning_state, ..RequestRules::default() }, ..Options::default() }
}

#[test]
fn a_document_is_a_data_address_with_a_name() {
    check(
        CHAT,
        &[with_files(user("see"), &[PDF])],
        "/messages/0/content",
        &json!([
            { "type": "text", "text": "see" },
            { "type": "file", "file": { "filename": "plan.pdf", "file_data": "data:application/pdf;base64,cGRm" } },
        ]),
        &[],
    );
    check(
        CHAT,
        &[with_files(user(""), &[("", "application/pdf", b"pdf")])],
        "/messages/0/content/0/file/filename",
        &json!("document.pdf"),
        &[],
    );
}

#[test]
fn a_recording_is_bare_base64_with_its_format() {
    check(
        CHAT,
        &[with_files(user("hear"), &[WAV, ("b.mp3", "audio/mp3", b"mp3")])],
        "/messages/0/content",
        &json!([
            { "type": "text", "text": "hear" },
            { "type": "input_audio", "input_audio": { "data": "d2F2", "format": "wav" } },
            { "type": "input_audio", "input_audio": { "data": "bXAz", "format": "mp3" } },
        ]),
        &[],
    );
}

#[test]
fn a_picture_is_a_data_address_with_its_detail() {
    let close = with_files(user("see"), &[PNG]).with(|message| {
        message.attachments[0].kept = std::sync::Arc::new(json!({ "detail": "low" }));
    });
    check(
        CHAT,
        &[close],
        "/messages/0/content/1",
        &json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,cG5n", "detail": "low" } }),
        &[],
    );
}

#[test]
fn a_text_file_is_a_text_part() {
    check(
        CHAT,
        &[with_files(user("read"), &[TXT])],
        "/messages/0/content",
        &json!([{ "type": "text", "text": "read" }, { "type": "text", "text": "a.txt:\n雪" }]),
        &[],
    );
}

#[test]
fn a_film_and_an_office_file_are_not_sent() {
    check(
        CHAT,
        &[with_files(
            user("see"),
            &[
                MP4,
                ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK"),
            ],
        )],
        "/messages/0/content",
        &json!("see"),
        &[
            "error[CTX0513]: `film.mp4` (video/mp4) is not sent: this API dialect does not support it (at /messages/0)",
            "error[CTX0513]: `a.docx` (application/vnd.openxmlformats-officedocument.wordprocessingml.d…) is not sent: this API dialect does not support it (at /messages/0)",
        ],
    );
}

#[test]
fn media_of_results_follow_in_a_message_of_the_user_after_all_results() {
    check(
        CHAT,
        &[
            user("look"),
            calling("", &["c1", "c2"]),
            with_files(result("c1", "here"), &[PNG]),
            result("c2", "nothing"),
            answer("I see."),
        ],
        "/messages",
        &json!([
            { "role": "user", "content": "look" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{\"at\":1}" } },
                { "id": "c2", "type": "function", "function": { "name": "look", "arguments": "{\"at\":1}" } },
            ] },
            { "role": "tool", "tool_call_id": "c1", "content": "here" },
            { "role": "tool", "tool_call_id": "c2", "content": "nothing" },
            { "role": "user", "content": [
                { "type": "text", "text": "[Attached to the result of the call c1]" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,cG5n" } },
            ] },
            { "role": "assistant", "content": "I see." },
        ]),
        &[
            "info[CTX0516]: role `tool` cannot have media; they are sent in the following user message (at /messages/2)",
        ],
    );
}

#[test]
fn media_of_instructions_and_answers_follow_them() {
    check(
        CHAT,
        &[with_files(system("rules"), &[PNG]), with_files(answer("here"), &[PNG])],
        "/messages",
        &json!([
            { "role": "system", "content": "rules" },
            { "role": "user", "content": [
                { "type": "text", "text": "[Attached to the instructions]" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,cG5n" } },
            ] },
            { "role": "assistant", "content": "here" },
            { "role": "user", "content": [
                { "type": "text", "text": "[Attached to the assistant's message]" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,cG5n" } },
            ] },
        ]),
        &[
            "info[CTX0516]: role `system` cannot have media; they are sent in the following user message (at /messages/0)",
            "info[CTX0516]: role `assistant` cannot have media; they are sent in the following user message (at /messages/2)",
        ],
    );
}

#[test]
fn findings_about_pairs_point_behind_what_was_put_in() {
    check(
        CHAT,
        &[with_files(system("rules"), &[PNG]), result("c9", "?")],
        "/messages/2",
        &json!({ "role": "tool", "tool_call_id": "c9", "content": "?" }),
        &[
            "info[CTX0516]: role `system` cannot have media; they are sent in the following user message (at /messages/0)",
            "error[CTX0521]: no earlier call has id `c9` (at /messages/2/tool_call_id)",
        ],
    );
}

#[test]
fn a_cache_mark_stands_on_the_last_part() {
    check(
        CHAT,
        &[marked(system("rules"), CacheMark::Short), user("hi")],
        "/messages/0/content",
        &json!([{ "type": "text", "text": "rules", "prompt_cache_breakpoint": { "mode": "explicit" } }]),
        &[],
    );
}

#[test]
fn visible_reasoning_goes_back_beside_calls_if_that_is_wanted() {
    let thought = calling("", &["c1"]).with(|message| {
        message.reasoning =
            Some(ctx_types::Reasoning { text: Some("hm".into()), artifacts: Vec::new(), model: None });
    });
    check_with(
        CHAT,
        &with_state(ReasoningState::Content),
        &[user("look"), thought, result("c1", "x")],
        "/messages/1/reasoning_content",
        &json!("hm"),
        &[],
    );
}

#[test]
fn fields_of_the_provider_alone_pass_through() {
    let prefix = answer("Once").with(|message| {
        let fields = json!({ "openai": { "prefix": true, "role": "x" }, "anthropic": { "y": 1 } });
        message.provider_fields = Some(std::sync::Arc::new(fields));
    });
    check(
        CHAT,
        &[user("go"), prefix],
        "/messages/1",
        &json!({ "role": "assistant", "content": "Once", "prefix": true }),
        &[
            "warning[CTX0528]: fields of its blocks are not sent: this API dialect does not support `y` (at /messages/1)",
        ],
    );
    let details =
        json!({ "type": "reasoning_details", "details": [{ "type": "reasoning.encrypted", "data": "z" }] });
    check(
        CHAT,
        &[user("go"), thinking(answer("ok"), &[details])],
        "/messages/1/reasoning_details",
        &json!([{ "type": "reasoning.encrypted", "data": "z" }]),
        &[],
    );
}

#[test]
fn a_part_of_another_dialect_becomes_one_of_this() {
    let anthropic =
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/jpg", "data": "AA==" } });
    check(
        CHAT,
        &[with_part(user("see"), anthropic)],
        "/messages/0/content/1",
        &json!({ "type": "image_url", "image_url": { "url": "data:image/jpeg;base64,AA==" } }),
        &[],
    );
    let gemini = json!({ "inlineData": { "mimeType": "audio/wav", "data": "AA==" } });
    check(
        CHAT,
        &[with_part(user("hear"), gemini)],
        "/messages/0/content/1",
        &json!({ "type": "input_audio", "input_audio": { "data": "AA==", "format": "wav" } }),
        &[],
    );
    // What an application once sent to every provider, and only one of them takes.
    let document = json!({ "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": "AA==" } });
    check(CHAT, &[with_part(user("read"), document)], "/messages/0/content/1/type", &json!("file"), &[]);
}

#[test]
fn instructions_stand_anywhere_with_their_role() {
    check(
        CHAT,
        &[system("a"), user("b"), says(Role::Developer, "c"), answer("d")],
        "/messages",
        &json!([
            { "role": "system", "content": "a" },
            { "role": "user", "content": "b" },
            { "role": "developer", "content": "c" },
            { "role": "assistant", "content": "d" },
        ]),
        &[],
    );
}
