//! The dialects by name.

use std::fmt;

use ctx_types::{MediaKind, Message};
use serde_json::Value;

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::{Encoded, Options, Request};
use crate::{anthropic, completion, gemini, media, openai_chat, openai_responses};

/// A provider's way to write requests and replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Chat completions (`/v1/chat/completions`), which most servers understand.
    #[default]
    OpenaiChat,
    /// OpenAI's responses (`/v1/responses`).
    OpenaiResponses,
    /// Anthropic's messages (`/v1/messages`).
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// Text completions (`/v1/completions`), with turns written by a template.
    Completion,
}

impl Dialect {
    /// Every dialect, in the order in which help lists them.
    pub const ALL: [Self; 5] =
        [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini, Self::Completion];

    /// Returns the name, as commands and settings spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Completion => "completion",
        }
    }

    /// Reads a name; anything else is `None`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Writes a request body; see the `encode` of the dialect's module.
    pub fn encode<'a>(self, messages: &'a [Message], request: &Request<'a>) -> Encoded<'a> {
        self.encode_with(messages, request, &Options::default())
    }

    /// Writes a request body for a target of which more is known; see the `encode_with` of the dialect's module.
    pub fn encode_with<'a>(
        self,
        messages: &'a [Message],
        request: &Request<'a>,
        options: &Options<'_>,
    ) -> Encoded<'a> {
        match self {
            Self::OpenaiChat => openai_chat::encode_with(messages, request, options),
            Self::OpenaiResponses => openai_responses::encode_with(messages, request, options),
            Self::Anthropic => anthropic::encode_with(messages, request, options),
            Self::Gemini => gemini::encode_with(messages, request, options),
            Self::Completion => completion::encode_with(messages, request, options),
        }
    }

    /// Returns whether the dialect has a shape for media of a type, within a user's message and with their bytes.
    ///
    /// What a single model cannot do is another question: not every model that is spoken to so has eyes.
    ///
    /// ```
    /// use ctx_wire::Dialect;
    ///
    /// assert!(Dialect::Anthropic.takes("application/pdf"));
    /// assert!(!Dialect::Anthropic.takes("audio/wav"));
    /// ```
    pub fn takes(self, mime_type: &str) -> bool {
        media::takes(self, mime_type)
    }

    /// Returns whether the provider fetches media of a kind from an address on the web.
    pub fn takes_address(self, kind: MediaKind) -> bool {
        match self {
            Self::OpenaiChat => kind == MediaKind::Image,
            Self::OpenaiResponses | Self::Anthropic => {
                matches!(kind, MediaKind::Image | MediaKind::Document)
            }
            Self::Gemini => true,
            Self::Completion => false,
        }
    }

    /// Reads a whole reply that did not come as a stream; see the `decode` of the dialect's module.
    pub fn decode(self, body: &Value) -> Result<Reply, Failure> {
        match self {
            Self::OpenaiChat => openai_chat::decode(body),
            Self::OpenaiResponses => openai_responses::decode(body),
            Self::Anthropic => anthropic::decode(body),
            Self::Gemini => gemini::decode(body),
            Self::Completion => completion::decode(body),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
