//! Compaction: summaries in the tree of a session, which hide older messages while they are enabled.
//!
//! No message is deleted or changed. [`MaskPlan::new`] selects the messages. [`MaskPlan::summarize`] writes the summary
//! while the conversation may continue. [`MaskDraft::commit`] makes the operation that inserts it, if the messages have
//! not changed. Only the caller changes the session. A disabled or deleted summary shows its messages again.

mod accept;
mod appendix;
mod ask;
mod check;
mod commit;
mod config;
mod details;
mod draft;
mod extract;
mod items;
mod kind;
mod language;
mod parts;
mod plan;
mod plan_json;
mod prompt;
mod range;
mod record;
mod switch;
mod texts;
mod transcript;
mod trigger;

pub use accept::SummaryFault;
pub use ask::SummaryFailure;
pub use check::check_summaries;
pub use commit::{MaskCommit, StaleMask};
pub use config::{MaskConfig, MaskLayer, MaskLevel, MaskSettings, MaskValue, TriggerMode};
pub use details::{ListedNode, MaskDetails, MaskNotice, MaskState, MaskStatistics};
pub use draft::{MadeBy, MaskDraft, Summarizing};
pub use extract::{Extract, Extraction, extract};
pub use kind::ConversationKind;
pub use language::Language;
pub use plan::{MaskPlan, MaskTarget, Material, SummaryTask};
pub use range::{MaskRange, MaskSelection, NoRange};
pub use switch::{SummaryError, delete_summary, edit_summary, switch_appendix, switch_summary};
pub use trigger::{MaskTotals, MaskTrigger};
