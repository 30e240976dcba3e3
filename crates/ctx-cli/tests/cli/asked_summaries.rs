//! Summaries by a model that is asked over the network: here a server that answers by a script.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::masks::{AT, chat, folder};
use crate::server::{Answer, Received, Server};

/// The key that must appear nowhere but in the header of requests.
const CANARY: &str = "sk-SUMMARYCANARY0123456789";

/// Compresses by a model; the file is as it was unless that is done. Returns what was printed, and the requests.
#[track_caller]
fn run(dialect: &str, answers: Vec<Answer>, more: &str) -> (String, Vec<Received>) {
    let (folder, server) = (folder(), Server::script(answers));
    folder.write("key", CANARY.as_bytes());
    folder.write(".home/ctx.toml", b"[endpoint]\nretries = 0\n");
    let before = chat(&folder);
    let base = server.base_url();
    let output = folder.ctx(&format!(
        "compress run --session chat.json --mask --from 1 --to 10 --write {AT} --set summaryRetries=0 --summarizer {dialect} \
         --summarizer-model writer-1 --base-url {base} --key-file key {more}"
    ));
    assert_eq!(chat(&folder) == before, !output.starts_with("exit code 0"), "a failure changes nothing");
    assert!(!output.contains("CANARY"), "{output}");
    (output.replace(&base, "BASE"), server.requests())
}

/// A whole answer of chat completions.
fn says(text: &str) -> Answer {
    let message = json!({ "role": "assistant", "content": text });
    Answer::json(200, &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] }))
}

#[test]
fn a_model_writes_the_summary() {
    let (output, requests) = run("openai", vec![says("Ada Bell has room 12, B-7781.")], "");
    assert_snapshot!(output, @"
    exit code 0
    === output
    summarize 10 messages (257 tokens) from `n1` to `n10`

    `compression_8c38f6836520a663` (system, 11 tokens; written by the summarizer):
      Ada Bell has room 12, B-7781.

    compressed 10 messages, saved 246 tokens
    sent now: 54 of 300 tokens; 1 summary hides 10 messages
    wrote `chat.json`; undo this with `ctx session undo`
    ");
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {CANARY}").as_str()));
    let body = requests[0].json();
    assert_eq!((&body["model"], body.get("stream")), (&json!("writer-1"), None));
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("=== conversation ==="));
}

#[test]
fn the_dialect_is_that_of_the_summarizer() {
    let answer = json!({ "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{ "type": "text", "text": "Ada Bell has room 12, B-7781." }] });
    let (output, requests) = run("anthropic", vec![Answer::json(200, &answer)], "");
    assert!(output.starts_with("exit code 0"), "{output}");
    assert_eq!(requests[0].path, "/v1/messages");
    assert_eq!(requests[0].header("x-api-key"), Some(CANARY));
}

#[test]
fn an_answer_that_fails_is_told_and_changes_nothing() {
    let refused = Answer::error(401, "invalid_api_key", &format!("no such key: {CANARY}"));
    assert_snapshot!(run("openai", vec![refused], "").0, @"
    exit code 4
    === errors
    error: the summarizer failed (not allowed): the provider rejected the request: status 401: no such key: [redacted]; check the API key; `chat.json` is unchanged
    ");
    assert_snapshot!(run("openai", vec![says("")], "").0, @"
    exit code 4
    === errors
    error: invalid summary: the reply is empty; `chat.json` is unchanged
    ");
}

#[test]
fn a_failure_is_data_too() {
    let (output, _) = run("openai", vec![Answer::error(500, "server_error", "trouble")], "--json");
    let json = output.split_once("=== output\n").unwrap().1.split_once("=== errors").unwrap().0;
    let json: Value = serde_json::from_str(json).unwrap();
    assert_snapshot!(json["outcome"], @r#"
    {"kind":"failed","reason":"unavailable","detail":"the summarizer failed (not available): the provider rejected the request: status 500: trouble"}
    "#);
    assert_eq!(json["written"], false);
}

#[test]
fn what_is_missing_is_a_fault_of_the_command_line() {
    let folder = folder();
    let run =
        |more: &str| folder.ctx(&format!("compress run --session chat.json --mask --summarizer {more}"));
    assert_snapshot!(run("openai"), @"
    exit code 2
    === errors
    error: no model for summaries; set one with `--summarizer-model`
    ");
    assert_snapshot!(run("openai --summarizer-model m"), @"
    exit code 2
    === errors
    error: no API key; set `OPENAI_API_KEY`, use `--key-env` or `--key-file`, or name a local server with `--base-url`
    ");
}

#[test]
fn a_summary_is_written_again_by_a_model() {
    let (folder, id) = crate::masks::compressed();
    let server = Server::script([says("Room 12, B-7781, for Ada Bell.")]);
    let toml = format!("[endpoint]\nbase-url = '{}'\nmodel = 'writer-2'\n", server.base_url());
    folder.write("ctx.toml", toml.as_bytes());
    folder.ctx("trust .");
    let output =
        folder.ctx(&format!("compress regenerate {id} --session chat.json --write --summarizer openai {AT}"));
    assert!(output.contains("Room 12, B-7781, for Ada Bell."), "{output}");
    assert_eq!(server.requests()[0].json()["model"], "writer-2");
}
