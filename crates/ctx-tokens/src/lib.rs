//! Counts the tokens of texts, messages, and media, looks up model facts, and computes budgets.
//!
//! Start with [`Counter::for_model`].
//!
//! ```
//! use ctx_tokens::{Budget, BudgetRequest, Counter, ModelTable};
//! use ctx_types::ports::TokenCounter as _;
//!
//! let (model, _) = ModelTable::builtin().lookup("openrouter/openai/gpt-4o");
//! assert_eq!((model.encoding.name(), model.context_window), ("o200k_base", Some(128_000)));
//!
//! let (counter, _) = Counter::for_model(&model);
//! assert_eq!(counter.count(""), 0);
//!
//! let (budget, _) = Budget::compute(&model, &BudgetRequest::default())?;
//! assert_eq!(budget.available, Some(128_000 - 16_384 - 3));
//! # Ok::<(), ctx_tokens::BudgetError>(())
//! ```
//!
//! The feature `bpe` (default) counts exactly for OpenAI's models. `bpe-loaded` uses tables from the host.
//! Without these features, every count is marked as an estimate.
#![warn(clippy::disallowed_methods)]

#[cfg(feature = "bpe-loaded")]
mod bpe;
mod budget;
pub mod codes;
#[doc(hidden)]
mod cost;
mod counter;
mod encoding;
#[doc(hidden)]
mod estimate;
mod image;
#[doc(hidden)]
mod media;
mod model;
mod parts;
mod prices;
mod row;
#[doc(hidden)]
mod shares;
mod table;

#[cfg(feature = "bpe")]
pub use bpe::tables;
#[cfg(feature = "bpe-loaded")]
pub use bpe::{TablesError, load_tables};
pub use budget::{Budget, BudgetError, BudgetRequest};
pub use counter::Counter;
pub use encoding::Encoding;
pub use model::ModelFacts;
pub use prices::{Money, PriceTier, PricedTokens, Prices};
pub use table::ModelTable;

// Not part of the API: may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::budget::{BudgetLine, MAX_TOKENS, read_tokens};
    pub use crate::cost::{MessageCost, message_cost, tools_cost};
    pub use crate::estimate::estimate;
    pub use crate::media::{Detail, MediaFamily, MediaItem, has_media, media_cost};
    pub use crate::model::{Capabilities, Overheads};
    pub use crate::shares::shares;
}
