//! Reading a whole answer.

use serde_json::Value;

use super::stream;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::stream::{Building, check_count};

/// Reads the first candidate of an answer.
///
/// Calls without ids, which is the rule here, get ids of their own; signatures of thoughts are kept, since the
/// provider wants them back unchanged.
/// Errors: [`crate::FailureKind::Unreadable`] without a candidate, unless the request was blocked; the
/// provider's own error if the body is one.
pub fn decode(body: &Value) -> Result<Reply, Failure> {
    if let Some(failure) = Failure::within(body) {
        return Err(failure);
    }
    if body.pointer("/candidates/0").is_none() && stream::blocked(body).is_none() {
        return Err(Failure::unreadable("the response has no candidate"));
    }
    let mut building = Building::default();
    stream::read(body, &mut building);
    check_count(building.call_count())?;
    Ok(building.into_reply())
}
