//! When no context fits: what holds how many tokens, and why none of it goes.

use std::cmp::Reverse;
use std::fmt;

use ctx_pipeline::Origin;
use ctx_tokens::{ModelFacts, message_cost};
use ctx_types::{Argument, Divider, Message, Phrase, Place, SourceKind, TokenCounter, excerpt, phrase};

use crate::token_limiter::Units;

/// No context fits the budget. Names the parts, what is in them, and their tokens.
///
/// ```
/// use ctx_processors::{Cause, Infeasible, Part};
///
/// let written = Part::later_stages(vec![("signature".to_owned(), 40)]);
/// let infeasible = Infeasible { available: 30, cause: Cause::Overgrown, parts: vec![written] };
/// assert_eq!(infeasible.needed(), 40);
/// assert!(infeasible.to_string().ends_with("later processors 40 (signature)"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// The tokens that messages may have.
    pub available: u32,
    /// Why nothing more is left out.
    pub cause: Cause,
    /// What is in the way; parts without tokens are left out.
    pub parts: Vec<Part>,
}

/// Why nothing more is left out of a context that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// What may not be dropped is too much.
    Undroppable,
    /// Stages after the limiter add more, however little it keeps.
    Overgrown,
    /// The limiter is switched off.
    SwitchedOff {
        /// Who switched it off.
        by: Origin,
    },
    /// The limiter runs before the conversation is loaded, and finds nothing to drop.
    TooEarly {
        /// The priority of the limiter.
        limiter: i64,
        /// The priority of the loader.
        loader: i64,
    },
}

/// A part of the messages, and what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Its tokens; negative where later stages made the messages shorter.
    pub tokens: i64,
    /// What holds most of them, the largest first, at most eight: entries and messages by their source, stages
    /// by their id.
    pub largest: Vec<(String, i64)>,
    /// How many more there are.
    pub more: usize,
}

/// What a part of the messages is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PartKind {
    /// Entries of the preset.
    Preset,
    /// Injections of worldbooks and plug-ins.
    Injections,
    /// The leading instructions of the conversation.
    Pinned,
    /// What may be dropped of the conversation.
    Conversation,
    /// The message that is answered, and what follows it.
    Pending,
    /// Anything else.
    Other,
    /// What stages after the limiter add.
    LaterStages,
}

impl PartKind {
    /// Returns the wording for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::Injections => "injections",
            Self::Pinned => "leading system messages",
            Self::Conversation => "conversation",
            Self::Pending => "pending turn",
            Self::Other => "other",
            Self::LaterStages => "later processors",
        }
    }
}

/// How many holders a part names.
const MAX_LARGEST: usize = 8;

/// How many of them are written for people.
const SHOWN: usize = 3;

impl Infeasible {
    /// Adds up what may not be dropped, by kind.
    pub(crate) fn undroppable(available: u32, costs: &[(&Message, u64)]) -> Self {
        let kinds = costs.iter().map(|(message, tokens)| (kind(message, false), *message, *tokens));
        Self { available, cause: Cause::Undroppable, parts: parts(kinds) }
    }

    /// Adds what stages after the limiter add, each with its tokens; `available` is the whole budget, of which
    /// room was to be left for them.
    #[must_use]
    pub fn beside_later_stages(mut self, available: u32, stages: Vec<(String, i64)>) -> Self {
        if !stages.is_empty() {
            self.parts.push(Part::later_stages(stages));
        }
        Self { available, ..self }
    }

    /// Returns the tokens of all parts.
    pub fn needed(&self) -> u64 {
        let tokens = self.parts.iter().map(|part| part.tokens).fold(0, i64::saturating_add);
        u64::try_from(tokens).unwrap_or_default()
    }
}

impl Part {
    /// Adds up messages by kind. Counts what was not counted before; O(messages · log messages).
    pub fn of_messages(messages: &[Message], model: &ModelFacts, counter: &dyn TokenCounter) -> Vec<Self> {
        let units = Units::of(messages);
        let kinds = messages.iter().enumerate().map(|(index, message)| {
            let tokens = u64::from(message_cost(message, model, counter).total());
            (kind(message, units.has(index)), message, tokens)
        });
        parts(kinds)
    }

    /// Lists what stages after the limiter add, each with its tokens.
    pub fn later_stages(stages: Vec<(String, i64)>) -> Self {
        Self::new(PartKind::LaterStages, stages)
    }

    fn new(kind: PartKind, mut holders: Vec<(String, i64)>) -> Self {
        let tokens = holders.iter().map(|(_, tokens)| *tokens).fold(0, i64::saturating_add);
        // By their names, numbers in order, so that what is listed does not depend on how much was loaded.
        holders.sort_by(|(left, more), (right, less)| {
            (Reverse(more), left.len(), left).cmp(&(Reverse(less), right.len(), right))
        });
        let more = holders.len().saturating_sub(MAX_LARGEST);
        holders.truncate(MAX_LARGEST);
        Self { kind, tokens, largest: holders, more }
    }
}

/// Groups messages by their kinds; what has no tokens is left out.
fn parts<'m>(messages: impl Iterator<Item = (PartKind, &'m Message, u64)>) -> Vec<Part> {
    let mut holders: Vec<(PartKind, String, i64)> = messages
        .filter(|(_, _, tokens)| *tokens > 0)
        .map(|(kind, message, tokens)| {
            let name = excerpt(&message.source.to_string()).into_owned();
            (kind, name, i64::try_from(tokens).unwrap_or(i64::MAX))
        })
        .collect();
    holders.sort_by_key(|(kind, ..)| *kind);
    let of_a_kind = holders.chunk_by(|(left, ..), (right, ..)| left == right);
    let part = |holders: &[(PartKind, String, i64)]| {
        let (kind, ..) = holders.first()?;
        Some(Part::new(*kind, holders.iter().map(|(_, name, tokens)| (name.clone(), *tokens)).collect()))
    };
    of_a_kind.filter_map(part).collect()
}

fn kind(message: &Message, is_droppable: bool) -> PartKind {
    match (message.source.kind, message.place) {
        _ if is_droppable => PartKind::Conversation,
        (_, Place::Pinned) => PartKind::Pinned,
        (kind, Place::History) if kind.is_history() || kind == SourceKind::Merged => PartKind::Pending,
        (SourceKind::Preset, _) => PartKind::Preset,
        (SourceKind::Worldbook | SourceKind::Plugin, _) => PartKind::Injections,
        (SourceKind::Merged, _) => joined_kind(message),
        _ => PartKind::Other,
    }
}

/// What a joined message is goes by the first of what was joined.
fn joined_kind(message: &Message) -> PartKind {
    let sources = message.written.iter().flat_map(|part| std::iter::once(&part.source).chain(&part.via));
    let mut kinds = sources.filter_map(|source| match source.kind {
        SourceKind::Preset => Some(PartKind::Preset),
        SourceKind::Worldbook | SourceKind::Plugin => Some(PartKind::Injections),
        _ => None,
    });
    kinds.next().unwrap_or(PartKind::Other)
}

impl Infeasible {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        let what = phrase!("{available}, but {cause}", available = self.available(), cause = self.cause());
        let parts = Argument::list(self.parts.iter().map(Part::phrase), Divider::Comma);
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

impl Part {
    /// Names the part with its tokens, and the largest of what it is made of.
    pub fn phrase(&self) -> Phrase {
        let part = phrase!("{kind} {tokens}", kind = Phrase::from(self.kind.as_str()), tokens = self.tokens);
        if let ([(name, _)], 0) = (self.largest.as_slice(), self.more) {
            return phrase!("{part} ({largest})", part, largest = Phrase::verbatim(name.as_str()));
        }
        if self.largest.is_empty() {
            return part;
        }
        let holder = |(name, tokens): &(String, i64)| Phrase::verbatim(format!("{name} {tokens}"));
        let largest = Argument::list(self.largest.iter().take(SHOWN).map(holder), Divider::Comma);
        match self.largest.len().saturating_sub(SHOWN) + self.more {
            0 => phrase!("{part} ({largest})", part, largest),
            more => phrase!("{part} ({largest} and {more} more)", part, largest, more),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

impl std::error::Error for Infeasible {}
