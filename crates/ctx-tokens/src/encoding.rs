use std::fmt;

use ctx_types::EncodingId;

/// A token encoding. Special tokens count as plain text, so `o200k_harmony` is the same as `o200k_base`.
///
/// | encoding | [`EncodingId`] |
/// |---|---|
/// | `estimate` | 1 |
/// | `cl100k_base` | 2 |
/// | `o200k_base`, `o200k_harmony` | 3 |
///
/// Ids can be stored and are never reused.
///
/// ```
/// use ctx_tokens::Encoding;
///
/// assert_eq!(Encoding::parse("o200k_harmony"), Some(Encoding::O200kBase));
/// assert_eq!(Encoding::O200kBase.id().0, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// No tokenizer: ASCII characters divided by 4, plus all others.
    Estimate,
    /// GPT-4 and GPT-3.5.
    Cl100kBase,
    /// GPT-4o and later.
    O200kBase,
}

impl Encoding {
    /// All encodings, by id.
    pub const ALL: [Self; 3] = [Self::Estimate, Self::Cl100kBase, Self::O200kBase];

    /// Returns the id for cached counts.
    pub const fn id(self) -> EncodingId {
        EncodingId(match self {
            Self::Estimate => 1,
            Self::Cl100kBase => 2,
            Self::O200kBase => 3,
        })
    }

    /// Returns the name in model tables and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Estimate => "estimate",
            Self::Cl100kBase => "cl100k_base",
            Self::O200kBase => "o200k_base",
        }
    }

    /// Parses a name, including `o200k_harmony`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "o200k_harmony" => Some(Self::O200kBase),
            name => Self::ALL.into_iter().find(|encoding| encoding.name() == name),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
