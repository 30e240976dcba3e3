//! Reading a whole message of Anthropic's.

use std::sync::Arc;

use serde_json::Value;

use crate::anthropic::stream;
use crate::failure::Failure;
use crate::openai_chat::stream::text_of;
use crate::reply::Reply;
use crate::stream::{check_count, push_call, reasoning};

/// Reads a message.
///
/// Blocks of thinking are kept as they are, since the provider wants them back unchanged.
/// Errors: [`crate::FailureKind::Unreadable`] without a list of blocks; the provider's own error if the body is
/// one.
pub fn decode(body: &Value) -> Result<Reply, Failure> {
    if let Some(failure) = Failure::within(body) {
        return Err(failure);
    }
    let Some(blocks) = body.get("content").and_then(Value::as_array) else {
        return Err(Failure::unreadable("the response has no list of content blocks"));
    };
    let mut reply = Reply { id: text_of(body, "id"), model: text_of(body, "model"), ..Reply::default() };
    check_count(
        blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind == "tool_use")).count(),
    )?;
    let (mut text, mut thinking, mut artifacts) = (String::new(), String::new(), Vec::new());
    for block in blocks {
        let field = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
        match field("type") {
            "text" => text += field("text"),
            "thinking" | "redacted_thinking" => {
                thinking += field("thinking");
                artifacts.push(Arc::new(block.clone()));
            }
            "tool_use" => {
                let input = block.get("input").map(Value::to_string).unwrap_or_default();
                push_call(&mut reply, field("id"), field("name"), input);
            }
            _ => {}
        }
    }
    reply.text = text.into();
    reply.reasoning = reasoning(&thinking, artifacts);
    reply.usage = stream::usage(body.get("usage"), None);
    reply.finish = body.get("stop_reason").and_then(Value::as_str).map(stream::finish).unwrap_or_default();
    reply.repair_ids();
    Ok(reply)
}
