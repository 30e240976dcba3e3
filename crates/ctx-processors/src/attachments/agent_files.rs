use std::borrow::Cow;
use std::sync::Arc;

use ctx_types::{Agent, Attachment};
use serde_json::Value;

/// Completes an id-only reference with data from the agent's `assets`.
pub(crate) fn with_agent_data<'a>(file: &'a Attachment, agent: &Agent) -> Cow<'a, Attachment> {
    let list = agent.assets.as_ref().and_then(Value::as_array);
    let is_wanted = |asset: &&Value| asset.get("id").and_then(Value::as_str) == Some(&*file.id);
    let is_complete = file.path.is_some() || file.loaded.is_some() || file.id.is_empty();
    let Some(asset) = list.filter(|_| !is_complete).and_then(|list| list.iter().find(is_wanted)) else {
        return Cow::Borrowed(file);
    };
    let text = |key: &str| asset.get(key).and_then(Value::as_str).map(Arc::<str>::from);
    let path = text("path").or_else(|| text("filename"));
    let name = if file.name.is_empty() { text("filename").or_else(|| path.clone()) } else { None };
    let mut completed = file.clone();
    completed.name = name.unwrap_or_else(|| file.name.clone());
    completed.mime_type = file.mime_type.clone().or_else(|| text("mimeType"));
    completed.path = path;
    Cow::Owned(completed)
}
