/// Asks the provider to cache the request up to a message.
///
/// Ignored by API dialects without cache marks. Does not affect text or tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CacheMark {
    /// The provider's default lifetime: some minutes.
    Short,
    /// The provider's longest lifetime, for example an hour.
    Long,
}

impl CacheMark {
    /// Returns the name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
        }
    }
}

/// Placement of cache marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CachePolicy {
    /// No marks, for servers with automatic prefix caching.
    #[default]
    Off,
    /// After the prefix that the next turn repeats, and after its leading system messages.
    Stable,
}

impl CachePolicy {
    /// All policies, in the order of the help text.
    pub const ALL: [Self; 2] = [Self::Off, Self::Stable];

    /// Returns the value in settings and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Stable => "stable",
        }
    }

    /// Parses a policy.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == text)
    }
}
