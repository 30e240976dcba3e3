//! Context windows that servers report: in their lists of models, or in the `/props` of llama.cpp.

use std::time::Duration;

use ctx_wire::Dialect;
use reqwest::Url;
use serde_json::Value;
use tokio::time::timeout;

use crate::client::{Client, Endpoint};

/// Time limit for reading a context window.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum size of a response, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Largest plausible window.
const MAX_WINDOW: u64 = 1_000_000_000;

/// Fields of a model that contain its context window, in order of precedence.
const WINDOW_FIELDS: [&str; 8] = [
    "/max_model_len",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/max_input_tokens",
    "/inputTokenLimit",
    "/meta/n_ctx",
    "/meta/n_ctx_train",
];

impl Client {
    /// Asks the server for the context window of a model, for at most 2 s. Returns `None` if the server reports none.
    pub async fn context_window(&self, model: &str) -> Option<u32> {
        timeout(PATIENCE, self.reported_window(model)).await.ok().flatten()
    }

    async fn reported_window(&self, model: &str) -> Option<u32> {
        let base = &self.endpoint;
        let listed = match base.dialect {
            Dialect::Anthropic | Dialect::Gemini => {
                let mut url = base.address("models").ok()?;
                url.path_segments_mut().ok()?.push(model.strip_prefix("models/").unwrap_or(model));
                return window_of(&self.get(url).await?);
            }
            _ => self.get(base.address("models").ok()?).await,
        };
        let entry = listed.as_ref().and_then(|list| entry_of(list, model));
        let window = entry.and_then(window_of);
        // The list of llama.cpp has the window of the training, not that of the running server.
        let is_llama = entry.is_some_and(|entry| entry.get("meta").is_some());
        let is_provider = base.base_url == Endpoint::default_base_url(base.dialect);
        if is_provider || (window.is_some() && !is_llama) {
            return window;
        }
        let mut url = self.url.clone();
        url.set_path("/props");
        let props = self.get(url).await;
        let running = props.and_then(|props| number(props.pointer("/default_generation_settings/n_ctx")?));
        running.or(window)
    }

    async fn get(&self, url: Url) -> Option<Value> {
        let mut response = self.http.get(url).send().await.ok()?.error_for_status().ok()?;
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.ok()? {
            body.extend_from_slice(&bytes);
            if body.len() > MAX_BYTES {
                return None;
            }
        }
        serde_json::from_slice(&body).ok()
    }
}

/// Returns the entry of a model. A server with a single model may list it under another name.
fn entry_of<'a>(list: &'a Value, model: &str) -> Option<&'a Value> {
    let entries = list.get("data")?.as_array()?;
    let named = entries.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(model));
    named.or_else(|| entries.first().filter(|_| entries.len() == 1))
}

fn window_of(entry: &Value) -> Option<u32> {
    WINDOW_FIELDS.iter().find_map(|field| number(entry.pointer(field)?))
}

fn number(value: &Value) -> Option<u32> {
    let tokens = value.as_u64().filter(|tokens| (1..=MAX_WINDOW).contains(tokens))?;
    u32::try_from(tokens).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(entry: &Value, expected: Option<u32>) {
        assert_eq!(window_of(entry), expected, "{entry}");
    }

    #[test]
    fn reads_window_of_each_server() {
        check(&json!({ "id": "m", "max_model_len": 32_768 }), Some(32_768));
        check(&json!({ "id": "m", "context_length": 8_192, "meta": { "n_ctx_train": 1 } }), Some(8_192));
        check(&json!({ "meta": { "n_ctx_train": 131_072 } }), Some(131_072));
        check(&json!({ "name": "models/m", "inputTokenLimit": 1_048_576 }), Some(1_048_576));
        check(&json!({ "id": "m", "max_model_len": 0 }), None);
        check(&json!({ "id": "m", "max_model_len": "many" }), None);
    }

    #[test]
    fn finds_model_in_list() {
        let list = json!({ "data": [{ "id": "a" }, { "id": "b" }] });
        assert_eq!(entry_of(&list, "b"), Some(&json!({ "id": "b" })));
        assert_eq!(entry_of(&list, "c"), None);
        let single = json!({ "data": [{ "id": "/models/a.gguf" }] });
        assert_eq!(entry_of(&single, "a"), Some(&json!({ "id": "/models/a.gguf" })));
        assert_eq!(entry_of(&json!([]), "a"), None);
    }
}
