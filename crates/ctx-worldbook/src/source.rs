//! Texts beside the conversation in which keys may be looked for.

use ctx_types::{Phrase, phrase};

/// A text beside the conversation in which keys may be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// What the user's profile says.
    Persona,
    /// The description of the character.
    Description,
    /// Its personality.
    Personality,
    /// Its note at a depth.
    DepthPrompt,
    /// The scenario.
    Scenario,
    /// The notes of the card's creator.
    CreatorNotes,
}

impl Source {
    /// All, in the order in which they are searched.
    pub const ALL: [Self; 6] = [
        Self::Persona,
        Self::Description,
        Self::Personality,
        Self::DepthPrompt,
        Self::Scenario,
        Self::CreatorNotes,
    ];

    /// Returns the words for reports.
    pub fn phrase(self) -> Phrase {
        match self {
            Self::Persona => phrase!("the user profile"),
            Self::Description => phrase!("the character's description"),
            Self::Personality => phrase!("the character's personality"),
            Self::DepthPrompt => phrase!("the character's note"),
            Self::Scenario => phrase!("the scenario"),
            Self::CreatorNotes => phrase!("the creator's notes"),
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of [`Source`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceSet(u8);

impl SourceSet {
    /// Returns whether a source is in the set.
    pub const fn contains(self, source: Source) -> bool {
        self.0 & source.bit() != 0
    }

    /// Adds a source.
    #[must_use]
    pub const fn with(self, source: Source) -> Self {
        Self(self.0 | source.bit())
    }

    /// Returns the first source that is in both sets.
    pub fn first_common(self, other: Self) -> Option<Source> {
        Source::ALL.into_iter().find(|source| self.contains(*source) && other.contains(*source))
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }
}

impl FromIterator<Source> for SourceSet {
    fn from_iter<I: IntoIterator<Item = Source>>(sources: I) -> Self {
        sources.into_iter().fold(Self::default(), Self::with)
    }
}
