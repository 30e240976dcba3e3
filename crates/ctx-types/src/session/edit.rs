use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::agent::StoredAttachment;
use crate::content::Content;
use crate::message::Role;
use crate::session::{Node, NodeMetadata, StoredToolCall};

/// A change of a node's fields. Missing fields stay unchanged.
///
/// ```
/// use ctx_types::Content;
/// use ctx_types::session::{Change, NodeEdit};
///
/// let edit = NodeEdit { content: Change::Set(Content::Text("hello".into())), ..NodeEdit::default() };
/// assert_eq!(serde_json::json!(edit), serde_json::json!({ "content": "hello" }));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeEdit {
    /// The content: a text or a list of parts.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub content: Change<Content>,
    /// The speaker's name.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub name: Change<Arc<str>>,
    /// The role.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub role: Change<Role>,
    /// `generating`, `complete`, or `error`.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub status: Change<Arc<str>>,
    /// Whether the message is sent; not for the root.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub is_enabled: Change<bool>,
    /// The creation time.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub timestamp: Change<Arc<str>>,
    /// The attachments.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub attachments: Change<Vec<StoredAttachment>>,
    /// The calls of an assistant message.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub tool_calls: Change<Vec<StoredToolCall>>,
    /// The call id of a tool result.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub tool_call_id: Change<Arc<str>>,
    /// All metadata of applications.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub metadata: Change<Box<NodeMetadata>>,
}

impl NodeEdit {
    /// Creates an edit of the content.
    pub fn content(content: Content) -> Self {
        Self { content: Change::Set(content), ..Self::default() }
    }

    pub(super) fn apply(&self, node: &mut Node) {
        if self.content != Change::Keep {
            // Other fields of the old text parts are lost.
            if node.kept.get("content").is_some_and(Value::is_array) {
                node.kept.set("content", Value::Array(Vec::new()));
            }
            self.content.apply(&mut node.content);
        }
        self.name.apply(&mut node.name);
        self.role.apply(&mut node.role);
        self.status.apply(&mut node.status);
        self.is_enabled.apply(&mut node.is_enabled);
        self.timestamp.apply(&mut node.timestamp);
        self.attachments.apply_list(&mut node.attachments);
        self.tool_calls.apply_list(&mut node.tool_calls);
        self.tool_call_id.apply(&mut node.tool_call_id);
        self.metadata.apply(&mut node.metadata);
    }
}

/// A change of a field. In JSON, a missing key keeps it and null clears it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Change<T> {
    /// Keeps the value.
    #[default]
    Keep,
    /// Clears the value or list.
    Clear,
    /// Sets the value.
    Set(T),
}

impl<T> Change<T> {
    /// Returns whether the field is unchanged.
    pub(crate) const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    fn value(&self) -> Option<&T> {
        match self {
            Self::Keep | Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T: Clone> Change<T> {
    fn apply(&self, field: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(value.clone()),
        }
    }
}

impl<T: Clone> Change<Vec<T>> {
    fn apply_list(&self, field: &mut Vec<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => field.clear(),
            Self::Set(items) => field.clone_from(items),
        }
    }
}

impl<T> From<Option<T>> for Change<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Clear, Self::Set)
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::from)
    }
}
