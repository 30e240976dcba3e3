use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use ctx_pipeline::SettingOrigin;
use ctx_tokens::{ModelFacts, internal::message_cost};
use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::ports::TokenCounter;
use ctx_types::{Message, Phrase, Place, SourceKind, phrase};

use crate::token_limiter::DroppableGroups;

/// No context fits the budget. Lists the parts, their contents, and their tokens.
///
/// ```
/// use ctx_processors::{Cause, Infeasible};
///
/// let infeasible = Infeasible { available: 30, cause: Cause::Overgrown, parts: Vec::new() };
/// let infeasible = infeasible.with_later_stages(30, vec![("signature".to_owned(), 40)]);
/// assert_eq!(infeasible.needed(), 40);
/// assert!(infeasible.to_string().ends_with("later processors 40 (signature)"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// Token budget of the messages.
    pub available: u32,
    /// Reason why nothing more can be dropped.
    pub cause: Cause,
    /// Parts of the messages, without empty ones.
    pub parts: Vec<RequestPart>,
}

/// Reason why no more messages can be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// Protected messages exceed the budget.
    Undroppable,
    /// Processors after the limiter add too many tokens.
    Overgrown,
    /// The limiter is disabled.
    SwitchedOff {
        /// Origin of the setting.
        by: SettingOrigin,
    },
    /// The limiter runs before the conversation is loaded.
    TooEarly {
        /// Priority of the limiter.
        limiter: i64,
        /// Priority of the loader.
        loader: i64,
    },
}

/// A part of the messages and its largest content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPart {
    /// Kind of the part.
    pub kind: RequestPartKind,
    /// Number of tokens; negative if later processors shortened the messages.
    pub tokens: i64,
    /// Source or processor with the most tokens.
    pub largest: (String, i64),
    /// Number of further contents.
    pub more: usize,
}

/// Kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RequestPartKind {
    /// Preset entries.
    Preset,
    /// Injections of worldbooks and plug-ins.
    Injections,
    /// Leading system messages of the conversation.
    Pinned,
    /// Droppable messages of the conversation.
    Conversation,
    /// The current turn.
    Pending,
    /// Other messages.
    Other,
    /// Additions by processors after the limiter.
    LaterStages,
}

impl RequestPartKind {
    /// Returns the name in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::Injections => "injections",
            Self::Pinned => "leading system messages",
            Self::Conversation => "conversation",
            Self::Pending => "current turn",
            Self::Other => "other",
            Self::LaterStages => "later processors",
        }
    }
}

impl Infeasible {
    pub(crate) fn undroppable(available: u32, costs: &[(&Message, u64)]) -> Self {
        let kinds = costs.iter().map(|(message, tokens)| (kind(message, false), *message, *tokens));
        Self { available, cause: Cause::Undroppable, parts: parts(kinds) }
    }

    /// Adds the tokens of processors after the limiter. `available` is the whole budget, including the tokens
    /// reserved for them.
    #[must_use]
    pub fn with_later_stages(mut self, available: u32, stages: Vec<(String, i64)>) -> Self {
        self.parts.extend(RequestPart::new(RequestPartKind::LaterStages, stages));
        Self { available, ..self }
    }

    /// Returns the tokens of all parts.
    pub fn needed(&self) -> u64 {
        let tokens = self.parts.iter().map(|part| part.tokens).fold(0, i64::saturating_add);
        u64::try_from(tokens).unwrap_or_default()
    }
}

impl RequestPart {
    /// Groups messages by kind and counts their tokens. O(messages · log messages).
    pub fn from_messages(messages: &[Message], model: &ModelFacts, counter: &dyn TokenCounter) -> Vec<Self> {
        let groups = DroppableGroups::from_messages(messages);
        let kinds = messages.iter().enumerate().map(|(index, message)| {
            let tokens = u64::from(message_cost(message, model, counter).total());
            (kind(message, groups.has(index)), message, tokens)
        });
        parts(kinds)
    }

    fn new(kind: RequestPartKind, holders: Vec<(String, i64)>) -> Option<Self> {
        let tokens = holders.iter().map(|(_, tokens)| *tokens).fold(0, i64::saturating_add);
        let more = holders.len().saturating_sub(1);
        // The choice does not depend on the number of loaded messages.
        let rank = |(name, tokens): &(String, i64)| (*tokens, Reverse((name.len(), name.clone())));
        let largest = holders.into_iter().max_by_key(rank)?;
        Some(Self { kind, tokens, largest, more })
    }
}

fn parts<'m>(messages: impl Iterator<Item = (RequestPartKind, &'m Message, u64)>) -> Vec<RequestPart> {
    let mut holders: BTreeMap<RequestPartKind, Vec<(String, i64)>> = BTreeMap::new();
    for (kind, message, tokens) in messages.filter(|(_, _, tokens)| *tokens > 0) {
        let name = excerpt(&message.source.to_string()).into_owned();
        holders.entry(kind).or_default().push((name, i64::try_from(tokens).unwrap_or(i64::MAX)));
    }
    holders.into_iter().filter_map(|(kind, holders)| RequestPart::new(kind, holders)).collect()
}

fn kind(message: &Message, is_droppable: bool) -> RequestPartKind {
    match (message.source.kind, message.place) {
        _ if is_droppable => RequestPartKind::Conversation,
        (_, Place::Pinned) => RequestPartKind::Pinned,
        (kind, Place::History) if kind.is_history() || kind == SourceKind::Merged => RequestPartKind::Pending,
        (SourceKind::Preset, _) => RequestPartKind::Preset,
        (SourceKind::Worldbook | SourceKind::Plugin, _) => RequestPartKind::Injections,
        (SourceKind::Merged, _) => joined_kind(message),
        _ => RequestPartKind::Other,
    }
}

/// A joined message has the kind of its first part.
fn joined_kind(message: &Message) -> RequestPartKind {
    let sources = message.written.iter().flat_map(|part| std::iter::once(&part.source).chain(&part.via));
    let mut kinds = sources.filter_map(|source| match source.kind {
        SourceKind::Preset => Some(RequestPartKind::Preset),
        SourceKind::Worldbook | SourceKind::Plugin => Some(RequestPartKind::Injections),
        _ => None,
    });
    kinds.next().unwrap_or(RequestPartKind::Other)
}

impl Infeasible {
    /// Describes the error in one sentence.
    pub fn phrase(&self) -> Phrase {
        let what = phrase!("{available}, but {cause}", available = self.available(), cause = self.cause());
        let parts = Argument::list(self.parts.iter().map(RequestPart::phrase), Divider::Comma);
        let what = if self.parts.is_empty() { what } else { phrase!("{what}: {parts}", what, parts) };
        match self.cause {
            Cause::Undroppable | Cause::Overgrown => what,
            Cause::SwitchedOff { .. } => phrase!("{what}; enable it, or raise the budget", what),
            Cause::TooEarly { .. } => {
                phrase!("{what}; move it after `injection-assembler`, or raise the budget", what)
            }
        }
    }

    fn available(&self) -> Phrase {
        match self.available {
            1 => phrase!("1 token is available"),
            available => phrase!("{available} tokens are available", available),
        }
    }

    fn cause(&self) -> Phrase {
        let needed = self.needed();
        match self.cause {
            Cause::Undroppable => phrase!("{needed} cannot be dropped", needed),
            Cause::Overgrown => {
                phrase!("the messages have {needed}, since processors after `token-limiter` add more", needed)
            }
            Cause::SwitchedOff { by } => phrase!(
                "the messages have {needed}, and `token-limiter` is disabled ({by})",
                needed,
                by = Phrase::from(by.as_str())
            ),
            Cause::TooEarly { limiter, loader } => phrase!(
                "the messages have {needed}: `token-limiter` (at {limiter}) runs before `session-loader` (at {loader})",
                needed,
                limiter,
                loader
            ),
        }
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

impl RequestPart {
    /// Describes the part and the largest of its contents.
    pub fn phrase(&self) -> Phrase {
        let part = phrase!("{kind} {tokens}", kind = Phrase::from(self.kind.as_str()), tokens = self.tokens);
        let (name, tokens) = &self.largest;
        match self.more {
            0 => phrase!("{part} ({largest})", part, largest = Phrase::verbatim(name.as_str())),
            more => {
                let largest = Phrase::verbatim(format!("{name} {tokens}"));
                phrase!("{part} ({largest} and {more} more)", part, largest, more)
            }
        }
    }
}

impl std::error::Error for Infeasible {}
