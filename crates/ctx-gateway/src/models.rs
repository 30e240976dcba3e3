//! Lists agents as models.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::extract::Path;
use axum::http::Response;
use ctx_types::internal::excerpt;
use ctx_types::phrase;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::authorized_request::AuthorizedRequest;
use crate::gateway::Server;
use crate::keys::KeyEntry;

/// Maximum number of listed agents whose context window is looked up.
const MAX_WINDOWS: usize = 200;

/// Maximum number of context windows that are looked up at the same time.
const MAX_LOOKUPS: usize = 16;

/// Returns the names and aliases of the agents that a key may use, in order.
fn allowed_models(server: &Server, key: &KeyEntry) -> BTreeSet<String> {
    let names = server.agents.names().into_iter().chain(server.agents.aliases());
    names.filter(|name| check_model(server, key, name).is_ok()).collect()
}

/// Sizes of a model in tokens, if they are known.
#[derive(Clone, Copy, Default)]
struct ModelSize {
    window: Option<u32>,
    max_output: Option<u32>,
}

/// Returns the sizes of an agent's model. They are not looked up for a model that the client selects.
async fn model_size(server: &Server, name: &str) -> ModelSize {
    if name.contains('@') {
        return ModelSize::default();
    }
    let Ok(agent) = server.agents.get(name).await else { return ModelSize::default() };
    let facts = agent.setup.agent.model(&agent.setup.request("").turn).0;
    ModelSize { window: agent.setup.context_window().map(|(tokens, _)| tokens), max_output: facts.max_output }
}

/// Writes the agents that a key may use.
async fn list_models(
    AuthorizedRequest { server, key, .. }: &AuthorizedRequest,
    write: impl Fn(&str, ModelSize) -> Value,
) -> Vec<Value> {
    let names: Vec<String> = allowed_models(server, key).into_iter().collect();
    let mut sizes = Vec::new();
    for some in names[..names.len().min(MAX_WINDOWS)].chunks(MAX_LOOKUPS) {
        sizes.extend(join_all(some.iter().map(|name| model_size(server, name))).await);
    }
    sizes.resize(names.len(), ModelSize::default());
    names.iter().zip(sizes).map(|(name, size)| write(name, size)).collect()
}

/// Returns the sizes of the model of an agent that a key may use.
async fn find_model(
    AuthorizedRequest { server, key, .. }: &AuthorizedRequest,
    name: &str,
) -> Result<ModelSize, ApiError> {
    check_model(server, key, name)?;
    Ok(model_size(server, name).await)
}

/// Writes a model for clients of OpenAI and Anthropic.
fn openai_model(name: &str, size: ModelSize) -> Value {
    let mut model = json!({
        "id": name, "object": "model", "created": 0, "owned_by": "ctx",
        "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z",
    });
    let sizes =
        [("context_window", size.window), ("max_input_tokens", size.window), ("max_tokens", size.max_output)];
    put_sizes(&mut model, &sizes);
    model
}

fn gemini_model_entry(name: &str, size: ModelSize) -> Value {
    let methods = ["generateContent", "streamGenerateContent", "countTokens"];
    let mut model = json!({
        "name": format!("models/{name}"), "displayName": name, "supportedGenerationMethods": methods,
    });
    put_sizes(&mut model, &[("inputTokenLimit", size.window), ("outputTokenLimit", size.max_output)]);
    model
}

fn put_sizes(model: &mut Value, sizes: &[(&str, Option<u32>)]) {
    for (key, tokens) in sizes {
        if let Some(tokens) = tokens {
            model[*key] = (*tokens).into();
        }
    }
}

pub(crate) async fn models(request: AuthorizedRequest) -> Response<Body> {
    let data = list_models(&request, openai_model).await;
    let (first, last) = (data.first().map(|m| m["id"].clone()), data.last().map(|m| m["id"].clone()));
    let list =
        json!({ "object": "list", "has_more": false, "first_id": first, "last_id": last, "data": data });
    request.respond(Ok(list))
}

pub(crate) async fn model(request: AuthorizedRequest, Path(name): Path<String>) -> Response<Body> {
    request.respond(find_model(&request, &name).await.map(|size| openai_model(&name, size)))
}

/// Returns an error for an unknown agent or one that the key may not use.
fn check_model(server: &Server, key: &KeyEntry, name: &str) -> Result<(), ApiError> {
    let agent = server.agents.agent_of(name).filter(|agent| key.check_agent(agent).is_ok());
    let unknown = || ApiError::not_found(phrase!("no model `{name}`", name = excerpt(name)));
    agent.map(drop).ok_or_else(unknown)
}

pub(crate) async fn gemini_models(request: AuthorizedRequest) -> Response<Body> {
    let models = list_models(&request, gemini_model_entry).await;
    request.respond(Ok(json!({ "models": models })))
}

pub(crate) async fn gemini_model(request: AuthorizedRequest, Path(name): Path<String>) -> Response<Body> {
    request.respond(find_model(&request, &name).await.map(|size| gemini_model_entry(&name, size)))
}
