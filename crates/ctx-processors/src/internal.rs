pub use crate::append_only::{AppendOnly, InsertedTexts, ReasoningRule};
pub use crate::compression::{CompressionCache, compress_window};
pub use crate::default_set::built_in_processors;
pub use crate::macro_values::{AgentMacros, macro_dialect};
pub use crate::message_costs::cost_upper_bound;
pub use crate::recall::RecallCache;
pub use crate::regex_processor::ActiveRules;
pub use crate::token_limiter::LimiterResult;
pub use crate::unsent::unsent;
pub use crate::variables::{VariableDefinition, VariableDefinitions, VariableValue, Variables};
pub use crate::window::{LoadedWindow, WindowSize};
pub use crate::worldbook_processor::{NewestHit, WorldbookScan};
pub use crate::worldbooks::{keep_worldbook_state, worldbook_state};

pub mod ids {
    pub const ASSET_RESOLVER: &str = "asset-resolver";
    pub const INJECTION_ASSEMBLER: &str = "injection-assembler";
    pub const MERGE_CONSECUTIVE_ROLES: &str = "merge-consecutive-roles";
    pub const MERGE_SYSTEM_TO_HEAD: &str = "merge-system-to-head";
    pub const RECALL: &str = "recall";
    pub const REQUEST_COMPRESSOR: &str = "request-compressor";
    pub const SESSION_LOADER: &str = "session-loader";
    pub const TOKEN_LIMITER: &str = "token-limiter";
    pub const VARIABLE_PROCESSOR: &str = "variable-processor";
    pub const WORLDBOOK_PROCESSOR: &str = "worldbook-processor";
}
