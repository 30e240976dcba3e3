//! Where preset entries and injections go: one enum, and the spellings of it in files.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::agent::PresetMessage;
use crate::codes;
use crate::depth::DepthPoints;
use crate::diagnostic::Diagnostic;
use crate::persist::noun;

/// The id of the anchor at which the conversation stands.
pub const CHAT_HISTORY: &str = "chat_history";

/// How seed 000 names [`CHAT_HISTORY`] inside its algorithm; accepted in files.
const CHAT_HISTORY_ALIAS: &str = "__CHAT_HISTORY__";

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
        let mut diagnostics = Vec::new();
        let placement = Spelling::of(entry).read(&mut diagnostics);
        (placement, diagnostics)
    }

    /// Returns the order, which is [`Order::DEFAULT`] for an entry that stays in its list.
    pub fn order(&self) -> Order {
        match self {
            Self::InOrder => Order::DEFAULT,
            Self::Index { order, .. } | Self::Depth { order, .. } | Self::Anchor { order, .. } => *order,
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InOrder => f.write_str("in order"),
            Self::Index { at, .. } => write!(f, "index {at}"),
            Self::Depth { points, .. } => write!(f, "depth {points}"),
            Self::Anchor { target, side, .. } => write!(f, "{side} `{target}`"),
        }
    }
}

/// A rank among things at the same place, ascending; any finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
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

impl Eq for Order {}

impl PartialOrd for Order {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Order {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
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

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
}

noun! {
    /// AIO Hub's spelling of a placement.
    pub struct InjectionStrategy {
        /// `default`, `depth`, `advanced_depth` or `anchor`; inferred from the other fields if absent.
        kind: Option<Arc<str>> => "type",
        /// The distance from the end of the history, in messages.
        depth: Option<i64> => "depth",
        /// Several distances, such as `3, 10~5`.
        depth_config: Option<Arc<str>> => "depthConfig",
        /// The id of the anchor; `chat_history` if absent.
        anchor_target: Option<Arc<str>> => "anchorTarget",
        /// `before` or `after` (default).
        anchor_position: Option<Arc<str>> => "anchorPosition",
        /// The rank among others at the same place; 100 if absent.
        order: Option<f64> => "order",
        /// The rank before the kind of thing is compared; 0 if absent. Set by importers.
        lane: Option<i64> => "lane",
    }
}

/// All spellings of one entry's placement, side by side.
struct Spelling<'a> {
    strategy: Option<&'a InjectionStrategy>,
    insertion_point: Option<i64>,
    anchor_target: Option<&'a str>,
    anchor_point: Option<&'a str>,
    order: Order,
}

impl<'a> Spelling<'a> {
    fn of(entry: &'a PresetMessage) -> Self {
        let strategy = entry.injection_strategy.as_ref();
        let nested = |field: fn(&InjectionStrategy) -> Option<&str>| strategy.and_then(field);
        Self {
            strategy,
            insertion_point: entry.insertion_point,
            anchor_target: nested(|s| s.anchor_target.as_deref()).or(entry.anchor_target.as_deref()),
            anchor_point: nested(|s| s.anchor_position.as_deref()).or(entry.anchor_point.as_deref()),
            order: Order(strategy.and_then(|s| s.order).or(entry.order).unwrap_or(Order::DEFAULT.0)),
        }
    }

    fn read(&self, diagnostics: &mut Vec<Diagnostic>) -> Placement {
        match self.strategy.and_then(|strategy| strategy.kind.as_deref()) {
            Some("default") => Placement::InOrder,
            Some("depth") => self.depth(diagnostics).unwrap_or_else(|| without_value("depth", diagnostics)),
            Some("advanced_depth") => self
                .advanced_depth(diagnostics)
                .or_else(|| self.depth(diagnostics))
                .unwrap_or_else(|| without_value("depthConfig", diagnostics)),
            Some("anchor") => self.anchor(diagnostics),
            Some(unknown) => {
                let message = format!("unknown injection strategy type `{unknown}`");
                let help = "use `default`, `depth`, `advanced_depth` or `anchor`; the type is inferred from the other fields";
                let unclear = Diagnostic::warning(codes::PLACEMENT_SPELLING, message);
                diagnostics.push(unclear.at_pointer("/injectionStrategy/type").with_help(help));
                self.infer(diagnostics)
            }
            None => self.infer(diagnostics),
        }
    }

    /// Decides by the fields that are given: a depth, then an index, then an anchor.
    fn infer(&self, diagnostics: &mut Vec<Diagnostic>) -> Placement {
        let depth = self.advanced_depth(diagnostics).or_else(|| self.depth(diagnostics));
        let index = self.insertion_point.map(|at| Placement::Index { at, order: self.order });
        let anchored = self.anchor_target.is_some() || self.anchor_point.is_some();
        let given = usize::from(depth.is_some()) + usize::from(index.is_some()) + usize::from(anchored);
        let placement = depth.or(index).unwrap_or_else(|| match anchored {
            true => self.anchor(diagnostics),
            false => Placement::InOrder,
        });
        if given > 1 {
            let message = format!("the entry names {given} places; `{placement}` is used");
            let help =
                "keep one of depth, `insertionPoint` and `anchorTarget`, or say `injectionStrategy.type`";
            diagnostics.push(Diagnostic::warning(codes::PLACEMENT_SPELLING, message).with_help(help));
        }
        placement
    }

    fn advanced_depth(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<Placement> {
        let config = self.strategy?.depth_config.as_deref().filter(|config| !config.trim().is_empty())?;
        let (points, mut found) = DepthPoints::parse(config);
        for diagnostic in &mut found {
            diagnostic.location.pointer = Some("/injectionStrategy/depthConfig".to_owned());
        }
        diagnostics.append(&mut found);
        (!points.is_empty()).then_some(Placement::Depth { points, order: self.order })
    }

    fn depth(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<Placement> {
        let given = self.strategy?.depth?;
        let depth = u64::try_from(given).unwrap_or_else(|_| {
            let negative =
                Diagnostic::warning(codes::DEPTH_SYNTAX, format!("depth {given} is negative; 0 is used"));
            let help = "depth counts from the newest message upwards: 0 is after it";
            diagnostics.push(negative.at_pointer("/injectionStrategy/depth").with_help(help));
            0
        });
        Some(Placement::Depth { points: DepthPoints::single(depth), order: self.order })
    }

    fn anchor(&self, diagnostics: &mut Vec<Diagnostic>) -> Placement {
        let side = match self.anchor_point {
            Some("before") => Side::Before,
            None | Some("after") => Side::After,
            Some(unknown) => {
                let message = format!("unknown side `{unknown}` of an anchor; `after` is used");
                let unclear = Diagnostic::warning(codes::PLACEMENT_SPELLING, message);
                diagnostics.push(unclear.with_help("use `before` or `after`"));
                Side::After
            }
        };
        let target = match self.anchor_target.map(str::trim) {
            None | Some("" | CHAT_HISTORY_ALIAS) => CHAT_HISTORY,
            Some(target) => target,
        };
        Placement::Anchor { target: Arc::from(target), side, order: self.order }
    }
}

/// An explicit type without its value: the entry stays in its list.
fn without_value(field: &str, diagnostics: &mut Vec<Diagnostic>) -> Placement {
    let message = format!("the injection strategy needs `{field}`; the entry stays where the list has it");
    let unclear = Diagnostic::warning(codes::PLACEMENT_SPELLING, message);
    diagnostics.push(unclear.at_pointer(format!("/injectionStrategy/{field}")));
    Placement::InOrder
}
