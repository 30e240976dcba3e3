//! Nodes: the messages of a conversation as they are stored.

use std::sync::Arc;

use serde_json::Value;

use crate::agent::StoredAttachment;
use crate::message::{Content, Role};
use crate::persist::noun;
use crate::text::Text;

noun! {
    /// A message of a conversation, as it is stored.
    pub struct Node {
        /// The id, unique within the session.
        id: Option<Arc<str>> => "id",
        /// The node above; none for the root.
        parent_id: Option<Arc<str>> => "parentId",
        /// The nodes below, oldest branch first.
        children_ids: Vec<Arc<str>> => "childrenIds",
        /// The branch that was last shown.
        last_selected_child_id: Option<Arc<str>> => "lastSelectedChildId",
        /// What is said.
        content: Option<Content> => "content",
        /// The name of the speaker.
        name: Option<Arc<str>> => "name",
        /// Who speaks; `user` where the file says nothing.
        role: Option<Role> => "role",
        /// Files that travel with the message.
        attachments: Vec<StoredAttachment> => "attachments",
        /// `generating`, `complete` or `error`.
        status: Option<Arc<str>> => "status",
        /// Whether the message is sent; absent means yes.
        is_enabled: Option<bool> => "isEnabled",
        /// When it was written, as the file has it.
        timestamp: Option<Arc<str>> => "timestamp",
        /// The calls that an assistant message makes, in our own form.
        tool_calls: Vec<StoredToolCall> => "toolCalls",
        /// The call that a tool message answers, in our own form.
        tool_call_id: Option<Arc<str>> => "toolCallId",
        /// Everything else that applications note beside a message.
        metadata: Option<NodeMetadata> => "metadata",
    }
}

noun! {
    /// What applications note beside a message.
    pub struct NodeMetadata {
        /// Whether the message is an unfinished answer that the model is asked to continue.
        is_continuation_prefix: Option<bool> => "isContinuationPrefix",
        /// Whether the message is a greeting of the agent.
        is_greeting: Option<bool> => "isGreeting",
        /// Whether the greeting still changes with the agent, because nobody has answered it.
        greeting_live: Option<bool> => "greetingLive",
        /// Whether the message is a summary that stands for others.
        is_compression_node: Option<bool> => "isCompressionNode",
        /// The messages that a summary stands for.
        compressed_node_ids: Vec<Arc<str>> => "compressedNodeIds",
        /// The visible reasoning of an assistant message.
        reasoning_content: Option<Text> => "reasoningContent",
        /// Provider state of the reasoning, to be replayed unchanged.
        reasoning_artifacts: Option<Value> => "reasoningArtifacts",
        /// The call that a tool message answers, in AIO Hub's form: `{requestId, toolName, …}`.
        tool_call: Option<Value> => "toolCall",
        /// The calls that an assistant message makes, in AIO Hub's form: `[{requestId, toolName, args, …}]`.
        tool_calls_requested: Option<Value> => "toolCallsRequested",
    }
}

noun! {
    /// A tool call, as it is stored.
    pub struct StoredToolCall {
        /// The id that pairs the call with its result.
        id: Option<Arc<str>> => "id",
        /// The name of the tool.
        name: Option<Arc<str>> => "name",
        /// The arguments as the JSON text that the model wrote, byte for byte.
        arguments: Option<Text> => "arguments",
    }
}
