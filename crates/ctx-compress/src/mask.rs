//! Masks: summaries in a session's tree that stand for older messages and hide them while they are switched
//! on.
//!
//! No message is deleted or changed. Compressing takes three steps, and the session is only touched by the
//! caller, after the last: [`MaskPlan::new`] says what will be summarised, [`MaskPlan::summarize`] asks for the
//! summary while the conversation may go on, [`MaskDraft::commit`] makes the one operation that inserts it, if
//! what it stands for has not changed meanwhile. Switching a summary off or deleting it shows everything as it
//! was.

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
