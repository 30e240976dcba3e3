//! Reading a whole message of Anthropic's.

use serde_json::Value;

use crate::anthropic::stream;
use crate::failure::Failure;
use crate::openai_chat::stream::text_of;
use crate::reply::Reply;
use crate::stream::{Building, check_count};

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
    check_count(
        blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind == "tool_use")).count(),
    )?;
    let mut building = Building::default();
    building.id = text_of(body, "id");
    building.model = text_of(body, "model");
    for (number, block) in blocks.iter().enumerate() {
        stream::open_block(number as u64, block, &mut building, &mut Vec::new());
    }
    building.usage = stream::usage(body.get("usage"), None);
    building.finish = body.get("stop_reason").and_then(Value::as_str).map(stream::finish);
    Ok(building.into_reply())
}
