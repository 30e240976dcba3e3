//! Lists agents as models.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, Response};
use ctx_types::internal::excerpt;
use ctx_types::phrase;
use ctx_wire::Dialect;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::api_error::ApiError;
use crate::gateway::Server;
use crate::keys::KeyEntry;
use crate::routes::{App, handle_read};

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
    server: &Server,
    key: &KeyEntry,
    write: impl Fn(&str, ModelSize) -> Value,
) -> Result<Vec<Value>, ApiError> {
    let _usage = server.meters.start_turn(key)?;
    let names: Vec<String> = allowed_models(server, key).into_iter().collect();
    let mut sizes = Vec::new();
    for some in names[..names.len().min(MAX_WINDOWS)].chunks(MAX_LOOKUPS) {
        sizes.extend(join_all(some.iter().map(|name| model_size(server, name))).await);
    }
    sizes.resize(names.len(), ModelSize::default());
    Ok(names.iter().zip(sizes).map(|(name, size)| write(name, size)).collect())
}

/// Returns the sizes of the model of an agent that a key may use.
async fn find_model(server: &Server, key: &KeyEntry, name: &str) -> Result<ModelSize, ApiError> {
    let _usage = server.meters.start_turn(key)?;
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

pub(crate) async fn models(
    State(server): App,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    let from = (&headers, query.as_deref());
    handle_read(&server, from, Dialect::OpenaiChat, |key| {
        let server = server.clone();
        async move {
            let data = list_models(&server, &key, openai_model).await?;
            let (first, last) = (data.first().map(|m| m["id"].clone()), data.last().map(|m| m["id"].clone()));
            Ok(json!({ "object": "list", "has_more": false, "first_id": first, "last_id": last, "data": data }))
        }
    })
    .await
}

pub(crate) async fn model(
    State(server): App,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    handle_read(&server, (&headers, query.as_deref()), Dialect::OpenaiChat, |key| {
        let server = server.clone();
        async move { Ok(openai_model(&name, find_model(&server, &key, &name).await?)) }
    })
    .await
}

/// Returns an error for an unknown agent or one that the key may not use.
fn check_model(server: &Server, key: &KeyEntry, name: &str) -> Result<(), ApiError> {
    let agent = server.agents.agent_of(name).filter(|agent| key.check_agent(agent).is_ok());
    let unknown = || ApiError::not_found(phrase!("no model `{name}`", name = excerpt(name)));
    agent.map(drop).ok_or_else(unknown)
}

pub(crate) async fn gemini_models(
    State(server): App,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    handle_read(&server, (&headers, query.as_deref()), Dialect::Gemini, |key| {
        let server = server.clone();
        async move {
            let models = list_models(&server, &key, gemini_model_entry).await?;
            Ok(json!({ "models": models }))
        }
    })
    .await
}

pub(crate) async fn gemini_model(
    State(server): App,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response<Body> {
    handle_read(&server, (&headers, query.as_deref()), Dialect::Gemini, |key| {
        let server = server.clone();
        async move { Ok(gemini_model_entry(&name, find_model(&server, &key, &name).await?)) }
    })
    .await
}
