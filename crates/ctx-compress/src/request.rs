//! Request compression: removes history from a request that comes near its budget.
//!
//! A pass pairs calls and results (`repair.rs`), splits the request into groups (`layout.rs`), shortens protected messages
//! that exceed the budget (`pressure.rs`), asks a strategy about the history, and makes a plan (`plan.rs`).

mod budget_plan;
mod cache;
mod config;
mod coverage;
mod excerpt;
mod key_message;
mod last_rounds;
mod layout;
mod meter;
mod outcome;
mod pipeline;
mod plan;
mod pressure;
mod preview;
mod repair;
mod strategy;
#[cfg(test)]
mod testing;
mod usage;

pub use budget_plan::{BudgetNeed, BudgetPlan, BudgetVerdict, part_costs};
pub use cache::{PrefixStability, prefix_stability};
pub use config::RequestConfig;
pub use coverage::Coverage;
pub(crate) use coverage::{
    Excerpt, begins_with_words_of, each_stem, excerpts, first_name, passages, stem, without_name,
    write_detail, write_prefix, write_whole,
};
pub use key_message::KeyMessage;
pub use last_rounds::LastRounds;
pub use layout::{Part, Protection, is_summary, older_rounds};
pub use meter::Meter;
pub(crate) use meter::quarters;
pub use outcome::{MessageCost, Overflow, PartCost, PassOutcome};
pub use pipeline::{Compression, CompressionPipeline};
pub use plan::{Action, CompressionPlan, CompressionReport, PlanStep};
pub use repair::{Repaired, repair};
pub use strategy::{Fate, Material, PlacedNote, STRATEGIES, Selection, Strategy, strategy};
pub use usage::{ContextUsage, UsageWatch};
