//! Reading a whole response.

use serde_json::Value;

use super::stream;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::stream::{Building, check_count};

/// Reads a response.
///
/// Items of reasoning are kept as they are, since the provider wants them back before what they led to.
/// Errors: [`crate::FailureKind::Unreadable`] without a list of output; the provider's own error if the response
/// failed or the body is an error.
pub fn decode(body: &Value) -> Result<Reply, Failure> {
    if let Some(failure) = Failure::within(body) {
        return Err(failure);
    }
    let Some(output) = body.get("output").and_then(Value::as_array) else {
        return Err(Failure::unreadable("the response has no output list"));
    };
    let (mut building, mut deltas) = (Building::default(), Vec::new());
    for (number, item) in output.iter().enumerate() {
        for part in parts(item, "content") {
            let text = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str);
            match item.get("type").and_then(Value::as_str) {
                Some("message") => stream::add_text(text.unwrap_or_default(), &mut building, &mut deltas),
                Some("reasoning") => building.add_reasoning(text.unwrap_or_default(), &mut deltas),
                _ => {}
            }
        }
        for part in parts(item, "summary") {
            let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
            building.add_reasoning(text, &mut deltas);
        }
        stream::close_item(number as u64, item, &mut building, &mut deltas);
    }
    stream::end(body, &mut building);
    check_count(building.call_count())?;
    match building.failure.take() {
        Some(failure) => Err(failure),
        None => Ok(building.into_reply()),
    }
}

fn parts<'a>(item: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    item.get(key).and_then(Value::as_array).into_iter().flatten()
}
