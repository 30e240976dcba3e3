use std::fmt;

use ctx_types::ports::TokenCounter;
use ctx_types::{Diagnostic, EncodingId, phrase};

use crate::codes;
use crate::encoding::Encoding;
use crate::estimate::estimate_till_limit;
use crate::model::ModelFacts;
use crate::parts::parts;

/// Counts tokens of plain text by tokenizer or estimate.
///
/// The first count or [`Counter::warm`] prepares a tokenizer once per process (5 ms, 2 MB).
///
/// ```
/// use ctx_tokens::{Counter, Encoding};
/// use ctx_types::Text;
/// use ctx_types::ports::TokenCounter;
///
/// let counter = Counter::estimate();
/// assert_eq!(counter.to_string(), "estimate");
/// assert!(!counter.is_exact());
///
/// let text = Text::from("remembered by all clones");
/// assert_eq!(counter.count_text(&text), 6);
/// assert_eq!(text.known_tokens(Encoding::Estimate.id()), Some(6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    encoding: Encoding,
    is_exact: bool,
}

impl Counter {
    /// Creates a counter without a tokenizer.
    pub const fn estimate() -> Self {
        Self { encoding: Encoding::Estimate, is_exact: false }
    }

    /// Creates a counter with built-in or loaded tables; `None` if the encoding has none.
    pub fn new(encoding: Encoding) -> Option<Self> {
        if encoding == Encoding::Estimate {
            return Some(Self::estimate());
        }
        #[cfg(feature = "bpe-loaded")]
        if crate::bpe::has(encoding) {
            return Some(Self { encoding, is_exact: true });
        }
        None
    }

    /// Creates a counter for a model, or the estimate and a diagnostic.
    pub fn for_model(model: &ModelFacts) -> (Self, Option<Diagnostic>) {
        let Some(counter) = Self::new(model.encoding) else {
            let message = phrase!(
                "no tokenizer for `{encoding}` is built in; tokens are estimated",
                encoding = model.encoding.to_string()
            );
            let help = phrase!("enable the feature `bpe` of ctx-tokens");
            return (
                Self::estimate(),
                Some(Diagnostic::warning(codes::NO_TOKENIZER, message).with_help(help)),
            );
        };
        (Self { is_exact: counter.is_exact && model.is_exact, ..counter }, None)
    }

    /// Returns the encoding; [`TokenCounter::encoding`] returns its id.
    pub const fn kind(self) -> Encoding {
        self.encoding
    }

    /// Returns whether counts are exact for the model. Another family's encoding gives estimates.
    pub const fn is_exact(self) -> bool {
        self.is_exact
    }

    /// Splits a text at line starts, so that parts can be cached and their tokens add up.
    ///
    /// The estimate does not split.
    ///
    /// ```
    /// use ctx_tokens::{Counter, Encoding};
    /// use ctx_types::ports::TokenCounter;
    ///
    /// let Some(counter) = Counter::new(Encoding::O200kBase) else { return };
    /// let text = "one line\n\n  two\nand three";
    /// let parts: u32 = counter.parts(text).map(|part| counter.count(part)).sum();
    /// assert_eq!(parts, counter.count(text));
    /// ```
    pub fn parts(self, text: &str) -> impl Iterator<Item = &str> {
        let is_divisible = self.encoding != Encoding::Estimate;
        let (divided, whole) = if is_divisible { (text, "") } else { ("", text) };
        parts(divided).chain(Some(whole).filter(|whole| !whole.is_empty()))
    }

    /// Prepares the tokenizer: 14 MB in about 10 ms.
    pub fn warm(self) {
        #[cfg(feature = "bpe-loaded")]
        crate::bpe::load(self.encoding);
    }
}

impl TokenCounter for Counter {
    fn encoding(&self) -> EncodingId {
        self.encoding.id()
    }

    fn count(&self, text: &str) -> u32 {
        self.count_till_limit(text, u32::MAX).unwrap_or(u32::MAX)
    }

    fn count_till_limit(&self, text: &str, limit: u32) -> Option<u32> {
        #[cfg(feature = "bpe-loaded")]
        if self.encoding != Encoding::Estimate {
            return crate::bpe::count_till_limit(self.encoding, text, limit);
        }
        estimate_till_limit(text, limit)
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.encoding.name())?;
        match (self.encoding, self.is_exact) {
            (Encoding::Estimate, _) | (_, true) => Ok(()),
            (_, false) => f.write_str(" as an estimate"),
        }
    }
}
