//! Parameters and tools of a client, for the provider.

use ctx_chat::{RequestShape, sampling};
use ctx_project::OnLoss;
use ctx_project::chat::ChatSetup;
use ctx_types::session::Node;
use ctx_types::{Diagnostic, Message, Severity, phrase};
use ctx_wire::{Dialect, Options, Request, codes};
use serde_json::Value;

use crate::api_error::ApiError;
use crate::dialect::{ClientRequest, Target, map_request};

/// Diagnostics about messages that lose something that the model would read.
const LOSSES: [ctx_types::Code; 6] = [
    codes::ATTACHMENT_NOT_SENT,
    codes::BLOCK_FIELDS,
    codes::CALLS_NOT_SENT,
    codes::NAME_NOT_SENT,
    codes::PARAMETER_NOT_SENT,
    codes::PART_NOT_ACCEPTED,
];

/// Converts the parameters and tools of a client for a provider with another API dialect. Requests of the same dialect
/// are unchanged.
///
/// # Errors
///
/// The provider's API has no counterpart for a part of the request, and `on_loss` does not drop it.
pub(crate) fn convert(
    body: &mut ClientRequest,
    client: Dialect,
    setup: &ChatSetup,
    on_loss: OnLoss,
) -> Result<(), ApiError> {
    let provider = setup.endpoint().dialect;
    if client == provider {
        return Ok(());
    }
    let turn = setup.request("").turn;
    let rules = setup.agent.model(&turn).0.request;
    let model = setup.agent.model_name(&turn).unwrap_or_default();
    let parameters = setup.agent.agent().parameters.as_ref().map(sampling).unwrap_or_default();
    let max_tokens = parameters.get("max_tokens").and_then(Value::as_u64);
    let target = Target { dialect: provider, model, rules, max_tokens };
    let lost = map_request(body, client, target);
    body.messages.iter_mut().for_each(forget_form);
    if on_loss == OnLoss::Drop {
        body.lost = lost.into_iter().map(|loss| loss.field).collect();
        return Ok(());
    }
    match lost.into_iter().next() {
        Some(loss) => Err(loss.into_api_error()),
        None => check_messages(body, target),
    }
}

/// Removes notes on the form of a message in the client's API, which keep the message apart from others.
fn forget_form(node: &mut Node) {
    let fields = node.kept.get_mut("providerFields").and_then(Value::as_object_mut);
    let Some(fields) = fields else { return };
    fields.retain(|_, fields| fields.is_object());
    if fields.is_empty() {
        node.kept.remove("providerFields");
    }
}

/// Rejects messages and parameters that would lose something.
fn check_messages(
    body: &ClientRequest,
    Target { dialect, model, rules, .. }: Target<'_>,
) -> Result<(), ApiError> {
    let messages: Vec<Message> =
        body.messages.iter().map(|node| node.to_message(&"request".into())).collect();
    let request = Request { model, tools: &[], parameters: &body.parameters };
    let encoded = dialect.encode_with(&messages, &request, &Options { rules, ..Options::default() });
    // In commands, the name of a speaker is an info.
    let is_lost = |found: &&Diagnostic| {
        let is_severe = found.severity != Severity::Info || found.code == codes::NAME_NOT_SENT;
        is_severe && LOSSES.contains(&found.code)
    };
    match encoded.diagnostics.iter().find(is_lost) {
        Some(found) => Err(ApiError::malformed(phrase!(
            "a message cannot be sent to the provider: {problem}; `on-loss = \"drop\"` in `ctx.toml` drops it",
            problem = &found.message
        ))),
        None => Ok(()),
    }
}

/// Adds the client's parameters to the agent's, and overrides them. Returns the dropped fields of the client.
pub(crate) fn fill(
    shape: &mut RequestShape,
    body: &mut ClientRequest,
    client: Dialect,
    provider: Dialect,
) -> Vec<String> {
    shape.streams = body.streams;
    shape.tools = std::mem::take(&mut body.tools);
    let parameters = std::mem::take(&mut body.parameters);
    if client == provider {
        shape.client_fields = Some(parameters.keys().cloned().collect());
    }
    if ["max_tokens", "max_completion_tokens"].iter().any(|key| parameters.contains_key(*key)) {
        shape.parameters.shift_remove("max_tokens");
    }
    shape.parameters.extend(parameters);
    std::mem::take(&mut body.lost)
}
