//! Replies in full, as providers send them: the cases of `fixtures/replies/`, whole and as streams.
//!
//! `cargo xtask sdk` has the providers' own packages read the same files, and compares with the same results.

use std::path::PathBuf;

use ctx_types::Reasoning;
use ctx_wire::{Dialect, Finish, Reply, ReplyLimits, ReplyStream};
use serde_json::{Value, json};

/// Reads all cases, in the order of their names.
fn cases() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/replies");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.collect();
    files.sort();
    let case = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), serde_json::from_str(&text).unwrap())
    };
    files.into_iter().map(case).collect()
}

fn dialect(case: &Value) -> Dialect {
    Dialect::parse(case["dialect"].as_str().unwrap()).unwrap()
}

/// Reads the events one after the other, as they stand in the data of a stream.
fn streamed(case: &Value) -> Reply {
    let mut stream = ReplyStream::new(dialect(case), ReplyLimits::default());
    for event in case["events"].as_array().unwrap() {
        stream.push(&event.to_string()).unwrap();
    }
    stream.finish().unwrap()
}

/// A reply in the shape of `expected`.
fn outline(reply: &Reply) -> Value {
    assert!(reply.diagnostics.is_empty(), "nothing had to be repaired: {:?}", reply.diagnostics);
    let arguments = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let calls = reply.tool_calls.iter().map(
        |call| json!({ "id": &*call.id, "name": &*call.name, "arguments": arguments(call.arguments.as_str()) }),
    );
    let usage = reply.usage.unwrap();
    json!({
        "id": reply.id,
        "model": reply.model,
        "text": reply.text.as_str(),
        "reasoning": reply.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref()).map(ctx_types::Text::as_str),
        "signatures": reply.reasoning.as_ref().map(signatures).unwrap_or_default(),
        "calls": calls.collect::<Vec<Value>>(),
        "finish": finish(&reply.finish),
        "usage": { "input": usage.input, "cached": usage.cached, "output": usage.output },
    })
}

/// What providers sign their reasoning with, under whatever name.
fn signatures(reasoning: &Reasoning) -> Vec<Value> {
    const NAMES: [&str; 3] = ["signature", "encrypted_content", "data"];
    let signature = |artifact: &Value| NAMES.into_iter().find_map(|name| artifact.get(name).cloned());
    reasoning.artifacts.iter().filter_map(|artifact| signature(artifact)).collect()
}

fn finish(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::ToolCalls => "tool calls",
        Finish::Length => "length",
        Finish::Refused => "refused",
        other => panic!("no case ends with {other:?}"),
    }
}

#[test]
fn whole_replies_say_what_their_providers_packages_read() {
    for (name, case) in cases() {
        let reply = dialect(&case).decode(&case["reply"]).unwrap();
        assert_eq!(outline(&reply), case["expected"], "{name}");
    }
}

#[test]
fn streamed_replies_say_what_their_providers_packages_read() {
    for (name, case) in cases() {
        assert_eq!(outline(&streamed(&case)), case["expected"], "{name}");
    }
}

#[test]
fn every_dialect_of_a_package_has_cases() {
    let cases = cases();
    for name in ["openai", "openai-responses", "anthropic", "completion"] {
        assert!(cases.iter().any(|(_, case)| case["dialect"] == name), "{name}");
    }
}
