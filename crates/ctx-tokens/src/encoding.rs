//! The encodings that this crate counts in, and their stable identities.

use std::fmt;

use ctx_types::EncodingId;

/// A way to cut text into tokens.
///
/// Special tokens such as `<|endoftext|>` count as the plain text that they are in a message; so
/// `o200k_harmony`, which differs from `o200k_base` in its special tokens alone, is another name of it.
///
/// | encoding | [`EncodingId`] |
/// |---|---|
/// | `estimate` | 1 |
/// | `cl100k_base` | 2 |
/// | `o200k_base`, `o200k_harmony` | 3 |
///
/// Identities may be stored beside counts; they are never given to another encoding.
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
    /// No tokenizer: the formula of [`estimate`](crate::estimate()).
    Estimate,
    /// GPT-4 and GPT-3.5.
    Cl100kBase,
    /// GPT-4o and everything of OpenAI since.
    O200kBase,
}

impl Encoding {
    /// Every encoding, in the order of their identities.
    pub const ALL: [Self; 3] = [Self::Estimate, Self::Cl100kBase, Self::O200kBase];

    /// Returns the identity under which texts remember their counts.
    pub const fn id(self) -> EncodingId {
        EncodingId(match self {
            Self::Estimate => 1,
            Self::Cl100kBase => 2,
            Self::O200kBase => 3,
        })
    }

    /// Returns the name used in model tables and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Estimate => "estimate",
            Self::Cl100kBase => "cl100k_base",
            Self::O200kBase => "o200k_base",
        }
    }

    /// Reads a name, `o200k_harmony` included; any other is `None`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "o200k_harmony" => Some(Self::O200kBase),
            name => Self::ALL.into_iter().find(|encoding| encoding.name() == name),
        }
    }

    /// Returns whether a tokenizer for it is compiled in; [`Encoding::Estimate`] needs none.
    pub const fn is_available(self) -> bool {
        matches!(self, Self::Estimate) || cfg!(any(feature = "tiktoken", feature = "bpe"))
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
