use std::fmt;
use std::sync::Arc;

use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::worldbook::SelectiveLogic;
use ctx_types::{Phrase, count_of, phrase};

use crate::source::Source;

/// Reason for an activation.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    Constant,
    Decorator,
    External,
    /// Still active from an earlier scan.
    Sticky {
        until: u64,
    },
    Keys {
        primary: KeyHit,
        secondary: Option<KeyHit>,
    },
}

/// A matching key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyHit {
    pub key: Arc<str>,
    pub place: KeyPlace,
}

/// First match of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyPlace {
    Message(usize),
    Source(Source),
    /// Index in `ScanInput::injected`.
    Injected(usize),
    Entry(usize),
}

/// Reason why an entry is not active.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    NotConsidered,
    Disabled,
    Trigger {
        wanted: Vec<Arc<str>>,
    },
    CharacterName,
    CharacterTag,
    Delay {
        needed: u64,
    },
    Cooldown {
        until: u64,
    },
    AwaitsRecursion {
        level: u32,
    },
    /// Excluded from recursion, and a key matches only in other entries.
    ExcludedFromRecursion {
        key: Arc<str>,
    },
    Decorator,
    /// A decorator's condition does not hold.
    Condition(Phrase),
    NoKeys,
    NoKeyFound,
    /// The search for a key stopped, and the result depends on it.
    KeyGaveUp {
        key: Arc<str>,
        why: GaveUp,
    },
    /// A key matches, but the secondary keys do not satisfy the logic.
    Secondary {
        primary: KeyHit,
        logic: SelectiveLogic,
        /// Secondary key that must not match.
        found: Option<KeyHit>,
    },
    Probability {
        drawn: f64,
        probability: f64,
    },
    /// Lost to another entry of a group.
    Group {
        group: Arc<str>,
        loss: GroupLoss,
    },
    Budget {
        tokens: Option<u32>,
        budget: u64,
    },
    /// An entry with the same uid is active.
    SameUid,
    /// Not enough budget in its book.
    BookBudget {
        tokens: u32,
        budget: u64,
    },
}

/// Reason why a search stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GaveUp {
    TooHard,
    StepsSpent,
}

/// Reason why an entry lost a group; contains the winner's member index.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupLoss {
    Active(usize),
    Sticky(usize),
    /// Another entry has more matching keys.
    Score {
        own: usize,
        best: usize,
        winner: usize,
    },
    Override(usize),
    /// Another entry won the random choice.
    Draw(usize),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

impl Reason {
    /// Describes the reason. [`BookSet::describe_reason`](crate::BookSet::describe_reason) also names other
    /// entries.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::NotConsidered => phrase!("not scanned"),
            Self::Disabled => phrase!("disabled"),
            Self::Trigger { wanted } => {
                let kinds = Argument::names(wanted.iter().map(|kind| excerpt(kind)), Divider::Comma);
                phrase!("only for {kinds}", kinds)
            }
            Self::CharacterName => phrase!("only for other characters"),
            Self::CharacterTag => phrase!("only for characters with other tags"),
            Self::Delay { needed } => {
                phrase!(
                    "delayed until the conversation has {messages}",
                    messages = count_of!(*needed, "message")
                )
            }
            Self::Cooldown { until: end } => phrase!("cooldown {until}", until = until(*end)),
            Self::AwaitsRecursion { level } => phrase!("waits for recursion level {level}", level),
            Self::ExcludedFromRecursion { key } => {
                phrase!(
                    "key `{key}` matches only in other entries; this entry is excluded from recursion",
                    key = excerpt(key)
                )
            }
            Self::Decorator => phrase!("excluded by `@@dont_activate`"),
            Self::Condition(condition) => condition.clone(),
            Self::NoKeys => phrase!("no keys"),
            Self::NoKeyFound => phrase!("no key matches"),
            Self::KeyGaveUp { key, why: GaveUp::TooHard } => {
                phrase!(
                    "it is unknown whether key `{key}` matches: the search was stopped",
                    key = excerpt(key)
                )
            }
            Self::KeyGaveUp { key, why: GaveUp::StepsSpent } => {
                phrase!(
                    "key `{key}` was not searched: the step limit of all keys is reached",
                    key = excerpt(key)
                )
            }
            Self::Secondary { primary, logic, found } => {
                let quoted = |hit: &KeyHit| phrase!("`{key}`", key = excerpt(&hit.key));
                secondary(&quoted(primary), *logic, found.as_ref().map(quoted))
            }
            Self::Probability { drawn, probability } => phrase!(
                "the random value {drawn} is above the probability {probability}",
                drawn = format!("{drawn:.1}"),
                probability
            ),
            Self::Group { group, loss } => loss.in_group(group, &phrase!("another entry")),
            Self::Budget { tokens: Some(1), budget } => phrase!(
                "its 1 token exceeds the remaining budget (of {budget})",
                budget = count_of!(*budget, "token")
            ),
            Self::Budget { tokens: Some(tokens), budget } => phrase!(
                "its {tokens} exceed the remaining budget (of {budget})",
                tokens = count_of!(*tokens, "token"),
                budget = count_of!(*budget, "token")
            ),
            Self::Budget { tokens: None, budget } => {
                phrase!("the budget of {budget} is used up", budget = count_of!(*budget, "token"))
            }
            Self::SameUid => phrase!("another entry with the same uid is active"),
            Self::BookBudget { tokens: 1, budget } => phrase!(
                "its 1 token exceeds its worldbook's remaining budget (of {budget})",
                budget = count_of!(*budget, "token")
            ),
            Self::BookBudget { tokens, budget } => phrase!(
                "its {tokens} exceed its worldbook's remaining budget (of {budget})",
                tokens = count_of!(*tokens, "token"),
                budget = count_of!(*budget, "token")
            ),
        }
    }

    /// Returns the name of the rule.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::NotConsidered => "not considered",
            Self::Disabled => "off",
            Self::Trigger { .. } | Self::CharacterName | Self::CharacterTag => "filter",
            Self::Delay { .. } => "delay",
            Self::Cooldown { .. } => "cooldown",
            Self::AwaitsRecursion { .. } | Self::ExcludedFromRecursion { .. } => "recursion",
            Self::Decorator | Self::Condition(_) => "decorator",
            Self::NoKeys | Self::NoKeyFound | Self::Secondary { .. } => "no key",
            Self::KeyGaveUp { .. } => "given up",
            Self::Probability { .. } => "probability",
            Self::Group { .. } => "group",
            Self::SameUid => "same uid",
            Self::Budget { .. } | Self::BookBudget { .. } => "budget",
        }
    }
}

pub(crate) fn secondary(key: &Phrase, logic: SelectiveLogic, found: Option<Phrase>) -> Phrase {
    match (logic, found) {
        (SelectiveLogic::AndAny, _) => phrase!("key {key} matches, but no secondary key", key),
        (SelectiveLogic::AndAll, _) => phrase!("key {key} matches, but not all secondary keys", key),
        (SelectiveLogic::NotAll, _) => {
            phrase!("key {key} matches, but so do all secondary keys", key)
        }
        (SelectiveLogic::NotAny, Some(found)) => {
            phrase!("key {key} matches, but so does secondary key {found}", key, found)
        }
        (SelectiveLogic::NotAny, None) => phrase!("key {key} matches, but so does a secondary key", key),
    }
}

impl GroupLoss {
    pub(crate) fn in_group(&self, group: &str, winner: &Phrase) -> Phrase {
        let group = excerpt(group);
        match self {
            Self::Active(_) => phrase!("{winner} is already active in group `{group}`", group, winner),
            Self::Sticky(_) => phrase!("{winner} is sticky in group `{group}`", group, winner),
            Self::Score { own, best, .. } => {
                let best = count_of!(*best, "matching key");
                phrase!("{winner} has {best} in group `{group}`, this entry {own}", group, winner, best, own)
            }
            Self::Override(_) => phrase!("{winner} has priority in group `{group}`", group, winner),
            Self::Draw(_) => phrase!("{winner} won the random choice in group `{group}`", group, winner),
        }
    }

    /// Returns the winner.
    pub const fn winner(&self) -> usize {
        match self {
            Self::Active(winner)
            | Self::Sticky(winner)
            | Self::Score { winner, .. }
            | Self::Override(winner)
            | Self::Draw(winner) => *winner,
        }
    }
}

pub(crate) fn until(end: u64) -> Phrase {
    // Permanent effects end at JavaScript's `Number.MAX_SAFE_INTEGER`.
    if end < ENDLESS {
        phrase!("until the conversation has {messages}", messages = count_of!(end, "message"))
    } else {
        phrase!("permanently")
    }
}

const ENDLESS: u64 = 1 << 52;
