use std::fmt;

use ctx_types::{Diagnostic, EncodingId, TokenCounter, phrase};

use crate::codes;
use crate::encoding::Encoding;
use crate::estimate::{estimate, estimate_till_limit};
use crate::model::ModelFacts;
use crate::parts::parts;

/// Counts tokens of plain text by tokenizer or estimate.
///
/// The first count or [`Counter::warm`] prepares a tokenizer once per process: a regular expression with
/// `bpe` (5 ms, 2 MB), all tables with `tiktoken` (0.2 s, up to 70 MB).
///
/// ```
/// use ctx_tokens::{Counter, Encoding};
/// use ctx_types::{Text, TokenCounter};
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
    engine: Engine,
    is_exact: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    Estimate,
    #[cfg(feature = "tiktoken")]
    Tiktoken,
    #[cfg(feature = "bpe-loaded")]
    Bpe,
}

impl Counter {
    /// Creates a counter without a tokenizer.
    pub const fn estimate() -> Self {
        Self { encoding: Encoding::Estimate, engine: Engine::Estimate, is_exact: false }
    }

    /// Creates the fastest available counter of an encoding.
    pub fn new(encoding: Encoding) -> Option<Self> {
        if encoding == Encoding::Estimate {
            return Some(Self::estimate());
        }
        #[cfg(feature = "bpe-loaded")]
        if let Some(counter) = Self::bpe(encoding) {
            return Some(counter);
        }
        #[cfg(feature = "tiktoken")]
        return Self::tiktoken(encoding);
        #[cfg(not(feature = "tiktoken"))]
        None
    }

    /// Creates a `tiktoken-rs` counter; `None` for [`Encoding::Estimate`].
    ///
    /// Exact, unless half a megabyte has no safe split point: each split there can add or save a token.
    #[cfg(feature = "tiktoken")]
    pub fn tiktoken(encoding: Encoding) -> Option<Self> {
        let counter = Self { encoding, engine: Engine::Tiktoken, is_exact: true };
        (encoding != Encoding::Estimate).then_some(counter)
    }

    /// Creates a counter with built-in or loaded tables; `None` if the encoding has none.
    #[cfg(feature = "bpe-loaded")]
    pub fn bpe(encoding: Encoding) -> Option<Self> {
        let counter = Self { encoding, engine: Engine::Bpe, is_exact: true };
        crate::bpe::has(encoding).then_some(counter)
    }

    /// Creates a counter for a model, or the estimate and a diagnostic.
    pub fn for_model(model: &ModelFacts) -> (Self, Option<Diagnostic>) {
        let Some(counter) = Self::new(model.encoding) else {
            let message = phrase!(
                "no tokenizer for `{encoding}` is built in; tokens are estimated",
                encoding = model.encoding.to_string()
            );
            let help = phrase!("enable the feature `tiktoken` or `bpe` of ctx-tokens");
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

    /// Returns `estimate`, `tiktoken-rs`, or `bpe`.
    pub const fn engine_name(self) -> &'static str {
        match self.engine {
            Engine::Estimate => "estimate",
            #[cfg(feature = "tiktoken")]
            Engine::Tiktoken => "tiktoken-rs",
            #[cfg(feature = "bpe-loaded")]
            Engine::Bpe => "bpe",
        }
    }

    /// Splits a text at line starts, so that parts can be cached and their tokens add up.
    ///
    /// Only the `bpe` engine splits.
    ///
    /// ```
    /// use ctx_tokens::{Counter, Encoding};
    /// use ctx_types::TokenCounter;
    ///
    /// let Some(counter) = Counter::new(Encoding::O200kBase) else { return };
    /// let text = "one line\n\n  two\nand three";
    /// let parts: u32 = counter.parts(text).map(|part| counter.count(part)).sum();
    /// assert_eq!(parts, counter.count(text));
    /// ```
    pub fn parts(self, text: &str) -> impl Iterator<Item = &str> {
        let is_divisible = match self.engine {
            #[cfg(feature = "bpe-loaded")]
            Engine::Bpe => true,
            _ => false,
        };
        let (divided, whole) = if is_divisible { (text, "") } else { ("", text) };
        parts(divided).chain(Some(whole).filter(|whole| !whole.is_empty()))
    }

    /// Prepares the tokenizer: 14 MB in about 10 ms with `bpe`; all tables with `tiktoken`.
    pub fn warm(self) {
        match self.engine {
            #[cfg(feature = "bpe-loaded")]
            Engine::Bpe => crate::bpe::load(self.encoding),
            _ => {
                let _: u32 = self.count("a");
            }
        }
    }
}

impl TokenCounter for Counter {
    fn encoding(&self) -> EncodingId {
        self.encoding.id()
    }

    fn count(&self, text: &str) -> u32 {
        match self.engine {
            Engine::Estimate => estimate(text),
            #[cfg(feature = "tiktoken")]
            Engine::Tiktoken => crate::tiktoken::count(self.encoding, text),
            #[cfg(feature = "bpe-loaded")]
            Engine::Bpe => crate::bpe::count(self.encoding, text),
        }
    }

    fn count_till_limit(&self, text: &str, limit: u32) -> Option<u32> {
        match self.engine {
            Engine::Estimate => estimate_till_limit(text, limit),
            #[cfg(feature = "tiktoken")]
            Engine::Tiktoken => crate::tiktoken::count_till_limit(self.encoding, text, limit),
            #[cfg(feature = "bpe-loaded")]
            Engine::Bpe => crate::bpe::count_till_limit(self.encoding, text, limit),
        }
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
