//! Marks that ask a provider to keep the beginning of a request for the next one.

/// A wish on a message: the provider should keep everything up to the end of it.
///
/// Dialects without such marks leave it out; it changes no word and no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CacheMark {
    /// As long as the provider keeps it by default: some minutes.
    Short,
    /// As long as the provider offers, an hour for instance.
    Long,
}

impl CacheMark {
    /// Returns the word for reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
        }
    }
}

/// Where an assembly puts cache marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CachePolicy {
    /// Nowhere; servers that find repetitions by themselves need none.
    #[default]
    Off,
    /// At the end of the part that will be the same next turn, and at the end of the leading instructions in it.
    Stable,
}

impl CachePolicy {
    /// Every policy, in the order in which help lists them.
    pub const ALL: [Self; 2] = [Self::Off, Self::Stable];

    /// Returns the spelling of settings and command lines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Stable => "stable",
        }
    }

    /// Reads the spelling; anything else is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == text)
    }
}
