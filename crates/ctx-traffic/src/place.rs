//! Places in a request.

use std::fmt;

use serde::{Serialize, Serializer};

/// A part of a request, in the order in which providers read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// The model.
    Model,
    /// Parameters that belong to the cached prefix, such as `tool_choice`.
    Parameters,
    /// Tool definitions.
    Tools,
    /// System prompt, and system messages before all others.
    System,
    /// The conversation.
    Messages,
}

/// The place of a block. Numbers begin at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockPlace {
    /// A tool definition.
    Tool(u32),
    /// A part of the system prompt.
    System(u32),
    /// A block of a message.
    Message {
        /// Number in the list of messages, contents, or items.
        number: u32,
        /// Number of the block in the message.
        block: u32,
    },
}

impl BlockPlace {
    /// Returns the section.
    pub const fn section(self) -> Section {
        match self {
            Self::Tool(_) => Section::Tools,
            Self::System(_) => Section::System,
            Self::Message { .. } => Section::Messages,
        }
    }

    /// Returns the number of the tool definition, system part, or message.
    pub const fn number(self) -> u32 {
        match self {
            Self::Tool(number) | Self::System(number) | Self::Message { number, .. } => number,
        }
    }
}

impl fmt::Display for BlockPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(number) => write!(formatter, "tool {number}"),
            Self::System(number) => write!(formatter, "system {number}"),
            Self::Message { number, .. } => write!(formatter, "message {number}"),
        }
    }
}

impl Serialize for BlockPlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
