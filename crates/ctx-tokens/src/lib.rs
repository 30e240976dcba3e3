//! Counts the tokens of texts, messages, and media, looks up model facts, and computes budgets.
//!
//! Start with [`Counter::for_model`].
//!
//! ```
//! use ctx_tokens::{Budget, BudgetRequest, Counter, ModelTable, message_cost};
//! use ctx_types::{Message, Role, Source, TokenCounter};
//!
//! let (model, _) = ModelTable::builtin().lookup("openrouter/openai/gpt-4o");
//! assert_eq!((model.encoding.name(), model.context_window), ("o200k_base", Some(128_000)));
//!
//! let (counter, _) = Counter::for_model(&model);
//! assert_eq!(counter.count(""), 0);
//! let message = Message::new(Role::User, "hello world", Source::history("n1", Role::User));
//! let cost = message_cost(&message, &model, &counter);
//! assert_eq!((cost.per_message, cost.total() - cost.text), (3, 3));
//!
//! let (budget, _) = Budget::compute(&model, &BudgetRequest::default())?;
//! assert_eq!(budget.available, Some(128_000 - 16_384 - 3));
//! # Ok::<(), ctx_tokens::BudgetError>(())
//! ```
//!
//! The feature `bpe` (default) counts exactly in OpenAI's encodings. `bpe-loaded` uses tables from the host.
//! Without these features, every count is marked as an estimate.
#![warn(clippy::disallowed_methods)]

#[cfg(feature = "bpe-loaded")]
mod bpe;
mod budget;
pub mod codes;
mod cost;
mod counter;
mod encoding;
mod estimate;
mod image;
mod media;
mod model;
mod parts;
mod row;
mod shares;
mod table;

#[cfg(feature = "bpe")]
pub use bpe::tables;
#[cfg(feature = "bpe-loaded")]
pub use bpe::{TablesError, load_tables};
pub use budget::{Budget, BudgetError, BudgetLine, BudgetRequest, MAX_TOKENS, read_tokens};
pub use cost::{MessageCost, message_cost, tools_cost};
pub use counter::Counter;
pub use encoding::Encoding;
pub use estimate::estimate;
pub use media::{Detail, MediaFamily, MediaItem, has_media, media_cost};
pub use model::{Capabilities, ModelFacts, Overheads};
pub use shares::shares;
pub use table::ModelTable;
