//! Messages of a turn as the store has them.

use std::sync::Arc;
use std::time::Duration;

use ctx_types::internal::BlockOrder;
use ctx_types::session::{Node, NodeMetadata, StoredToolCall};
use ctx_types::{Role, Text, ToolCall};
use ctx_wire::Reply;
use serde_json::{Value, json};

/// What is noted beside each message of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageTags {
    /// The mode in which it was said, such as `chat`, `agent` or `run`.
    pub mode: Option<Arc<str>>,
    /// The run that it belongs to.
    pub run_id: Option<Arc<str>>,
    /// The agent.
    pub agent_id: Option<Arc<str>>,
}

impl MessageTags {
    fn metadata(&self) -> NodeMetadata {
        let mut metadata = NodeMetadata::default();
        let tags = [("mode", &self.mode), ("runId", &self.run_id), ("agentId", &self.agent_id)];
        for (key, value) in tags.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?))) {
            metadata.kept.set(key, Value::from(&**value));
        }
        metadata
    }

    /// The user's message; what was typed is kept beside it where that differs.
    pub(super) fn user(&self, text: &Text, raw: Option<&Text>) -> Node {
        let mut metadata = self.metadata();
        if let Some(raw) = raw.filter(|raw| *raw != text) {
            metadata.kept.set(ctx_engine::PreparedInput::RAW_KEY, Value::from(raw.as_str()));
        }
        with(Node::new(Role::User, text.clone()), metadata)
    }

    /// An answer, with its calls.
    pub(super) fn reply(&self, reply: &Reply) -> Node {
        let mut metadata = self.metadata();
        if let Some(reasoning) = &reply.reasoning {
            metadata.reasoning_content.clone_from(&reasoning.text);
            metadata.reasoning_artifacts.clone_from(&reasoning.artifacts);
        }
        if let Some(order) = &reply.block_order {
            metadata.kept.set(BlockOrder::KEY, order.to_value());
        }
        metadata.kept.set("finishReason", Value::from(reply.finish.as_str()));
        if let Some(model) = &reply.model {
            metadata.kept.set("modelId", Value::from(model.as_str()));
        }
        if let Some(usage) = reply.usage {
            let total = usage.input.saturating_add(usage.output);
            let usage = json!({ "promptTokens": usage.input, "completionTokens": usage.output,
                "totalTokens": total, "cachedTokens": usage.cached });
            metadata.kept.set("usage", usage);
        }
        let mut node = with(Node::new(Role::Assistant, ""), metadata);
        node.content = Some(reply.content());
        node.tool_calls = reply.tool_calls.iter().map(stored).collect();
        node
    }

    /// What there is of an answer that was stopped.
    pub(super) fn aborted(&self, text: &Text) -> Node {
        let mut metadata = self.metadata();
        metadata.kept.set("finishReason", Value::from("aborted"));
        with(Node::new(Role::Assistant, text.clone()), metadata)
    }

    /// The result of a call.
    pub(super) fn result(&self, call: &ToolCall, text: &str, is_error: bool, took: Duration) -> Node {
        let mut metadata = self.metadata();
        metadata.kept.set("partType", Value::from("tool_result"));
        metadata.kept.set("toolName", Value::from(&*call.name));
        metadata.kept.set("duration", Value::from(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)));
        if is_error {
            metadata.kept.set("isError", Value::Bool(true));
        }
        let mut node = with(Node::new(Role::Tool, text), metadata);
        node.tool_call_id = Some(call.id.clone());
        node
    }

    /// What came of a turn that failed: what there is of an answer, and why there is no more.
    pub(super) fn error(&self, partial: &str, code: &str, message: &str) -> Node {
        let mut metadata = self.metadata();
        metadata.kept.set("partType", Value::from("error"));
        metadata.kept.set("errorCode", Value::from(code));
        let gap = if partial.trim().is_empty() { "" } else { "\n\n" };
        let text = format!("{}{gap}LLM_ERROR\n- Code: {code}\n- Message: {message}", partial.trim_end());
        let mut node = with(Node::new(Role::Assistant, text), metadata);
        node.status = Some("error".into());
        node
    }
}

fn with(mut node: Node, metadata: NodeMetadata) -> Node {
    let is_set = metadata != NodeMetadata::default();
    node.metadata = is_set.then(|| Box::new(metadata));
    node
}

pub(super) fn stored(call: &ToolCall) -> StoredToolCall {
    StoredToolCall {
        id: Some(call.id.clone()),
        name: Some(call.name.clone()),
        arguments: Some(call.arguments.clone()),
        ..StoredToolCall::default()
    }
}
