//! Responses of named conversations.

use ctx_types::internal::excerpt;
use ctx_types::phrase;
use ctx_wire::{Dialect, Finish, ReplyUsage};
use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::conversation_cache::read;
use crate::dialect::{self, ClientResponse, ResponseLabel};
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::request_options::stored_id;

/// Returns a response in the format of the Responses API.
pub(crate) async fn stored_response(server: &Server, key: &KeyEntry, id: &str) -> Result<Value, ApiError> {
    let unknown = || {
        ApiError::not_found(phrase!(
            "no response `{id}`; the gateway keeps only the latest ids since it started",
            id = excerpt(id)
        ))
    };
    let stored = server.responses.get(&(key.name.clone(), id.to_owned())).ok_or_else(unknown)?;
    let conversation = read(&server.store, &stored_id(&key.name, &stored.conversation)).await?;
    let node = conversation.session().node(&stored.node).ok_or_else(unknown)?;
    let message = node.to_message(&stored.node);
    let metadata = |name: &str| node.metadata.as_ref().and_then(|metadata| metadata.kept.get(name));
    let text = |name: &str| metadata(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let tokens = |name: &str| metadata("usage").and_then(|usage| usage.get(name)?.as_u64());
    let finish = text("finishReason");
    let finishes = [Finish::Length, Finish::Refused];
    let client_response = ClientResponse {
        provider_json: None,
        text: node.content.as_ref().map(|content| content.text().into_owned()).unwrap_or_default(),
        reasoning: message.reasoning.clone(),
        calls: message.tool_calls.clone(),
        finish: finishes.into_iter().find(|known| known.as_str() == finish).unwrap_or_default(),
        usage: ReplyUsage {
            input: tokens("promptTokens").unwrap_or(0),
            cached: tokens("cachedTokens"),
            output: tokens("completionTokens").unwrap_or(0),
        },
    };
    let own_id = id.strip_prefix("resp_").unwrap_or(id).to_owned();
    let label = ResponseLabel { id: own_id, model: text("modelId"), created: 0 };
    let mut response = dialect::write(Dialect::OpenaiResponses, &label, &client_response);
    response["id"] = id.into();
    if node.is_error() {
        // A client that sends the output back does not send the error.
        let report = client_response.text.rsplit_once("- Message: ").map_or("", |(_, message)| message);
        response["error"] = json!({ "code": text("errorCode"), "message": report });
        (response["status"], response["output"]) = ("failed".into(), json!([]));
    } else if finish == "aborted" {
        response["status"] = "cancelled".into();
    }
    Ok(response)
}
