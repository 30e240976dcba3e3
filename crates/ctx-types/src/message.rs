//! Messages in flight: what a context is made of between the files and the request body.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attachment::Attachment;
use crate::block::{BlockFields, BlockOrder};
use crate::cache_mark::CacheMark;
use crate::content::Content;
use crate::note::Note;
use crate::placement::Placement;
use crate::source::{Segment, Source};
use crate::text::Text;

/// Who speaks a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// Instructions of the application or the preset.
    System,
    /// Instructions in the newer OpenAI spelling; ranks with `system`.
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
    /// The spellings used in files and requests.
    pub const WORDS: [&'static str; 5] = [
        Self::System.as_str(),
        Self::Developer.as_str(),
        Self::User.as_str(),
        Self::Assistant.as_str(),
        Self::Tool.as_str(),
    ];

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

    /// Returns whether the role gives instructions: `system` or `developer`.
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
/// A message is a shared handle, as [`Text`] is: a clone is O(1) and takes 8 bytes, so that lists of messages
/// can be copied and kept. Whoever changes a field of a message that is shared changes a copy of their own.
/// All fields are used by their names, those that every message has ([`MessageFields`]) and those that few
/// have and that take no memory elsewhere ([`MessageExtras`]):
///
/// ```
/// use ctx_types::{Message, Role, Source};
///
/// let message = Message::new(Role::User, "hello", Source::history("n1", Role::User));
/// assert_eq!(message.text(), "hello");
/// assert_eq!(message.segments().len(), 1);
///
/// let mut named = message.clone();
/// named.name = Some("Lin".into());
/// assert_eq!(message.name, None);
/// ```
///
/// Reading is free; assigning copies what is shared, so assign where something changes.
#[derive(Clone, Debug)]
pub struct Message(Arc<MessageFields>);

/// The fields of a message that every message has; used as fields of [`Message`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MessageFields {
    /// Who speaks.
    pub role: Role,
    /// True for an unfinished assistant message that the model is asked to continue; always sent last.
    pub is_continuation_prefix: bool,
    /// What the message is a part of: the skeleton, the history, or something placed in between.
    pub place: Place,
    /// What is said.
    pub content: Content,
    /// Where the message came from.
    pub source: Source,
    extras: Extras,
}

/// The fields of a message that few messages have; used as fields of [`Message`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MessageExtras {
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
    /// The placement that brought the message there, if it was placed rather than listed.
    pub placement: Option<Arc<Placement>>,
    /// Where each byte of the text came from; empty when all of it is from the message's source.
    pub written: Vec<Segment>,
    /// What is known about the lines of a note that a compressor wrote in place of older messages.
    pub note: Option<Arc<Note>>,
    /// The wish that the provider keeps the request up to here.
    pub cache_mark: Option<CacheMark>,
    /// Fields that one provider's messages have and others' have not, by the name of its dialect.
    pub provider_fields: Option<Arc<Value>>,
    /// True for an empty message that has a position and is not sent: depths and scans count it.
    pub is_silent: bool,
    /// True for a message that follows a silent one: squashing never joins it with the message above.
    pub is_apart: bool,
    /// Whether the tool failed whose result the message is.
    pub is_error: bool,
    /// The order of reasoning, content and calls, if it is not this one.
    pub block_order: Option<BlockOrder>,
    /// Fields of text parts and calls that only one provider has, sorted by kind and position.
    pub block_fields: Vec<BlockFields>,
}

impl MessageExtras {
    /// Returns the extras with fields that `set` has set.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

impl Message {
    /// Creates a message of plain text.
    pub fn new(role: Role, text: impl Into<Text>, source: Source) -> Self {
        Self(Arc::new(MessageFields {
            role,
            is_continuation_prefix: false,
            place: Place::History,
            content: Content::Text(text.into()),
            source,
            extras: Extras(None),
        }))
    }

    /// Returns the message with fields that `set` has set.
    ///
    /// ```
    /// use ctx_types::{Message, Role, Source};
    ///
    /// let source = Source::history("n2", Role::Tool);
    /// let result = Message::new(Role::Tool, "42", source).with(|message| message.tool_call_id = Some("c1".into()));
    /// assert_eq!(result.tool_call_id.as_deref(), Some("c1"));
    /// ```
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    /// Returns the message with these extras in place of its own; they take no memory if nothing is set.
    #[must_use]
    pub fn with_extras(mut self, extras: MessageExtras) -> Self {
        let is_set = extras != MessageExtras::default();
        Arc::make_mut(&mut self.0).extras = Extras(is_set.then(|| Box::new(extras)));
        self
    }

    /// Returns whether two messages are the very same shared one.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
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

    /// Returns whether there is nothing to send: only white space, no calls, no attachments, no reasoning.
    pub fn is_blank(&self) -> bool {
        self.content.is_blank()
            && self.tool_calls.is_empty()
            && self.attachments.is_empty()
            && self.reasoning.is_none()
    }

    /// Returns whether this is an assistant message that ends a turn: no calls and not to be continued.
    pub fn is_finished_answer(&self) -> bool {
        self.role == Role::Assistant && self.tool_calls.is_empty() && !self.is_continuation_prefix
    }
}

impl Deref for Message {
    type Target = MessageFields;

    fn deref(&self) -> &MessageFields {
        &self.0
    }
}

impl DerefMut for Message {
    fn deref_mut(&mut self) -> &mut MessageFields {
        Arc::make_mut(&mut self.0)
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.is_shared_with(other) || self.0 == other.0
    }
}

impl Deref for MessageFields {
    type Target = MessageExtras;

    fn deref(&self) -> &MessageExtras {
        self.extras.get()
    }
}

impl DerefMut for MessageFields {
    fn deref_mut(&mut self) -> &mut MessageExtras {
        self.extras.0.get_or_insert_default()
    }
}

/// What few messages have; nothing until one of the fields is set.
#[derive(Clone)]
struct Extras(Option<Box<MessageExtras>>);

impl Extras {
    fn get(&self) -> &MessageExtras {
        static NOTHING: MessageExtras = MessageExtras {
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            attachments: Vec::new(),
            reasoning: None,
            placement: None,
            written: Vec::new(),
            note: None,
            cache_mark: None,
            provider_fields: None,
            is_silent: false,
            is_apart: false,
            is_error: false,
            block_order: None,
            block_fields: Vec::new(),
        };
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl PartialEq for Extras {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for Extras {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// What a message of a context is a part of; decides what stages may do with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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

impl Place {
    /// Returns the spelling used in reports and snapshots.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Pinned => "pinned",
            Self::Skeleton => "skeleton",
            Self::Anchored => "anchored",
            Self::AroundHistory => "around_history",
            Self::Gap { .. } => "gap",
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasoning {
    /// The visible reasoning, if the provider showed any.
    pub text: Option<Text>,
    /// Provider state that must be replayed unchanged, as the file had it.
    pub artifacts: Vec<Arc<Value>>,
    /// The model that wrote it, if that is known.
    pub model: Option<Arc<str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        Message::new(Role::User, "hello", Source::history("n1", Role::User))
    }

    #[test]
    fn a_list_takes_eight_bytes_a_message_and_what_few_have_takes_none() {
        assert_eq!(size_of::<Message>(), 8);
        assert!(size_of::<MessageFields>() <= 72, "{}", size_of::<MessageFields>());
        assert!(message().extras.0.is_none());
        assert!(message().with_extras(MessageExtras::default()).extras.0.is_none());
    }

    #[test]
    fn a_change_is_seen_in_no_clone() {
        let message = message();
        for set in [
            (|message| message.role = Role::Tool) as fn(&mut Message),
            |message| message.tool_call_id = Some("c1".into()),
            |message| message.written.push(Segment::whole(5, Source::history("n2", Role::User))),
        ] {
            let mut changed = message.clone();
            assert!(changed.is_shared_with(&message));
            set(&mut changed);
            assert_ne!(changed, message);
        }
        assert_eq!(message, self::message());
    }

    #[test]
    fn extras_that_say_nothing_make_no_difference() {
        let mut touched = message();
        touched.tool_calls.clear();
        assert!(touched.extras.0.is_some());
        assert_eq!(touched, message());
    }
}
