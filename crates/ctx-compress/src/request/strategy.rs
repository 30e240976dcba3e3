//! What a strategy is given, and what it answers.

use std::fmt::Debug;
use std::ops::Range;

use ctx_types::{Message, Phrase};

use crate::request::config::RequestConfig;
use crate::request::coverage::Coverage;
use crate::request::key_message::KeyMessage;
use crate::request::last_rounds::LastRounds;
use crate::request::layout::is_point;
use crate::request::meter::Meter;

/// Decides what becomes of the settled history of a request.
///
/// The pipeline holds it to its room: a selection that costs more is replaced by that of [`LastRounds`], with a
/// diagnostic. A strategy is deterministic: equal material gives equal selections.
///
/// ```
/// use ctx_compress::request::{CompressionPipeline, Fate, Material, RequestConfig, Selection, Strategy};
/// use ctx_types::{Message, Role, Source, phrase};
///
/// /// Forgets everything that may be forgotten.
/// #[derive(Debug)]
/// struct Forget;
///
/// impl Strategy for Forget {
///     fn name(&self) -> &str {
///         "forget"
///     }
///
///     fn choose(&self, material: &Material<'_>) -> Selection {
///         let fates = material.groups.iter().map(|_| Fate::Drop(phrase!("forgotten")));
///         Selection { fates: fates.collect(), notes: Vec::new() }
///     }
/// }
///
/// let message = |text: &str| Message::new(Role::User, text, Source::history(text, Role::User));
/// let config = RequestConfig::to_fit(20);
/// let pipeline = CompressionPipeline::new(config).with_strategy(Box::new(Forget));
/// let compression = pipeline.compress_if_needed(&[message("old"), message("older"), message("new")]);
/// assert_eq!(compression.messages.len(), 3, "user messages directly before the last one are being answered too");
/// ```
pub trait Strategy: Debug + Send + Sync {
    /// Returns the name, as the command line and reports have it.
    fn name(&self) -> &str;

    /// Decides for each group of the material; the selection has one fate for each, in their order.
    fn choose(&self, material: &Material<'_>) -> Selection;
}

/// What a strategy may choose from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Material<'a> {
    /// The whole request, calls and results paired.
    pub messages: &'a [Message],
    /// The groups that may be changed, oldest first: ranges of `messages`.
    ///
    /// Before its own messages a group has those that a placement put at one of several points: they stay or go
    /// with it.
    pub groups: &'a [Range<usize>],
    /// How many tokens what is kept of them may have, notes included.
    pub room: u64,
    /// How many of these tokens messages may have, whole or shortened; the rest is for notes.
    ///
    /// None where what must stay did not fit and was shortened: with the few tokens more with which it fits there is no
    /// room beside it, and more budget never keeps fewer messages.
    pub room_for_messages: u64,
    /// How many tokens the whole request is to have.
    pub target: u64,
    /// The configuration.
    pub config: &'a RequestConfig,
    /// What things cost.
    pub meter: &'a Meter<'a>,
}

impl<'a> Material<'a> {
    /// Returns the messages of a group, what goes with it first.
    pub fn members(&self, group: &Range<usize>) -> &'a [Message] {
        self.messages.get(group.clone()).unwrap_or_default()
    }

    /// Returns a group without what only goes with it.
    pub fn own(&self, group: &Range<usize>) -> Range<usize> {
        group.start + self.members(group).iter().take_while(|message| is_point(message)).count()..group.end
    }

    /// Returns whether a message is in a group that may be changed.
    pub(crate) fn may_change(&self, index: usize) -> bool {
        let at = self.groups.partition_point(|group| group.end <= index);
        self.groups.get(at).is_some_and(|group| group.contains(&index))
    }

    /// Returns the tokens of a group.
    pub fn tokens(&self, group: &Range<usize>) -> u64 {
        self.meter.messages(self.members(group))
    }
}

/// What a strategy decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// What becomes of each group, in their order.
    pub fates: Vec<Fate>,
    /// New messages that stand for groups.
    pub notes: Vec<PlacedNote>,
}

/// What becomes of a group, and why: one phrase, lower case, no full stop.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It stays as it is.
    Keep(Phrase),
    /// It is replaced by these messages: as many, with the same roles, calls and ids, and less text.
    Shorten(Vec<Message>, Phrase),
    /// A note stands for it.
    Summarise(Phrase),
    /// It is left out.
    Drop(Phrase),
}

/// A new message, and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedNote {
    /// The index in the material's messages before which it goes.
    pub before: usize,
    /// The message.
    pub message: Message,
}

impl Selection {
    /// Returns what is kept of a material's groups and written about them.
    pub(crate) fn tokens(&self, material: &Material<'_>) -> u64 {
        let notes = self.notes.iter().map(|note| material.meter.message(&note.message));
        self.kept_tokens(material) + notes.sum::<u64>()
    }

    /// Returns what is kept of a material's groups.
    pub(crate) fn kept_tokens(&self, material: &Material<'_>) -> u64 {
        let kept = self.fates.iter().zip(material.groups).map(|(fate, group)| match fate {
            Fate::Keep(_) => material.tokens(group),
            Fate::Shorten(messages, _) => material.meter.messages(messages),
            Fate::Summarise(_) | Fate::Drop(_) => 0,
        });
        kept.sum()
    }
}

/// The names of the built-in strategies, the default first.
pub const STRATEGIES: [&str; 4] = ["telegraphic", "sentences", "key-message", "last-rounds"];

/// Makes a built-in strategy by its name; `None` for any other name.
///
/// ```
/// use ctx_compress::request::{STRATEGIES, strategy};
///
/// assert!(STRATEGIES.iter().all(|name| strategy(name).is_some_and(|found| found.name() == *name)));
/// assert!(strategy("magic").is_none());
/// ```
pub fn strategy(name: &str) -> Option<Box<dyn Strategy>> {
    Some(match name {
        "telegraphic" => Box::new(Coverage::telegraphic()),
        "sentences" => Box::new(Coverage::sentences()),
        "key-message" => Box::new(KeyMessage),
        "last-rounds" => Box::new(LastRounds::default()),
        _ => return None,
    })
}
