//! Reading a whole completion.

use serde_json::Value;

use super::stream;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::stream::{Building, check_count};

/// Reads the first choice of a text completion, or an answer in llama.cpp's own form.
///
/// Calls that the model wrote as `<tool_call>` are taken out of the words.
/// Errors: [`crate::FailureKind::Unreadable`] without a text; the provider's own error if the body is one.
pub fn decode(body: &Value) -> Result<Reply, Failure> {
    if let Some(failure) = Failure::within(body) {
        return Err(failure);
    }
    let is_reply =
        body.pointer("/choices/0/text").or_else(|| body.get("content")).is_some_and(Value::is_string);
    if !is_reply {
        return Err(Failure::unreadable("the response has no choice with text"));
    }
    let mut building = Building::default();
    stream::read(body, &mut building);
    building.take_written_calls();
    check_count(building.call_count())?;
    Ok(building.into_reply())
}
