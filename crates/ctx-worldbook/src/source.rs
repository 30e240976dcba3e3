use ctx_types::{Phrase, phrase};

/// A searched text outside the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// User profile.
    Persona,
    /// Character description.
    Description,
    /// Personality.
    Personality,
    /// Character's note at a depth.
    DepthPrompt,
    /// Scenario.
    Scenario,
    /// Creator's notes.
    CreatorNotes,
}

impl Source {
    /// All, in search order.
    pub const ALL: [Self; 6] = [
        Self::Persona,
        Self::Description,
        Self::Personality,
        Self::DepthPrompt,
        Self::Scenario,
        Self::CreatorNotes,
    ];

    /// Describes the source.
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

/// Set of [`Source`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceSet(u8);

impl SourceSet {
    /// Returns whether the set contains a source.
    pub const fn contains(self, source: Source) -> bool {
        self.0 & source.bit() != 0
    }

    /// Adds a source.
    #[must_use]
    pub const fn with(self, source: Source) -> Self {
        Self(self.0 | source.bit())
    }

    /// Returns the first common source.
    pub(crate) fn first_common(self, other: Self) -> Option<Source> {
        Source::ALL.into_iter().find(|source| self.contains(*source) && other.contains(*source))
    }
}

impl FromIterator<Source> for SourceSet {
    fn from_iter<I: IntoIterator<Item = Source>>(sources: I) -> Self {
        sources.into_iter().fold(Self::default(), Self::with)
    }
}
