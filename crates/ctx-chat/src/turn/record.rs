//! Messages of a turn as the store has them.

use std::sync::Arc;
use std::time::Duration;

use ctx_types::internal::BlockOrder;
use ctx_types::session::{Node, NodeMetadata, StoredToolCall};
use ctx_types::{Role, Text, ToolCall};
use ctx_wire::Reply;
use serde_json::{Value, json};

/// Metadata key of the run.
const RUN: &str = "runId";

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
        self.named().for_each(|(key, value)| metadata.kept.set(key, Value::from(value)));
        metadata
    }

    fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let tags = [("mode", &self.mode), (RUN, &self.run_id), ("agentId", &self.agent_id)];
        tags.into_iter().filter_map(|(key, value)| Some((key, value.as_deref()?)))
    }

    /// Adds the tags and the time to a message of a client.
    pub fn stamp(&self, node: &mut Node, at_millis: i64) {
        node.timestamp = jiff::Timestamp::from_millisecond(at_millis).ok().map(|at| at.to_string().into());
        for (key, value) in self.named() {
            node.metadata.get_or_insert_default().kept.set(key, Value::from(value));
        }
    }

    /// Returns whether a message belongs to this run. Without both runs, returns whether it was stored at most `millis`
    /// before a time.
    pub fn is_repeat(&self, node: &Node, at_millis: i64, millis: i64) -> bool {
        let run = node.metadata.as_ref().and_then(|metadata| metadata.kept.get(RUN)?.as_str());
        let stored = node.timestamp.as_ref().and_then(|at| at.parse::<jiff::Timestamp>().ok());
        match (run, self.run_id.as_deref()) {
            (Some(run), Some(own)) => run == own,
            _ => stored.is_some_and(|stored| (0..=millis).contains(&(at_millis - stored.as_millisecond()))),
        }
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

    /// The report of a failed turn: the partial reply and the error. It is shown, and never sent.
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
