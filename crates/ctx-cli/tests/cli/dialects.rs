//! `ctx assemble --format` with the request body of each dialect.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::assemble::{assemble, json};
use crate::ctx;

/// Assembles the agent and the chat in a dialect, and compares a part of the body.
#[track_caller]
fn check(format: &str, pointer: &str, expected: &Value) {
    let body = json(&assemble(&format!("a.yaml --session c.json --format {format}")));
    assert_eq!(format!("{:#}", body.pointer(pointer).unwrap()), format!("{expected:#}"), "{body:#}");
}

#[test]
fn responses_are_items() {
    check(
        "openai-responses --model gpt-5",
        "/input/2",
        &json!({
            "type": "message", "id": "msg_2", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "Hi!", "annotations": [] }],
        }),
    );
}

#[test]
fn instructions_of_anthropic_stand_apart_and_later_ones_by_what_the_model_takes() {
    check("anthropic --model claude-sonnet-4-5", "/system", &json!("You are Robin; it is 12:00 PM."));
    let wrapped = json!([
        { "type": "text", "text": "<system>\nBe brief.\n</system>" },
        { "type": "text", "text": "When do I sow basil?" },
    ]);
    check("anthropic --model claude-sonnet-4-5", "/messages/2/content", &wrapped);
    // Behind the assistant's message it cannot stand with its role even where the model takes it.
    check("anthropic --model claude-opus-5", "/messages/2/content", &wrapped);
}

#[test]
fn gemini_has_contents() {
    check(
        "gemini --model gemini-3-pro",
        "/contents/3",
        &json!({ "role": "model", "parts": [{
            "functionCall": { "id": "call_1", "name": "season", "args": {} },
            "thoughtSignature": "skip_thought_signature_validator",
        }] }),
    );
}

#[test]
fn a_completion_has_a_prompt_by_the_template_of_the_model() {
    let prompt = |arguments: &str| {
        json(&ctx(&format!("assemble --input hi --format completion {arguments}"), &[]))["prompt"].clone()
    };
    assert_eq!(prompt("--model qwen3"), "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
    assert_eq!(
        prompt("--model gemma-3"),
        "<bos><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\n"
    );
    assert_eq!(prompt("--model qwen3 --template alpaca"), "### Instruction:\nhi\n\n### Response:\n");
}

#[test]
fn a_template_can_be_a_file() {
    let template = "user: { before: 'Q: ', after: ' ' }\nassistant: { before: 'A:' }\nstops: ['Q:']\n";
    assert_snapshot!(ctx("assemble --input hi --format completion --model gpt-5 --template t.yaml", &[("t.yaml", template)]), @r#"
    exit code 0
    === output
    {
      "model": "gpt-5",
      "prompt": "Q: hi A:"
    }
    === errors
    warning[CTX0506]: unknown key `stops` in a template
     --> t.yaml:3:1
      |
    3 | stops: ['Q:']
      | ^^^^^
      |
      = help: did you mean `stop`?

    info[CTX0533]: `max_tokens` is not set; some servers stop after 16 tokens
    --> request body /max_tokens
    "#);
}

#[test]
fn an_unknown_template_is_a_usage_error_that_helps() {
    assert_snapshot!(ctx("assemble --input hi --format completion --template chatmi", &[]), @"
    exit code 2
    === errors
    error: `--template chatmi` is neither a template nor a file; did you mean `chatml`?
    ");
}

#[test]
fn request_bodies_of_every_dialect_are_known() {
    let bodies = [
        r#"{"model": "m", "input": [{"type": "function_call_output", "call_id": "a", "output": "42"}]}"#,
        r#"{"contents": [{"role": "model", "parts": [{"text": "Hi"}]}, {"role": "judge", "parts": []}]}"#,
        r#"{"model": "m", "prompt": " "}"#,
    ];
    for body in bodies {
        let told = ctx("check request.json", &[("request.json", body)]);
        assert!(told.starts_with("exit code 1\n") && !told.contains("CTX0607"), "{told}");
    }
    let good = r#"{"model": "m", "input": [{"role": "user", "content": "Hi"}]}"#;
    assert!(ctx("check request.json", &[("request.json", good)]).starts_with("exit code 0\n"));
}
