//! Parameters and parts of other API dialects, and values out of range.

use ctx_types::internal::{RequestRules, TopKRule};
use ctx_wire::Dialect;
use insta::assert_snapshot;
use serde_json::json;

use crate::lint::findings;

#[test]
fn finds_parameters_of_other_dialects() {
    let messages = json!([{ "role": "user", "content": "hi" }]);
    let rules = RequestRules { top_k: TopKRule::Rejected, ..RequestRules::default() };
    let chat = |model: &str| json!({ "model": model, "messages": messages, "max_output_tokens": 5, "temperature": 2.5 });
    assert_snapshot!(findings(&chat("gpt-4o"), Dialect::OpenaiChat, rules), @r"
    error[CTX0536]: this API dialect has no parameter `max_output_tokens` (at /max_output_tokens)
    error[CTX0533]: `temperature` must be between 0 and 2 (at /temperature)
    ");
    assert_snapshot!(findings(&chat("m"), Dialect::OpenaiChat, RequestRules::default()), @r"
    warning[CTX0536]: this API dialect has no parameter `max_output_tokens` (at /max_output_tokens)
    warning[CTX0533]: `temperature` must be between 0 and 2 (at /temperature)
    ");
    let responses = json!({ "model": "m", "input": "hi", "max_tokens": 5, "top_p": 2 });
    assert_snapshot!(findings(&responses, Dialect::OpenaiResponses, rules), @r"
    error[CTX0536]: this API dialect has no parameter `max_tokens` (at /max_tokens)
    error[CTX0533]: `top_p` must be between 0 and 1 (at /top_p)
    ");
    let anthropic =
        json!({ "model": "m", "messages": messages, "max_tokens": 5, "stop": ["x"], "temperature": 1.5 });
    assert_snapshot!(findings(&anthropic, Dialect::Anthropic, rules), @r"
    error[CTX0536]: this API dialect has no parameter `stop` (at /stop)
    warning[CTX0533]: `temperature` must be between 0 and 1 (at /temperature)
    ");
    let contents = json!([{ "role": "user", "parts": [{ "text": "hi" }] }]);
    let gemini = json!({ "contents": contents, "max_tokens": 5, "generationConfig": { "temperature": 3 } });
    assert_snapshot!(findings(&gemini, Dialect::Gemini, rules), @r"
    error[CTX0536]: this API dialect has no parameter `max_tokens` (at /max_tokens)
    error[CTX0533]: `temperature` must be between 0 and 2 (at /generationConfig/temperature)
    ");
    let misspelled =
        json!({ "model": "m", "messages": messages, "temperture": 0.2, "system_fingerprint": 1 });
    assert_snapshot!(findings(&misspelled, Dialect::OpenaiChat, rules), @r"warning[CTX0536]: unknown parameter `temperture` (at /temperture)");
    let limit = json!({ "model": "m", "messages": messages, "max_tokens": -1 });
    assert_snapshot!(findings(&limit, Dialect::Anthropic, rules), @r"error[CTX0530]: `max_tokens` must be an integer, 0 or more (at /max_tokens)");
}

#[test]
fn finds_parts_of_other_dialects() {
    let parts = json!([{ "type": "input_text", "text": "hi" }, { "type": "image", "source": {} }]);
    let body = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": parts }] });
    let rules = RequestRules { top_k: TopKRule::Rejected, ..RequestRules::default() };
    assert_snapshot!(findings(&body, Dialect::OpenaiChat, rules), @r"
    error[CTX0514]: role `user` cannot have part `input_text` (at /messages/0/content/0)
    error[CTX0514]: role `user` cannot have part `image` (at /messages/0/content/1)
    ");
}
