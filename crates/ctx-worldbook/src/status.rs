//! What became of an entry, and why.

use std::fmt;
use std::sync::Arc;

use ctx_types::{Argument, Divider, Phrase, SelectiveLogic, count_of, excerpt, phrase};

use crate::source::Source;

/// What became of an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// It is active: the number of its [`Activation`](crate::Activation) in the scan.
    Activated(usize),
    /// It is not, and why.
    NotActivated(Reason),
}

/// Why an entry became active.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// It is always active.
    Constant,
    /// A decorator says so.
    Decorator,
    /// The host said so.
    External,
    /// It was active before, and stays until the conversation has so many messages.
    Sticky {
        /// The number of messages at which it ends.
        until: u64,
    },
    /// Keys were found.
    Keys {
        /// The first of its keys that was found.
        primary: KeyHit,
        /// The secondary key that decided, if one did.
        secondary: Option<KeyHit>,
    },
}

/// A key that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyHit {
    /// The key as the file has it.
    pub key: Arc<str>,
    /// Where.
    pub place: KeyPlace,
}

/// Where a key was found first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyPlace {
    /// In a message, counted from the newest, which is 0.
    Message(usize),
    /// In a text beside the conversation.
    Source(Source),
    /// In one of the further texts that were given.
    Injected(usize),
    /// In the text of another entry: its number among the members of the set.
    Entry(usize),
}

/// Why an entry did not become active.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// It was not looked at.
    NotConsidered,
    /// It is switched off.
    Disabled,
    /// It is for other kinds of generation.
    Trigger {
        /// The kinds that it is for.
        wanted: Vec<Arc<str>>,
    },
    /// It is for other characters, by their names.
    CharacterName,
    /// It is for other characters, by their tags.
    CharacterTag,
    /// The conversation is too short.
    Delay {
        /// How many messages it needs.
        needed: u64,
    },
    /// It was active, and rests until the conversation has so many messages.
    Cooldown {
        /// The number of messages at which it can become active again.
        until: u64,
    },
    /// It waits for a level of recursion that did not come.
    AwaitsRecursion {
        /// The level.
        level: u32,
    },
    /// Its keys stand in texts of other entries only, which do not activate it.
    ExcludedFromRecursion {
        /// The key.
        key: Arc<str>,
    },
    /// A decorator says so.
    Decorator,
    /// What a decorator asks for does not hold.
    Condition(Phrase),
    /// It has no keys.
    NoKeys,
    /// None of its keys was found.
    NoKeyFound,
    /// The search for one of its keys was given up, and without that key nothing activates it.
    KeyGaveUp {
        /// The key.
        key: Arc<str>,
        /// Why its search was given up.
        why: GaveUp,
    },
    /// A key was found, but secondary keys are not as they should be.
    Secondary {
        /// The key that was found.
        primary: KeyHit,
        /// How they should be.
        logic: SelectiveLogic,
        /// A secondary key that was found and should not be.
        found: Option<KeyHit>,
    },
    /// The draw was against it.
    Probability {
        /// What was drawn, in percent.
        drawn: f64,
        /// What it may be at most.
        probability: f64,
    },
    /// Another entry of its group is active instead.
    Group {
        /// The group.
        group: Arc<str>,
        /// How it lost.
        loss: GroupLoss,
    },
    /// There is no room left.
    Budget {
        /// Its tokens, if they were counted.
        tokens: Option<u32>,
        /// How many all entries may have.
        budget: u64,
    },
    /// Another entry of its book with the same uid is active.
    SameUid,
    /// There is no room left in its book's own budget.
    BookBudget {
        /// Its tokens.
        tokens: u32,
        /// How many tokens the entries of the book may have.
        budget: u64,
    },
}

/// Why the search for a key was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GaveUp {
    /// It is more work than the search for one key may be.
    TooHard,
    /// Searches for keys have spent the steps that all of them have together.
    StepsSpent,
}

/// How an entry lost its place in a group.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupLoss {
    /// Another one is active already; its number among the members.
    Active(usize),
    /// Another one is sticky.
    Sticky(usize),
    /// Another one has more keys that were found.
    Score {
        /// How many of its own keys were found.
        own: usize,
        /// How many of the best.
        best: usize,
        /// The best; its number among the members.
        winner: usize,
    },
    /// Another one always wins.
    Override(usize),
    /// Another one won the draw.
    Draw(usize),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

impl Reason {
    /// Writes it in one phrase; [`BookSet::describe_reason`](crate::BookSet::describe_reason) names other entries too.
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
            Self::Budget { tokens: Some(tokens), budget } => phrase!(
                "its {tokens} exceed the remaining budget (of {budget})",
                tokens = count_of!(*tokens, "token"),
                budget = count_of!(*budget, "token")
            ),
            Self::Budget { tokens: None, budget } => {
                phrase!("the budget of {budget} is used up", budget = count_of!(*budget, "token"))
            }
            Self::SameUid => phrase!("another entry with the same uid is active"),
            Self::BookBudget { tokens, budget } => phrase!(
                "its {tokens} exceed its worldbook's remaining budget (of {budget})",
                tokens = count_of!(*tokens, "token"),
                budget = count_of!(*budget, "token")
            ),
        }
    }

    /// Returns the word for lists: which rule kept the entry out.
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

/// Describes how secondary keys are not as they should be, with words for the keys that were found.
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
    /// Describes how it lost in a group, with words for the entry that it lost to.
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

    /// Returns the number of the entry that it lost to, among the members.
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

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Activated(_) => f.write_str("it is active"),
            Self::NotActivated(reason) => reason.fmt(f),
        }
    }
}

/// Describes when an effect ends that lasts until the conversation has so many messages.
pub(crate) fn until(end: u64) -> Phrase {
    // An effect without an end is as long as JavaScript can count.
    if end < ENDLESS {
        phrase!("until the conversation has {messages}", messages = count_of!(end, "message"))
    } else {
        phrase!("permanently")
    }
}

/// More messages than any conversation comes to.
const ENDLESS: u64 = 1 << 52;
