//! Reading the events of a streamed message of Anthropic's.

use ctx_types::internal::BlockKind;
use serde_json::Value;

use crate::openai_chat::stream::text_of;
use crate::reply::{Finish, ReplyUsage};
use crate::stream::{Building, Delta};

/// Takes one event over into the answer.
pub(crate) fn read(event: &Value, building: &mut Building) -> Vec<Delta> {
    let mut deltas = Vec::new();
    let number = event.get("index").and_then(Value::as_u64).unwrap_or(0);
    match event.get("type").and_then(Value::as_str).unwrap_or_default() {
        "message_start" => {
            if let Some(message) = event.get("message") {
                building.id = text_of(message, "id");
                building.model = text_of(message, "model");
                building.usage = usage(message.get("usage"), building.usage);
            }
        }
        "content_block_start" => {
            if let Some(block) = event.get("content_block") {
                open_block(number, block, building, &mut deltas);
            }
        }
        "content_block_delta" => {
            if let Some(delta) = event.get("delta") {
                add(number, delta, building, &mut deltas);
            }
        }
        "message_delta" => {
            building.usage = usage(event.get("usage"), building.usage);
            if let Some(reason) = event.pointer("/delta/stop_reason").and_then(Value::as_str) {
                building.finish = Some(finish(reason));
            }
        }
        "message_stop" => building.is_done = true,
        _ => {}
    }
    deltas
}

pub(super) fn open_block(number: u64, block: &Value, building: &mut Building, deltas: &mut Vec<Delta>) {
    let field = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    match field("type") {
        "text" => {
            building.begin_block(BlockKind::Content);
            building.add_text(field("text"), deltas);
        }
        "tool_use" => {
            building.begin_block(BlockKind::Call);
            building.open_call(number, field("id"), field("name"), deltas);
            // Filled already by servers that do not cut the arguments into pieces.
            if let Some(input) =
                block.get("input").and_then(Value::as_object).filter(|input| !input.is_empty())
            {
                building.add_arguments(number, &Value::from(input.clone()).to_string(), deltas);
            }
        }
        "thinking" | "redacted_thinking" => {
            building.begin_block(BlockKind::Reasoning);
            building.add_reasoning(field("thinking"), deltas);
            building.open_thought(number, block);
        }
        _ => {}
    }
}

fn add(number: u64, delta: &Value, building: &mut Building, deltas: &mut Vec<Delta>) {
    let field = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
    match field("type") {
        "text_delta" => building.add_text(field("text"), deltas),
        "input_json_delta" => building.add_arguments(number, field("partial_json"), deltas),
        "thinking_delta" => {
            building.add_reasoning(field("thinking"), deltas);
            building.add_thought(number, field("thinking"), "");
        }
        "signature_delta" => building.add_thought(number, "", field("signature")),
        _ => {}
    }
}

/// Why a message ended, from the provider's word for it.
pub(crate) fn finish(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_use" => Finish::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Refused,
        other => Finish::Other(other.to_owned()),
    }
}

/// The counts so far: a later event counts the output anew and may leave the input out.
///
/// `input_tokens` is without what was read from the cache or written to it.
pub(crate) fn usage(usage: Option<&Value>, before: Option<ReplyUsage>) -> Option<ReplyUsage> {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else { return before };
    let before = before.unwrap_or_default();
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let cached = count("cache_read_input_tokens");
    let fresh = count("input_tokens");
    let input = fresh.map(|fresh| {
        let written = count("cache_creation_input_tokens").unwrap_or(0);
        fresh.saturating_add(cached.unwrap_or(0)).saturating_add(written)
    });
    Some(ReplyUsage {
        input: input.unwrap_or(before.input),
        cached: if fresh.is_some() { cached } else { before.cached },
        output: count("output_tokens").unwrap_or(before.output),
    })
}
