mod cache;
mod report;
mod result;
mod settings;

pub use cache::CompressionCache;
pub use settings::compress_window;

/// Blackboard entry, set if a prefix is compressed: tokens left below the compression trigger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompressionBudget {
    pub(crate) tokens: u64,
}

pub(crate) use report::{report_outcome, report_repairs};
pub(crate) use result::{CompressionInput, CompressionResult};
pub(crate) use settings::{CompressionSettings, Settings};
