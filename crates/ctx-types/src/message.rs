//! Messages in flight: what a context is made of between the files and the request body.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attachment::Attachment;
use crate::placement::Placement;
use crate::source::{Segment, Source};
use crate::text::Text;

/// Who speaks a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the application or the preset.
    System,
    /// Instructions in the newer OpenAI spelling; ranks with [`Role::System`].
    Developer,
    /// The person.
    #[default]
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// Returns the spelling used in files and requests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// Reads the spelling of files and requests; anything else is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::System, Self::Developer, Self::User, Self::Assistant, Self::Tool]
            .into_iter()
            .find(|role| role.as_str() == text)
    }

    /// Tells whether the role gives instructions: `system` or `developer`.
    pub const fn is_instruction(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A message on its way to the model, with the knowledge of where it came from.
///
/// Bodies are shared, so that a clone copies no text. Without segments the whole text has the message's
/// [`Source`].
///
/// ```
/// use ctx_types::{Message, Role, Source};
///
/// let message = Message::new(Role::User, "hello", Source::history("n1", Role::User));
/// assert_eq!(message.text(), "hello");
/// assert_eq!(message.segments().len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
    /// The calls that an assistant message makes, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The call that a tool message answers.
    pub tool_call_id: Option<Arc<str>>,
    /// The name of the speaker, as providers accept it beside the role.
    pub name: Option<Arc<str>>,
    /// Files that travel with the message, as references until the last stage.
    pub attachments: Vec<Attachment>,
    /// Reasoning that must be replayed to the provider unchanged.
    pub reasoning: Option<Reasoning>,
    /// True for an unfinished assistant message that the model is asked to continue; always sent last.
    pub is_continuation_prefix: bool,
    /// What the message is a part of: the skeleton, the history, or something placed in between.
    pub place: Place,
    /// The placement that brought the message there, if it was placed rather than listed.
    pub placement: Option<Arc<Placement>>,
    /// Where the message came from.
    pub source: Source,
    /// Where each byte of the text came from; empty when all of it is from `source`.
    pub written: Vec<Segment>,
}

impl Message {
    /// Creates a message of plain text.
    pub fn new(role: Role, text: impl Into<Text>, source: Source) -> Self {
        Self {
            role,
            content: Content::Text(text.into()),
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            attachments: Vec::new(),
            reasoning: None,
            is_continuation_prefix: false,
            place: Place::History,
            placement: None,
            source,
            written: Vec::new(),
        }
    }

    /// Returns the text: that of all text parts in order, joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        self.content.text()
    }

    /// Returns a partition of the text's bytes into segments: adjacent, in order, without gaps.
    ///
    /// An empty text has no segments.
    pub fn segments(&self) -> Cow<'_, [Segment]> {
        if !self.written.is_empty() {
            return Cow::Borrowed(&self.written);
        }
        match self.content.len() {
            0 => Cow::Borrowed(&[]),
            len => Cow::Owned(vec![Segment::whole(len, self.source.clone())]),
        }
    }

    /// Tells whether there is nothing to send: only white space, no calls, no attachments, no reasoning.
    pub fn is_blank(&self) -> bool {
        self.content.is_blank()
            && self.tool_calls.is_empty()
            && self.attachments.is_empty()
            && self.reasoning.is_none()
    }

    /// Tells whether this is an assistant message that ends a turn: no calls and not to be continued.
    pub fn is_finished_answer(&self) -> bool {
        self.role == Role::Assistant && self.tool_calls.is_empty() && !self.is_continuation_prefix
    }
}

/// What a message of a context is a part of; decides what stages may do with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The conversation.
    #[default]
    History,
    /// The leading instructions of the conversation: never dropped, compressed or moved.
    Pinned,
    /// The preset's own list.
    Skeleton,
    /// Before or after an anchor of the skeleton other than the history.
    Anchored,
    /// Before or after the whole history.
    AroundHistory,
    /// A gap of the history.
    Gap {
        /// Whether the placement has several points; then this one goes when the history around it goes.
        multiple: bool,
    },
}

/// The content of a message: one text, or parts in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// One text.
    Text(Text),
    /// Several parts, as multimodal requests have them.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// Returns the text of all text parts in order, joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => match parts.as_slice() {
                [ContentPart::Text(text)] => Cow::Borrowed(text),
                parts => Cow::Owned(parts.iter().filter_map(ContentPart::as_text).collect()),
            },
        }
    }

    /// Returns what can be sent: without parts that are no objects, and text parts that have no text.
    ///
    /// Texts are shared. Such parts are reported when their file is read, and stay in it.
    #[must_use]
    pub fn sound(&self) -> Self {
        match self {
            Self::Text(text) => Self::Text(text.clone()),
            Self::Parts(parts) => Self::Parts(parts.iter().filter(|part| part.is_sound()).cloned().collect()),
        }
    }

    /// Returns the number of bytes of text.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Parts(parts) => parts.iter().filter_map(ContentPart::as_text).map(str::len).sum(),
        }
    }

    /// Tells whether there is no byte of text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Parts(parts) => {
                parts.iter().all(|part| part.as_text().is_some_and(|text| text.trim().is_empty()))
            }
        }
    }
}

/// One part of a message's content.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentPart {
    /// A text.
    Text(Text),
    /// A part of another kind, kept as its file had it (for example an `image_url` part of an OpenAI array).
    Other(Arc<Value>),
}

impl ContentPart {
    /// Returns the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// Tells whether the part is one at all: an object, and no text part without a text.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Other(part) => part.is_object() && part.get("type").and_then(Value::as_str) != Some("text"),
        }
    }
}

/// A call that the model asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that pairs the call with its result.
    pub id: Arc<str>,
    /// The name of the tool.
    pub name: Arc<str>,
    /// The arguments as the JSON text that the model wrote, byte for byte.
    pub arguments: Text,
}

/// Reasoning of the model that belongs to a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Reasoning {
    /// The visible reasoning, if the provider showed any.
    pub text: Option<Text>,
    /// Provider state that must be replayed unchanged, as the file had it.
    pub artifacts: Vec<Arc<Value>>,
}
