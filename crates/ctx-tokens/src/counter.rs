//! The token counters.

use std::fmt;

use ctx_types::{Diagnostic, EncodingId, TokenCounter, phrase};

use crate::codes;
use crate::encoding::Encoding;
use crate::estimate::{estimate, estimate_till_limit};
use crate::model::ModelFacts;
use crate::parts::parts;

/// Counts the tokens of plain text: exactly with a tokenizer, or by a labelled estimate.
///
/// What a tokenizer needs is made ready at the first count, once per process: with the feature `bpe` an
/// expression (some 5 ms and 2 MB), with `tiktoken` all of its tables (0.2 s, up to 70 MB).
/// They are immutable constants in another form, so that sharing them is no hidden state; [`Counter::warm`]
/// makes them ready beforehand, on another thread if the host likes.
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

/// What does the counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    Estimate,
    #[cfg(feature = "tiktoken")]
    Tiktoken,
    #[cfg(feature = "bpe-loaded")]
    Bpe,
}

impl Counter {
    /// Creates the counter that needs no tokenizer.
    pub const fn estimate() -> Self {
        Self { encoding: Encoding::Estimate, engine: Engine::Estimate, is_exact: false }
    }

    /// Creates the fastest counter of an encoding that is compiled in or loaded; `None` if there is none.
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

    /// Creates the counter that uses `tiktoken-rs`; `None` for [`Encoding::Estimate`].
    ///
    /// It is exact with one exception: where a text runs on for half a megabyte without a break between
    /// words or lines, it is counted in pieces, each of which may add or save a token.
    #[cfg(feature = "tiktoken")]
    pub fn tiktoken(encoding: Encoding) -> Option<Self> {
        let counter = Self { encoding, engine: Engine::Tiktoken, is_exact: true };
        (encoding != Encoding::Estimate).then_some(counter)
    }

    /// Creates the counter whose tables are part of the program or were loaded; `None` for [`Encoding::Estimate`], and
    /// where there are no tables.
    #[cfg(feature = "bpe-loaded")]
    pub fn bpe(encoding: Encoding) -> Option<Self> {
        let counter = Self { encoding, engine: Engine::Bpe, is_exact: true };
        crate::bpe::has(encoding).then_some(counter)
    }

    /// Creates the counter for a model.
    ///
    /// Where the model's encoding is not compiled in, that is the estimate, with a diagnostic.
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

    /// Returns the encoding that it counts in; [`TokenCounter::encoding`] gives that one's identity.
    pub const fn kind(self) -> Encoding {
        self.encoding
    }

    /// Returns whether its counts are those of the model, rather than an estimate.
    ///
    /// A counter for a model of another family counts exactly in a foreign encoding: that is an estimate.
    pub const fn is_exact(self) -> bool {
        self.is_exact
    }

    /// Returns the name of what does the counting: `estimate`, `tiktoken-rs` or `bpe`.
    pub const fn engine_name(self) -> &'static str {
        match self.engine {
            Engine::Estimate => "estimate",
            #[cfg(feature = "tiktoken")]
            Engine::Tiktoken => "tiktoken-rs",
            #[cfg(feature = "bpe-loaded")]
            Engine::Bpe => "bpe",
        }
    }

    /// Cuts a text into parts whose tokens add up to those of the text, so that a part that comes again need not be
    /// counted again: at the beginnings of lines, where the encoding allows it, else not at all.
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

    /// Loads what counts would load: with the feature `bpe` 14 MB of tables and expressions, in some 10 ms; with
    /// `tiktoken` all of its tables. A host calls it where it starts, so that no turn pays for it.
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
