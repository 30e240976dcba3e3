//! When no context fits: which parts take how much.

use std::fmt;

use ctx_types::{Message, Place, SourceKind};

/// No context fits the budget: what may not be dropped is too much. Names the parts and their tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// The tokens that messages may have.
    pub available: u32,
    /// What may not be dropped, and its tokens; parts without tokens are left out.
    pub parts: Vec<(&'static str, u64)>,
}

impl Infeasible {
    /// Adds up what may not be dropped, by kind.
    pub fn new(available: u32, costs: &[(&Message, u64)]) -> Self {
        let sum = |name: &'static str| {
            let tokens = costs
                .iter()
                .filter(|(message, _)| part_name(message) == name)
                .map(|(_, tokens)| tokens)
                .sum();
            (name, tokens)
        };
        let parts = PARTS.into_iter().map(sum).filter(|(_, tokens): &(_, u64)| *tokens > 0).collect();
        Self { available, parts }
    }

    /// Adds the tokens that stages after the limiter write, if any; `available` is the whole budget, of which
    /// room was to be left for them.
    #[must_use]
    pub fn beside_later_stages(mut self, available: u32, written: u64) -> Self {
        if written > 0 {
            self.parts.push((LATER, written));
        }
        Self { available, ..self }
    }

    /// Returns the tokens of all parts.
    pub fn needed(&self) -> u64 {
        self.parts.iter().map(|(_, tokens)| tokens).sum()
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let are = if self.available == 1 { "token is" } else { "tokens are" };
        write!(f, "{} {are} available, but {} cannot be dropped", self.available, self.needed())?;
        for (index, (name, tokens)) in self.parts.iter().enumerate() {
            write!(f, "{}{name} {tokens}", if index == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for Infeasible {}

const PRESET: &str = "preset";
const INJECTIONS: &str = "injections";
const PINNED: &str = "leading instructions";
const PENDING: &str = "pending turn";
const OTHER: &str = "other";
const LATER: &str = "later stages";
const PARTS: [&str; 5] = [PRESET, INJECTIONS, PINNED, PENDING, OTHER];

fn part_name(message: &Message) -> &'static str {
    match (message.source.kind, message.place) {
        (_, Place::Pinned) => PINNED,
        (kind, Place::History) if kind.is_history() || kind == SourceKind::Merged => PENDING,
        (SourceKind::Preset, _) => PRESET,
        (SourceKind::Worldbook | SourceKind::Plugin, _) => INJECTIONS,
        _ => OTHER,
    }
}
