use std::sync::Arc;

use serde_json::Value;

use crate::agent::StoredAttachment;
use crate::content::Content;
use crate::message::Role;
use crate::persist::{Persist as _, Reader, UnknownKeys, data_type};
use crate::session::NodeId;
use crate::text::Text;

data_type! {
    /// A stored message of a conversation.
    pub struct Node {
        /// Message id, unique in the session.
        id: Option<NodeId> => "id",
        /// Id of the parent message. Missing for the root.
        parent_id: Option<NodeId> => "parentId",
        /// Ids of the child messages, oldest branch first.
        children_ids: Vec<NodeId> => "childrenIds",
        /// Id of the last selected child, which selects the branch to show.
        last_selected_child_id: Option<NodeId> => "lastSelectedChildId",
        /// Message content.
        content: Option<Content> => "content",
        /// Name of the speaker.
        name: Option<Arc<str>> => "name",
        /// Message role. Default: `user`.
        role: Option<Role> => "role",
        /// Files sent with the message.
        attachments: Vec<StoredAttachment> => "attachments",
        /// Progress of the message: `generating`, `complete`, or `error`.
        status: Option<Arc<str>> => "status" [such_as ["generating", "complete", "error"]],
        /// Whether the message is enabled. Default: `true`.
        is_enabled: Option<bool> => "isEnabled",
        /// Whether to send the message to the model. `false` shows it only to the user. Default: `true`.
        include_in_context: Option<bool> => "includeInContext",
        /// Time of writing.
        timestamp: Option<Arc<str>> => "timestamp",
        /// Tool calls of an assistant message, in ctx's format.
        tool_calls: Vec<StoredToolCall> => "toolCalls",
        /// Id of the tool call that a tool message answers, in ctx's format.
        tool_call_id: Option<Arc<str>> => "toolCallId",
        /// Other data that applications store with a message.
        metadata: Option<Box<NodeMetadata>> => "metadata",
    }
}

impl Node {
    /// Creates a complete message without id and links.
    ///
    /// ```
    /// use ctx_types::Role;
    /// use ctx_types::session::Node;
    ///
    /// let node = Node::new(Role::User, "hello").with_id("n1");
    /// assert_eq!(serde_json::json!(node)["content"], "hello");
    /// ```
    pub fn new(role: Role, text: impl Into<Text>) -> Self {
        Self {
            content: Some(Content::Text(text.into())),
            role: Some(role),
            status: Some(Arc::from("complete")),
            ..Self::default()
        }
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<NodeId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Returns whether the message is enabled and in the context; a summary may still hide it. The report of a failed
    /// turn never is.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled.unwrap_or(true) && self.include_in_context.unwrap_or(true) && !self.is_error()
    }

    /// Returns whether the message reports a failed turn: its `partType` is `error`. It is shown, and never sent.
    pub fn is_error(&self) -> bool {
        let is_error = |kept: &UnknownKeys| kept.get("partType").is_some_and(|part| part == "error");
        is_error(&self.kept) || self.metadata.as_ref().is_some_and(|metadata| is_error(&metadata.kept))
    }

    /// Messages of `SillyTavern` chats have `is_user`.
    pub(crate) fn is_of_silly_tavern(&self) -> bool {
        self.kept.get("is_user").is_some_and(Value::is_boolean)
    }

    /// Returns whether the file has `"pinned": true`.
    pub fn is_pinned(&self) -> bool {
        self.kept.get("pinned") == Some(&Value::Bool(true))
    }

    /// Returns whether the message is a summary.
    pub fn is_summary(&self) -> bool {
        self.metadata.as_ref().is_some_and(|metadata| metadata.is_compression_node == Some(true))
    }

    /// Returns the messages that a summary lists.
    pub fn summarized_ids(&self) -> &[NodeId] {
        match &self.metadata {
            Some(metadata) if self.is_summary() => &metadata.compressed_node_ids,
            _ => &[],
        }
    }

    /// Returns the last selected child, or the newest.
    pub(crate) fn selected_child_id(&self) -> Option<&NodeId> {
        self.last_selected_child_id.as_ref().or(self.children_ids.last())
    }

    /// Returns whether the file has a value other than an object.
    pub fn is_malformed(&self) -> bool {
        self.kept.is_malformed()
    }

    /// Writes and reads the fields again, so that later changes are written as after a reload. Keeps shared texts.
    pub(super) fn refresh_placeholders(&mut self) {
        let Self { id, parent_id, children_ids, last_selected_child_id, content, .. } = self.clone();
        let read = Self::read(self.write(), &mut Reader::new());
        *self = Self { id, parent_id, children_ids, last_selected_child_id, content, ..read };
    }

    /// Puts id, parent, and children first, as applications do, and removes old link placeholders.
    pub(super) fn begin_links(&mut self) {
        let Some(map) = self.kept.map_mut() else { return };
        let rest = std::mem::take(map);
        map.insert("id".to_owned(), Value::from(""));
        map.insert("parentId".to_owned(), Value::from(""));
        map.insert("childrenIds".to_owned(), Value::Array(Vec::new()));
        let is_link = |key: &String| map.contains_key(key) || key == "lastSelectedChildId";
        let rest: Vec<_> = rest.into_iter().filter(|(key, _)| !is_link(key)).collect();
        map.extend(rest);
    }
}

data_type! {
    /// Data that applications store with a message.
    pub struct NodeMetadata {
        /// Whether the message is an unfinished reply for the model to continue.
        is_continuation_prefix: Option<bool> => "isContinuationPrefix",
        /// Whether the message is a greeting of the agent.
        is_greeting: Option<bool> => "isGreeting",
        /// Whether the greeting still follows changes of the agent, until a message answers it.
        greeting_live: Option<bool> => "greetingLive",
        /// Whether the message is a summary of other messages.
        is_compression_node: Option<bool> => "isCompressionNode",
        /// Ids of the messages that the summary replaces.
        compressed_node_ids: Vec<NodeId> => "compressedNodeIds",
        /// Visible reasoning of an assistant message.
        reasoning_content: Option<Text> => "reasoningContent",
        /// Reasoning state of the provider, sent back unchanged.
        reasoning_artifacts: Vec<Arc<Value>> => "reasoningArtifacts",
        /// Tool call that a tool message answers, in AIO Hub's format: `{requestId, toolName, …}`.
        tool_call: Option<Value> => "toolCall",
        /// Tool calls of an assistant message, in AIO Hub's format: `[{requestId, toolName, args, …}]`.
        tool_calls_requested: Option<Value> => "toolCallsRequested",
    }
}

data_type! {
    /// A stored tool call.
    pub struct StoredToolCall {
        /// Call id, which pairs the call with its result.
        id: Option<Arc<str>> => "id",
        /// Tool name.
        name: Option<Arc<str>> => "name",
        /// Arguments as the model's exact JSON text.
        arguments: Option<Text> => "arguments",
    }
}
