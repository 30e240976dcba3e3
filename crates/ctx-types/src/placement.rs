//! Where preset entries and injections go: one enum, and the spellings of it in files.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::agent::PresetMessage;
use crate::depth::DepthPoints;
use crate::diagnostic::Diagnostic;
use crate::persist::noun;
use crate::phrase;
use crate::phrasing::Phrase;

mod spelling;

/// The id of the anchor at which the conversation stands.
pub const CHAT_HISTORY: &str = "chat_history";

/// How seed 000 names [`CHAT_HISTORY`] inside its algorithm; accepted in files.
const CHAT_HISTORY_ALIAS: &str = "__CHAT_HISTORY__";

/// Returns the id of the anchor that a name in a file means.
///
/// White space around it does not count; nothing, and seed 000's `__CHAT_HISTORY__`, mean [`CHAT_HISTORY`].
///
/// ```
/// use ctx_types::anchor_id;
///
/// assert_eq!(anchor_id(" lore "), "lore");
/// assert_eq!(anchor_id("__CHAT_HISTORY__"), "chat_history");
/// assert_eq!(anchor_id(""), "chat_history");
/// ```
pub fn anchor_id(name: &str) -> &str {
    match name.trim() {
        "" | CHAT_HISTORY_ALIAS => CHAT_HISTORY,
        id => id,
    }
}

/// Where an entry or an injection goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Placement {
    /// Where the preset list has it.
    #[default]
    InOrder,
    /// At a position of the settled history: 0 before the oldest, −1 after all of it, −2 one earlier.
    Index {
        /// The position; any whole number, clamped to the history.
        at: i64,
        /// The rank among others at the same gap, ascending.
        order: Order,
    },
    /// At distances from the end of all history: 0 after the newest message.
    Depth {
        /// The distances, in messages.
        points: DepthPoints,
        /// The rank among others at the same gap, ascending.
        order: Order,
    },
    /// Before or after an anchor.
    Anchor {
        /// The id of the anchor.
        target: Arc<str>,
        /// On which side of it.
        side: Side,
        /// The rank among others on the same side, ascending.
        order: Order,
    },
}

impl Placement {
    /// Reads the placement of a preset entry from whichever spelling it uses.
    ///
    /// Several given: an explicit `injectionStrategy.type` decides, then a depth, then `insertionPoint`, then
    /// an anchor. What is unclear is a diagnostic with a pointer relative to the entry, and the entry stays
    /// where the list has it.
    pub fn of(entry: &PresetMessage) -> (Self, Vec<Diagnostic>) {
        spelling::read(entry)
    }

    /// Writes the placement into a preset entry, instead of the one that it has.
    ///
    /// An index is spelled `insertionPoint`, the others `injectionStrategy`, which AIO Hub reads. The lane and
    /// unknown keys stay. An entry that has this placement already is left as it is.
    ///
    /// ```
    /// use ctx_types::{DepthPoints, Order, Placement, PresetMessage};
    ///
    /// let mut entry = PresetMessage::default();
    /// Placement::Index { at: -1, order: Order::DEFAULT }.write_to(&mut entry);
    /// assert_eq!(serde_json::json!(entry), serde_json::json!({ "insertionPoint": -1 }));
    ///
    /// Placement::Depth { points: DepthPoints::single(4), order: Order(5.0) }.write_to(&mut entry);
    /// let strategy = serde_json::json!({ "type": "depth", "depth": 4, "order": 5 });
    /// assert_eq!(serde_json::json!(entry), serde_json::json!({ "injectionStrategy": strategy }));
    /// ```
    pub fn write_to(&self, entry: &mut PresetMessage) {
        spelling::write(self, entry);
    }

    /// Returns the order, which is [`Order::DEFAULT`] for an entry that stays in its list.
    pub fn order(&self) -> Order {
        match self {
            Self::InOrder => Order::DEFAULT,
            Self::Index { order, .. } | Self::Depth { order, .. } | Self::Anchor { order, .. } => *order,
        }
    }
}

impl Placement {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::InOrder => phrase!("in order"),
            Self::Index { at, .. } => phrase!("index {at}", at = at.to_string()),
            Self::Depth { points, .. } => phrase!("depth {points}", points = points.to_string()),
            Self::Anchor { target, side: Side::Before, .. } => phrase!("before `{target}`", target),
            Self::Anchor { target, side: Side::After, .. } => phrase!("after `{target}`", target),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

/// A rank among things at the same place, ascending; any number. −0 and 0 are the same.
#[derive(Clone, Copy, Debug)]
pub struct Order(pub f64);

impl Order {
    /// The order of things that name none.
    pub const DEFAULT: Self = Self(100.0);
}

impl Default for Order {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Order {}

impl PartialOrd for Order {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Order {
    fn cmp(&self, other: &Self) -> Ordering {
        // The sum turns −0 into 0, which `total_cmp` would tell apart.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

/// A side of an anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Above it.
    Before,
    /// Below it.
    #[default]
    After,
}

impl Side {
    /// The spellings used in files.
    pub const WORDS: [&'static str; 2] = [Self::Before.as_str(), Self::After.as_str()];

    /// Returns the spelling used in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

noun! {
    /// Where an entry goes, in the longer spelling.
    pub struct InjectionStrategy {
        /// How the place is said: `default` (where the list has it), `depth`, `advanced_depth` (`depthConfig`) or
        /// `anchor`; inferred from the other fields if absent.
        kind: Option<Arc<str>> => "type" [one_of InjectionStrategy::TYPES],
        /// The distance from the end of the conversation, in messages; 0 is after the newest.
        depth: Option<i64> => "depth" [at_least 0],
        /// Several distances, such as `3, 10~5` for 3 and then 10, 15, 20 and so on.
        depth_config: Option<Arc<str>> => "depthConfig",
        /// The id of the anchor; `chat_history` if absent.
        anchor_target: Option<Arc<str>> => "anchorTarget",
        /// On which side of the anchor: `before` or `after` (default).
        anchor_position: Option<Arc<str>> => "anchorPosition" [one_of Side::WORDS],
        /// The rank among others at the same place; 100 if absent.
        order: Option<f64> => "order",
        /// The rank before the kind of thing is compared; 0 if absent. Set by importers.
        lane: Option<i64> => "lane",
    }
}

impl InjectionStrategy {
    /// What `type` may be.
    pub const TYPES: [&'static str; 4] = ["default", "depth", "advanced_depth", "anchor"];
}
