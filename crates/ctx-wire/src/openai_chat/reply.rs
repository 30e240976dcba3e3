//! Reading a whole chat completion.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::openai_chat::stream;
use crate::reply::Reply;
use crate::stream::{check_count, push_call, reasoning};

/// Reads the first choice of a chat completion.
///
/// Errors: [`crate::FailureKind::Unreadable`] without a choice that has a message; the provider's own error if
/// the body is one.
pub fn decode(body: &Value) -> Result<Reply, Failure> {
    if let Some(failure) = Failure::within(body) {
        return Err(failure);
    }
    let choice = body.pointer("/choices/0");
    let message = choice.and_then(|choice| choice.get("message")).filter(|message| message.is_object());
    let (Some(choice), Some(message)) = (choice, message) else {
        return Err(Failure::unreadable("the response has no choice with a message"));
    };
    let text = |key: &str| message.get(key).and_then(Value::as_str);
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let mut reply = Reply {
        id: stream::text_of(body, "id"),
        model: stream::text_of(body, "model"),
        text: stream::content_text(message).into(),
        reasoning: reasoning(
            text("reasoning_content").or_else(|| text("reasoning")).unwrap_or_default(),
            state(message, calls),
        ),
        usage: stream::usage(body),
        ..Reply::default()
    };
    check_count(calls.map_or(0, Vec::len))?;
    for call in calls.into_iter().flatten() {
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
        push_call(&mut reply, id, name, stream::arguments(call).unwrap_or_default());
    }
    reply.repair_ids();
    reply.finish = stream::finish(choice, !reply.tool_calls.is_empty()).unwrap_or_default();
    Ok(reply)
}

/// Returns the state that the provider wants back: `extra_content` of the message and its calls, and
/// `reasoning_details`.
fn state(message: &Value, calls: Option<&Vec<Value>>) -> Vec<Arc<Value>> {
    let extra = |value: &Value| value.get("extra_content").filter(|extra| extra.is_object()).cloned();
    let calls = calls.into_iter().flatten().enumerate();
    let of_calls =
        calls.filter_map(|(call, value)| Some(json!({ "call": call, "extra_content": extra(value)? })));
    let of_message = extra(message).map(|extra| json!({ "extra_content": extra }));
    let details = message.get("reasoning_details").filter(|details| details.is_array());
    let details = details.map(|details| json!({ "type": "reasoning_details", "details": details }));
    of_calls.chain(of_message).chain(details).map(Arc::new).collect()
}
