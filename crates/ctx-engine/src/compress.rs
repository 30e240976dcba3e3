//! Summaries in a conversation tree: planned here, written by the host's model, undone by one operation.

pub use ctx_compress::mask::{
    MaskCommit, MaskConfig, MaskDraft, MaskLayer, MaskPlan, MaskRange, MaskSelection, MaskSettings,
    MaskTrigger, NoRange, StaleMask, Summarizing, SummaryError, SummaryFailure, SummaryFault, SummaryTask,
    delete_summary, edit_summary, switch_summary,
};
