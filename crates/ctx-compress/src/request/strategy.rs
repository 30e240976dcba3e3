//! Strategies of request compression.

use std::fmt::Debug;
use std::ops::Range;

use ctx_types::{Message, Phrase};

use crate::request::config::RequestConfig;
use crate::request::coverage::Coverage;
use crate::request::key_message::KeyMessage;
use crate::request::last_rounds::LastRounds;
use crate::request::layout::is_point;
use crate::request::meter::Meter;

/// Selects the messages of the history that a request keeps.
///
/// A selection that exceeds the token limits is replaced by that of [`LastRounds`], with a diagnostic. Equal material must
/// give equal selections.
///
/// ```
/// use ctx_compress::request::{CompressionPipeline, Fate, Material, RequestConfig, Selection, Strategy};
/// use ctx_types::{Message, Role, Source, phrase};
///
/// /// Drops the history.
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
    /// Returns the name used in options and reports.
    fn name(&self) -> &str;

    /// Selects for each group, in order.
    fn choose(&self, material: &Material<'_>) -> Selection;
}

/// The input of a strategy.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Material<'a> {
    /// The whole request, with paired calls and results.
    pub messages: &'a [Message],
    /// The groups that may be changed, oldest first: ranges of `messages`.
    ///
    /// A group begins with the messages that an entry with several positions placed before it; they share its fate.
    pub groups: &'a [Range<usize>],
    /// Token limit of the kept messages and notes.
    pub room: u64,
    /// Token limit of the kept messages without notes.
    ///
    /// 0 if protected messages had to be shortened. Otherwise a larger budget, in which they just fit, would keep fewer
    /// messages.
    pub room_for_messages: u64,
    /// Target of the whole request in tokens.
    pub target: u64,
    /// The configuration.
    pub config: &'a RequestConfig,
    /// Counts tokens.
    pub meter: &'a Meter<'a>,
}

impl<'a> Material<'a> {
    /// Returns the messages of a group.
    pub fn members(&self, group: &Range<usize>) -> &'a [Message] {
        self.messages.get(group.clone()).unwrap_or_default()
    }

    /// Returns a group without placed messages before it.
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

/// The output of a strategy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The fate of each group, in order.
    pub fates: Vec<Fate>,
    /// New messages that replace groups.
    pub notes: Vec<PlacedNote>,
}

/// The fate of a group, with a reason in lower case.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// Keeps it unchanged.
    Keep(Phrase),
    /// Replaces it with as many messages of the same roles, calls and ids, and less text.
    Shorten(Vec<Message>, Phrase),
    /// Replaces it with a note.
    Summarise(Phrase),
    /// Drops it.
    Drop(Phrase),
}

/// A new message and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedNote {
    /// The index of the next message in the material.
    pub before: usize,
    /// The message.
    pub message: Message,
}

impl Selection {
    /// Returns the tokens of kept groups and notes.
    pub(crate) fn tokens(&self, material: &Material<'_>) -> u64 {
        let notes = self.notes.iter().map(|note| material.meter.message(&note.message));
        self.kept_tokens(material) + notes.sum::<u64>()
    }

    /// Returns the tokens of kept groups.
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

/// Makes a built-in strategy by its name.
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
