//! Tool calls and their results.

use ctx_preset_import::{Format, codes};
use ctx_types::codes as types;
use serde_json::json;

use super::check;

#[test]
fn tool_calls_get_our_form() {
    check(
        json!([
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c1", "type": "function", "index": 0, "function": { "name": "a", "arguments": "{ }", "x": 1 } },
                { "id": "c2", "name": "b", "arguments": { "k": 1 } },
            ] },
            { "role": "tool", "tool_call_id": "c1", "content": "one" },
            { "role": "tool", "tool_call_id": "c2", "content": "two" },
        ]),
        Format::ChatMessages,
        json!([
            { "role": "assistant", "content": null, "toolCalls": [
                { "id": "c1", "type": "function", "index": 0, "name": "a", "arguments": "{ }", "function": { "x": 1 } },
                { "id": "c2", "name": "b", "arguments": "{\"k\":1}" },
            ] },
            { "role": "tool", "content": "one", "toolCallId": "c1" },
            { "role": "tool", "content": "two", "toolCallId": "c2" },
        ]),
        &[],
    );
}

#[test]
fn calls_without_ids_are_paired_with_their_results() {
    check(
        json!([
            { "role": "assistant", "function_call": { "name": "a", "arguments": "{}" } },
            { "role": "function", "name": "a", "content": "one" },
            { "role": "assistant", "tool_calls": [{ "function": { "name": "a" } }, { "function": { "name": "b" } }] },
            { "role": "tool", "name": "b", "content": "two" },
            { "role": "tool", "content": "three" },
            { "role": "tool", "content": "four" },
        ]),
        Format::ChatMessages,
        json!([
            { "role": "assistant", "toolCalls": [{ "name": "a", "arguments": "{}", "id": "call-0-0" }] },
            { "role": "tool", "name": "a", "content": "one", "toolCallId": "call-0-0", "imported": { "role": "function" } },
            { "role": "assistant", "toolCalls": [{ "name": "a", "id": "call-2-0" }, { "name": "b", "id": "call-2-1" }] },
            { "role": "tool", "name": "b", "content": "two", "toolCallId": "call-2-1" },
            { "role": "tool", "content": "three", "toolCallId": "call-2-0" },
            { "role": "tool", "content": "four" },
        ]),
        &[
            (codes::CALL_ID, "/0/function_call"),
            (codes::CALL_ID, "/2/tool_calls/0"),
            (codes::CALL_ID, "/2/tool_calls/1"),
        ],
    );
}

#[test]
fn unreadable_calls_are_kept_aside() {
    let bad = json!([5, null, {}, { "function": { "name": 1 } }, { "name": "a", "arguments": 5 }, { "id": 1, "name": "a" }]);
    check(
        json!([{ "role": "assistant", "tool_calls": bad }, { "role": "assistant", "tool_calls": "x" }]),
        Format::ChatMessages,
        json!([
            { "role": "assistant", "toolCalls": [], "imported": { "tool_calls": bad } },
            { "role": "assistant", "tool_calls": "x" },
        ]),
        &[
            (codes::TOOL_CALL, "/0/tool_calls/0"),
            (codes::TOOL_CALL, "/0/tool_calls/1"),
            (codes::TOOL_CALL, "/0/tool_calls/2"),
            (codes::TOOL_CALL, "/0/tool_calls/3"),
            (codes::TOOL_CALL, "/0/tool_calls/4"),
            (codes::TOOL_CALL, "/0/tool_calls/5"),
            (types::WRONG_TYPE, "/1/tool_calls"),
        ],
    );
}
