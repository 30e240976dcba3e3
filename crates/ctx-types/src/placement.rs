use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::agent::PresetMessage;
use crate::depth::DepthPoints;
use crate::diagnostic::Diagnostic;
use crate::persist::data_type;
use crate::phrase;
use crate::phrasing::Phrase;
use crate::words;

mod spelling;

/// The anchor id of the conversation.
pub const CHAT_HISTORY: &str = "chat_history";

/// From the first preset format.
const CHAT_HISTORY_ALIAS: &str = "__CHAT_HISTORY__";

/// Normalizes an anchor id of a file: trims it, and maps an empty id and `__CHAT_HISTORY__` to
/// [`CHAT_HISTORY`].
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

/// Position of an entry or injection.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Placement {
    /// Its position in the preset list.
    #[default]
    InOrder,
    /// A position in the history before the turn: 0 is before all messages, −1 after all, −2 one earlier.
    Index {
        /// The position, clamped to the history.
        at: i64,
        /// The order among messages in the same slot.
        order: Order,
    },
    /// Distances from the end of the conversation, where 0 is.
    Depth {
        /// The distances, in messages.
        points: DepthPoints,
        /// The order among messages in the same slot.
        order: Order,
    },
    /// Next to an anchor.
    Anchor {
        /// The anchor id.
        target: Arc<str>,
        /// The side of the anchor.
        side: Side,
        /// The order among messages on the same side.
        order: Order,
    },
}

impl Placement {
    /// Reads the placement of a preset entry.
    ///
    /// Priority: an explicit `injectionStrategy.type`, a depth, `insertionPoint`, an anchor. Diagnostics have
    /// pointers relative to the entry.
    pub fn read(entry: &PresetMessage) -> (Self, Vec<Diagnostic>) {
        spelling::read(entry)
    }

    /// Replaces the placement of a preset entry, if it differs.
    ///
    /// Writes an index as `insertionPoint`, others as AIO Hub's `injectionStrategy`. Keeps `lane` and unknown
    /// keys.
    ///
    /// ```
    /// use ctx_types::{Order, Placement, PresetMessage};
    /// use ctx_types::DepthPoints;
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

    /// Returns the order; [`Order::DEFAULT`] for a position in the list.
    pub fn order(&self) -> Order {
        match self {
            Self::InOrder => Order::DEFAULT,
            Self::Index { order, .. } | Self::Depth { order, .. } | Self::Anchor { order, .. } => *order,
        }
    }

    /// Returns the placement as a phrase.
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

/// The order at the same place, ascending. −0 equals 0.
#[derive(Clone, Copy, Debug)]
pub struct Order(pub f64);

impl Order {
    /// The default order.
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
        // The sum turns −0 into 0, which `total_cmp` distinguishes.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

words! {
    /// A side of an anchor.
    #[derive(Default)]
    pub enum Side: [as_str, WORDS] {
        /// Before the anchor.
        Before = "before",
        /// After the anchor.
        #[default]
        After = "after",
    }
}

data_type! {
    /// The placement of an entry as an object.
    pub struct InjectionStrategy {
        /// Placement type: `default` (the position in the list), `depth`, `advanced_depth` (`depthConfig`),
        /// or `anchor`. Default: inferred from the other fields.
        kind: Option<Arc<str>> => "type" [one_of InjectionStrategy::TYPES],
        /// Messages from the end of the conversation; 0 is after the last one.
        depth: Option<i64> => "depth" [at_least 0],
        /// Several depths. `3, 10~5` is 3, then 10, 15, 20, and so on.
        depth_config: Option<Arc<str>> => "depthConfig",
        /// Anchor id. Default: `chat_history`.
        anchor_target: Option<Arc<str>> => "anchorTarget",
        /// Side of the anchor: `before` or `after` (default).
        anchor_position: Option<Arc<str>> => "anchorPosition" [one_of Side::WORDS],
        /// Order among messages at the same place, ascending. Default: 100.
        order: Option<f64> => "order",
        /// Tie-breaker for an equal `order`, ascending. Default: 0. Set by importers.
        lane: Option<i64> => "lane",
    }
}

impl InjectionStrategy {
    /// The values of `type`.
    pub const TYPES: [&'static str; 4] = ["default", "depth", "advanced_depth", "anchor"];
}
