//! The dialects by name.

use std::fmt;

use ctx_types::Message;
use serde_json::Value;

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::{Encoded, Request};
use crate::{anthropic, openai_chat};

/// A provider's way to write requests and replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Chat completions (`/v1/chat/completions`), which most servers understand.
    #[default]
    OpenaiChat,
    /// Anthropic's messages (`/v1/messages`).
    Anthropic,
}

impl Dialect {
    /// Every dialect, in the order in which help lists them.
    pub const ALL: [Self; 2] = [Self::OpenaiChat, Self::Anthropic];

    /// Returns the name, as commands and settings spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// Reads a name; anything else is `None`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Writes a request body; see the `encode` of the dialect's module.
    pub fn encode(self, messages: &[Message], request: &Request<'_>) -> Encoded {
        match self {
            Self::OpenaiChat => openai_chat::encode(messages, request),
            Self::Anthropic => anthropic::encode(messages, request),
        }
    }

    /// Reads a whole reply that did not come as a stream; see the `decode` of the dialect's module.
    pub fn decode(self, body: &Value) -> Result<Reply, Failure> {
        match self {
            Self::OpenaiChat => openai_chat::decode(body),
            Self::Anthropic => anthropic::decode(body),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
