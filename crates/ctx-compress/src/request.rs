//! Compression of requests: less history when a request comes near its budget.
//!
//! A pass runs in steps, a file each: calls and results are paired (`repair.rs`), groups are told apart (`layout.rs`),
//! what must stay is shortened if it alone is too much (`pressure.rs`), a strategy decides about settled history, and
//! the decisions become a plan (`plan.rs`) that is applied.

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
