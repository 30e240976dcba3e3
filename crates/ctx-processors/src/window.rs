//! How much of a conversation is loaded: what the loader is told, and what it tells.

use ctx_types::{Message, Place, Source, Window};

/// Left on the blackboard for the loader: how many tokens of the newest messages are certainly enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    /// The tokens.
    pub tokens: u64,
    /// Whether no larger window follows, whatever room there is: older messages are then not loaded for good.
    pub is_final: bool,
    /// Whether what [`KeptCompression`](crate::KeptCompression) says is not sent need not be loaded. It is enough only if
    /// [`StillCompressed`] is left.
    pub without_compressed: bool,
}

/// Left on the blackboard by the loader: what it did not load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedWindow {
    /// How many leading instructions stand apart, which gaps do not count.
    pub pinned: usize,
    /// How many messages between the leading instructions and the window were not loaded.
    pub skipped: usize,
    /// How many bytes of text they have.
    pub skipped_bytes: u64,
    /// The oldest message after the leading instructions, loaded or not.
    pub oldest: Option<Source>,
    /// Whether it was decided already that the others are not loaded.
    pub is_told: bool,
    /// How many of the newest that were not loaded an earlier turn has compressed: what became of them is kept. Without
    /// [`StillCompressed`] such a run is for nothing, and one that loads them has to follow.
    pub compressed: usize,
}

/// Left on the blackboard by the compressor: what was not loaded because an earlier turn had compressed it stands so
/// still, and decisions tell of it.
#[derive(Clone, Copy, Debug)]
pub struct StillCompressed;

/// Makes a window of the messages of a draft, as the loader marked them.
///
/// What a plug-in put above the leading instructions or below the message that stands last counts as conversation.
pub(crate) fn window(mut messages: Vec<Message>, skipped: usize) -> Window {
    let pinned = messages.extract_if(.., |message| message.place == Place::Pinned).collect();
    let prefix = messages.iter().rposition(stands_behind_conversation);
    let prefix = prefix.map(|prefix| messages.remove(prefix));
    Window { pinned, skipped, messages, prefix }
}

/// Returns whether a message of the conversation stands behind it, so that no depth counts it: an answer that is
/// continued, or what somebody else said where the loader has that stand last.
pub(crate) fn stands_behind_conversation(message: &Message) -> bool {
    message.is_continuation_prefix || (message.place == Place::Skeleton && message.source.kind.is_history())
}

/// Left on the blackboard where the input of the turn is an instruction, and nothing that the user said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstructingInput;
