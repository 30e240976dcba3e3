//! Anthropic's messages.

use ctx_types::CacheMark;
use ctx_wire::{Dialect, Options, Request, SystemPlacement};
use insta::assert_snapshot;
use serde_json::json;

use super::case::*;

const ANTHROPIC: Dialect = Dialect::Anthropic;

fn in_place() -> Options<'static> {
    Options { system: SystemPlacement::InPlace, ..Options::default() }
}

#[test]
fn pictures_and_pdf_have_blocks_and_text_is_a_document() {
    check(
        ANTHROPIC,
        &[with_files(user("see"), &[PNG, PDF, TXT])],
        "/messages/0/content",
        &json!([
            { "type": "text", "text": "see" },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "cG5n" } },
            { "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": "cGRm" }, "title": "plan.pdf" },
            { "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "雪" }, "title": "a.txt" },
        ]),
        &[],
    );
}

#[test]
fn recordings_films_and_rare_pictures_have_none() {
    check(
        ANTHROPIC,
        &[with_files(user("see"), &[WAV, MP4, ("a.heic", "image/heic", b"x")])],
        "/messages/0/content",
        &json!("see"),
        &[
            "error[CTX0513]: `memo.wav` (audio/wav) is not sent: this API dialect does not support it (at /messages/0)",
            "error[CTX0513]: `film.mp4` (video/mp4) is not sent: this API dialect does not support it (at /messages/0)",
            "error[CTX0513]: `a.heic` (image/heic) is not sent: this API dialect does not support it (at /messages/0)",
        ],
    );
}

#[test]
fn addresses_are_left_to_the_provider() {
    let picture = json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } });
    check(
        ANTHROPIC,
        &[with_part(user("see"), picture)],
        "/messages/0/content/1",
        &json!({ "type": "image", "source": { "type": "url", "url": "https://example.org/a.png" } }),
        &[],
    );
}

#[test]
fn results_have_media_of_their_own_and_stand_first() {
    check(
        ANTHROPIC,
        &[
            user("look"),
            calling("", &["c1", "c2"]),
            with_files(result("c1", "here"), &[PNG]),
            result("c2", ""),
            user("well?"),
        ],
        "/messages/2",
        &json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "c1", "content": [
                { "type": "text", "text": "here" },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "cG5n" } },
            ] },
            { "type": "tool_result", "tool_use_id": "c2", "content": "" },
            { "type": "text", "text": "well?" },
        ] }),
        &[],
    );
}

#[test]
fn media_of_instructions_and_answers_go_to_the_user() {
    check(
        ANTHROPIC,
        &[with_files(system("rules"), &[PNG]), user("hi"), with_files(answer("so"), &[PDF])],
        "/messages",
        &json!([
            { "role": "user", "content": [
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "cG5n" } },
                { "type": "text", "text": "hi" },
            ] },
            { "role": "assistant", "content": "so" },
            { "role": "user", "content": [
                { "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": "cGRm" }, "title": "plan.pdf" },
            ] },
        ]),
        &[
            "info[CTX0516]: role `assistant` cannot have media; they are sent with the next user message (at /messages/2)",
            "info[CTX0516]: role `system` cannot have media; they are sent with the next user message (at /messages/0)",
        ],
    );
}

#[test]
fn a_system_message_stays_in_its_place_where_the_rules_allow_it() {
    // Behind the user's and before the assistant's.
    check_with(
        ANTHROPIC,
        &in_place(),
        &[system("a"), user("b"), system("now"), answer("c"), user("d")],
        "/messages/1",
        &json!({ "role": "system", "content": "now" }),
        &[],
    );
    // At the end, behind results; two in a row are one.
    check_with(
        ANTHROPIC,
        &in_place(),
        &[user("b"), calling("", &["c1"]), result("c1", "x"), system("one"), system("two")],
        "/messages/3",
        &json!({ "role": "system", "content": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }] }),
        &[],
    );
}

#[test]
fn elsewhere_a_system_message_is_wrapped() {
    let found = "info[CTX0516]: a system message is not allowed here; it is sent as a user message in `<system>` tags (at /messages/2)";
    // Behind the assistant's.
    check_with(
        ANTHROPIC,
        &in_place(),
        &[user("b"), answer("c"), system("now")],
        "/messages/2",
        &json!({ "role": "user", "content": "<system>\nnow\n</system>" }),
        &[found],
    );
    // Before the user's.
    check_with(
        ANTHROPIC,
        &in_place(),
        &[system("x"), user("b"), system("now"), user("c")],
        "/messages/0/content/1/text",
        &json!("<system>\nnow\n</system>"),
        &[found],
    );
}

#[test]
fn a_beginning_is_asked_for_where_the_model_takes_none() {
    check_with(
        ANTHROPIC,
        &Options { prefill: false, ..Options::default() },
        &[user("go"), answer("Once ")],
        "/messages",
        &json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": "Once " },
            { "role": "user", "content": "(Go on exactly where your last message ends.)" },
        ]),
        &["warning[CTX0511]: the model does not support prefill; a user message asks for the rest"],
    );
}

#[test]
fn a_cache_mark_stands_on_a_block() {
    check(
        ANTHROPIC,
        &[marked(system("rules"), CacheMark::Long), marked(user("hi"), CacheMark::Short)],
        "/system",
        &json!([{ "type": "text", "text": "rules", "cache_control": { "type": "ephemeral", "ttl": "1h" } }]),
        &[],
    );
    check(
        ANTHROPIC,
        &[user("look"), calling("", &["c1"]), marked(result("c1", "x"), CacheMark::Short)],
        "/messages/2/content/0",
        &json!({ "type": "tool_result", "tool_use_id": "c1", "content": "x", "cache_control": { "type": "ephemeral" } }),
        &[],
    );
}

#[test]
fn thinking_is_never_marked() {
    let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
    check(
        ANTHROPIC,
        &[
            user("?"),
            marked(thinking(calling("", &["c1"]), std::slice::from_ref(&thought)), CacheMark::Short),
            result("c1", "x"),
        ],
        "/messages/1/content",
        &json!([
            thought,
            { "type": "tool_use", "id": "c1", "name": "look", "input": { "at": 1 }, "cache_control": { "type": "ephemeral" } },
        ]),
        &[],
    );
}

#[test]
fn the_last_mark_is_never_on_a_trailing_system_message() {
    check_with(
        ANTHROPIC,
        &in_place(),
        &[user("hi"), marked(system("note"), CacheMark::Short)],
        "/messages",
        &json!([
            { "role": "user", "content": [{ "type": "text", "text": "hi", "cache_control": { "type": "ephemeral" } }] },
            { "role": "system", "content": "note" },
        ]),
        &[],
    );
}

#[test]
fn keeps_last_four_marks_with_falling_lifetimes() {
    let turns = |long: usize| -> Vec<_> {
        (0..6)
            .map(|at| {
                let mark = if at == long { CacheMark::Long } else { CacheMark::Short };
                marked(if at % 2 == 0 { user("u") } else { answer("a") }, mark)
            })
            .chain([user("end")])
            .collect()
    };
    let encoded = encode(ANTHROPIC, &turns(9), &Options::default());
    assert_eq!(encoded.to_string().matches("cache_control").count(), 4);
    let told: Vec<String> = encoded.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["warning[CTX0519]: 6 blocks have cache marks; only 4 are sent"]);

    let encoded = encode(ANTHROPIC, &turns(4), &Options::default());
    assert!(!encoded.to_string().contains("1h"));
    assert!(encoded.diagnostics.iter().any(|found| found.code == ctx_wire::codes::CACHE_MARK));
}

#[test]
fn counts_cache_marks_of_all_blocks() {
    let mark = json!({ "type": "ephemeral" });
    let picture = json!({ "type": "image", "source": { "type": "url", "url": "https://a/b.png" }, "cache_control": mark });
    let search = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {}, "cache_control": mark });
    let long = json!({ "type": "search_result", "content": [], "cache_control": { "type": "ephemeral", "ttl": "1h" } });
    let thought = json!({ "type": "thinking", "thinking": "t", "signature": "s", "cache_control": mark });
    let messages = [
        with_part(user("a"), picture.clone()),
        thinking(with_part(answer("b"), search), &[thought]),
        with_part(user("c"), picture.clone()),
        with_part(answer("d"), long),
        marked(user("e"), CacheMark::Short),
        with_part(answer("f"), json!({ "type": "fallback" })),
        with_part(user("g"), picture),
    ];
    let tools = [json!({ "name": "t", "input_schema": { "type": "object" }, "cache_control": mark })];
    let parameters = json!({ "max_tokens": 90 });
    let request = Request { model: "m", tools: &tools, parameters: parameters.as_object().unwrap() };
    let encoded = ANTHROPIC.encode(&messages, &request);
    let told: Vec<String> = encoded.diagnostics.iter().map(ToString::to_string).collect();
    assert_snapshot!(told.join("\n"), @"
    info[CTX0519]: the cache mark of a thinking block is not sent: the API rejects it (at /messages/1/content/0)
    warning[CTX0519]: 7 blocks have cache marks; only 4 are sent
    warning[CTX0519]: a long-lived cache mark cannot follow a short-lived one; it is sent as short-lived (at /messages/3/content/1)
    ");
    let body = encoded.to_value();
    let mark = json!({ "type": "ephemeral" });
    let places = ["/tools/0", "/messages/3/content/1", "/messages/4/content/0", "/messages/6/content/1"];
    for place in places {
        assert_eq!(body.pointer(&format!("{place}/cache_control")), Some(&mark), "{place}");
    }
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
}

#[test]
fn state_in_an_envelope_is_unwrapped_unless_it_is_never_replayed() {
    let block = json!({ "type": "redacted_thinking", "data": "zz" });
    let envelope = |policy: &str| json!({ "provider": "anthropic", "kind": "x", "replayPolicy": policy, "payload": block });
    check(
        ANTHROPIC,
        &[user("?"), thinking(answer("so"), &[envelope("always"), envelope("never")]), user("!")],
        "/messages/1/content",
        &json!([block, { "type": "text", "text": "so" }]),
        &[],
    );
}
