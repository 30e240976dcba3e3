use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attachment::Attachment;
use crate::block::{BlockFields, BlockOrder};
use crate::cache_mark::CacheMark;
use crate::content::Content;
use crate::injection::{Rank, SlotRank};
use crate::note::Note;
use crate::placement::{Order, Placement};
use crate::source::{Segment, Source};
use crate::text::Text;
use crate::words;

words! {
    /// The role of a message.
    #[derive(Default, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    #[non_exhaustive]
    pub enum Role: [as_str, parse, WORDS] {
        /// Instructions of the application or the preset.
        System = "system",
        /// Instructions with OpenAI's newer name; equal to `system`.
        Developer = "developer",
        /// The user.
        #[default]
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The result of a tool call.
        Tool = "tool",
    }
}

impl Role {
    /// Returns whether the role is `system` or `developer`.
    pub const fn is_instruction(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// A message for the model.
///
/// A shared handle of 8 bytes, like [`Text`]; a clone is O(1). It dereferences to [`MessageFields`] and
/// [`MessageExtras`]; unset extras use no memory:
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
/// Mutable access copies a shared message, so assign only to change a value.
#[derive(Clone, Debug)]
pub struct Message(Arc<MessageFields>);

/// The fields that every message has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MessageFields {
    /// The role.
    pub role: Role,
    /// Whether this is an incomplete reply for the model to continue; always sent last.
    pub is_continuation_prefix: bool,
    /// Its place: preset, history, or in between.
    pub place: Place,
    /// The content.
    pub content: Content,
    /// The source.
    pub source: Source,
    extras: Extras,
}

/// The fields that few messages have.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MessageExtras {
    /// Tool calls of an assistant message, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The call id of a tool result.
    pub tool_call_id: Option<Arc<str>>,
    /// The speaker's name, for providers that accept it.
    pub name: Option<Arc<str>>,
    /// Attachments; references until the last processor.
    pub attachments: Vec<Attachment>,
    /// Reasoning to replay unchanged.
    pub reasoning: Option<Reasoning>,
    /// The placement, if the message was placed.
    pub placement: Option<Arc<Placement>>,
    /// Its position among the injections of its slot, if the message was placed.
    pub slot_rank: Option<SlotRank>,
    /// The source of each byte; empty if `source` wrote all.
    pub written: Vec<Segment>,
    /// Line information of a digest that replaces older messages.
    pub note: Option<Arc<Note>>,
    /// Asks the provider to cache the request up to here.
    pub cache_mark: Option<CacheMark>,
    /// Fields that only one provider supports, by API dialect.
    pub provider_fields: Option<Arc<Value>>,
    /// Whether depths and scans include this empty message, which is not sent.
    pub is_silent: bool,
    /// With which neighbors it can be joined.
    pub join_rule: JoinRule,
    /// Whether the tool of this result failed.
    pub is_error: bool,
    /// The order of blocks, unless it is reasoning, content, calls.
    pub block_order: Option<BlockOrder>,
    /// Provider fields of text parts and calls, by kind and position.
    pub block_fields: Vec<BlockFields>,
}

/// With which neighbors a message can be joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinRule {
    /// With both.
    #[default]
    Both,
    /// When system messages are squashed, not with the previous message, because it follows a silent one.
    Next,
    /// With none, because it is only for this turn of an append-only context.
    None,
}

impl MessageExtras {
    /// Changes fields with `set`.
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
}

impl Message {
    /// Creates a text message.
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

    /// Changes fields with `set`.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    /// Replaces the extras. Default extras use no memory.
    #[must_use]
    pub fn with_extras(mut self, extras: MessageExtras) -> Self {
        let is_set = extras != MessageExtras::default();
        Arc::make_mut(&mut self.0).extras = Extras(is_set.then(|| Box::new(extras)));
        self
    }

    /// Returns whether two messages share memory.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Concatenates all text parts without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        self.content.text()
    }

    /// Returns adjacent segments that cover the text; none for an empty text.
    pub fn segments(&self) -> Cow<'_, [Segment]> {
        if !self.written.is_empty() {
            return Cow::Borrowed(&self.written);
        }
        match self.content.len() {
            0 => Cow::Borrowed(&[]),
            len => Cow::Owned(vec![Segment::full(len, self.source.clone())]),
        }
    }

    /// Returns whether the message has neither text other than white space nor calls, attachments,
    /// reasoning, or audio.
    pub fn is_blank(&self) -> bool {
        self.content.is_blank()
            && self.tool_calls.is_empty()
            && self.attachments.is_empty()
            && self.reasoning.is_none()
            && !self.has_reply_state()
    }

    /// Returns whether the reply is a recording, or has reasoning state, in a field of chat completions.
    /// Returns whether a tool result answers a call of an earlier response, which the provider stores and the messages
    /// do not have.
    pub fn answers_stored_call(&self) -> bool {
        let answers = self.provider_fields.as_deref().and_then(|fields| fields.get("answers"));
        self.role == Role::Tool && answers.and_then(Value::as_str) == Some("storedCall")
    }

    fn has_reply_state(&self) -> bool {
        let own = self.provider_fields.as_deref().and_then(|fields| fields.get("openai"));
        let has = |key: &str| own.and_then(|own| own.get(key)).is_some_and(|value| !value.is_null());
        self.role == Role::Assistant && (has("audio") || has("encrypted_content"))
    }

    /// Returns the sort key among the injections of a slot.
    pub fn slot_key(&self) -> (Order, i64, Rank, usize) {
        let order = self.placement.as_ref().map_or(Order::DEFAULT, |placement| placement.order());
        match self.slot_rank {
            Some(SlotRank { lane, rank, position, .. }) => (order, lane, rank, position),
            None => (order, 0, Rank::Plugin, usize::MAX),
        }
    }

    /// Returns whether this is a complete reply without calls, which ends a turn.
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

#[derive(Clone)]
struct Extras(Option<Box<MessageExtras>>);

impl Extras {
    fn get(&self) -> &MessageExtras {
        static NOTHING: LazyLock<MessageExtras> = LazyLock::new(MessageExtras::default);
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

/// Place of a message, which restricts the processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The conversation.
    #[default]
    History,
    /// A leading system message or a pinned message: never dropped, compressed, or moved.
    Pinned,
    /// The preset.
    Skeleton,
    /// Next to an anchor other than the history.
    Anchored,
    /// Before or after the whole history.
    AroundHistory,
    /// A slot in the history.
    Gap {
        /// Whether the placement has several points; if so, the message is dropped with the surrounding
        /// history.
        multiple: bool,
    },
}

impl Place {
    /// Returns the name in reports and snapshots.
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

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that links the call and its result.
    pub id: Arc<str>,
    /// The tool name.
    pub name: Arc<str>,
    /// The model's JSON arguments, unchanged.
    pub arguments: Text,
}

/// Reasoning of a reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasoning {
    /// Visible reasoning.
    pub text: Option<Text>,
    /// Opaque provider state to replay unchanged.
    pub artifacts: Vec<Arc<Value>>,
    /// The model that wrote it.
    pub model: Option<Arc<str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        Message::new(Role::User, "hello", Source::history("n1", Role::User))
    }

    #[test]
    fn keeps_messages_small_and_empty_extras_unallocated() {
        assert_eq!(size_of::<Message>(), 8);
        assert!(size_of::<MessageFields>() <= 72, "{}", size_of::<MessageFields>());
        assert!(message().extras.0.is_none());
        assert!(message().with_extras(MessageExtras::default()).extras.0.is_none());
    }

    #[test]
    fn leaves_clones_unchanged_after_edit() {
        let message = message();
        for set in [
            (|message| message.role = Role::Tool) as fn(&mut Message),
            |message| message.tool_call_id = Some("c1".into()),
            |message| message.written.push(Segment::full(5, Source::history("n2", Role::User))),
        ] {
            let mut changed = message.clone();
            assert!(changed.is_shared_with(&message));
            set(&mut changed);
            assert_ne!(changed, message);
        }
        assert_eq!(message, self::message());
    }

    #[test]
    fn treats_empty_extras_as_no_extras() {
        let mut touched = message();
        touched.tool_calls.clear();
        assert!(touched.extras.0.is_some());
        assert_eq!(touched, message());
    }
}
