//! Tools that a model may call: the port behind which they are, and who may call which.

mod policy;
mod run;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ctx_pipeline::Cancel;
use ctx_types::ToolCall;
use ctx_types::ports::ToolDefinition;

pub use policy::{ToolPolicy, ToolRules};
pub(crate) use run::{Calling, Ran};

/// Has tools and carries out calls of them.
#[async_trait]
pub trait ToolHost: Send + Sync {
    /// Returns the tools in the order in which they are sent; equal calls give equal lists.
    fn tools(&self) -> Vec<Tool>;

    /// Carries out a call and returns its result.
    ///
    /// Calls of one answer run at the same time. The caller limits time and size and catches panics. When nobody
    /// waits for the result any more, be it that the time is over, the future is dropped and `cancel` called: work
    /// that goes on elsewhere should look at it.
    async fn call(&self, call: &ToolCall, cancel: &Cancel) -> Result<String, ToolError>;
}

/// A tool, and what decides who may call it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// What the model is told.
    pub definition: ToolDefinition,
    /// The kind of tool, by which policies name several at once.
    pub category: Option<Arc<str>>,
    /// Whether somebody has to agree to each call.
    pub needs_approval: bool,
}

impl Tool {
    /// A tool without a category, to whose calls nobody need agree.
    pub fn new(definition: ToolDefinition) -> Self {
        Self { definition, category: None, needs_approval: false }
    }

    /// Returns the name by which it is called.
    pub fn name(&self) -> &str {
        &self.definition.name
    }
}

/// Why a call has no result; the model is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

/// Agrees to calls or not, usually by asking the user.
#[async_trait]
pub trait Approval: Send + Sync {
    /// Returns whether a call may be carried out; asked one call after the other, in their order.
    async fn approve(&self, call: &ToolCall) -> Verdict;
}

/// What was said about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may be carried out.
    Allowed,
    /// It may not; the model is told why.
    Refused(String),
}

/// What calls may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// How long one call may take; 60 s by default.
    pub time: Duration,
    /// How many bytes of a result are taken; what follows is cut off. 16 MiB by default.
    ///
    /// A conversation keeps less than that of a large one; see [`SpillFolder`](crate::SpillFolder).
    pub bytes: usize,
    /// How many calls run at the same time; 8 by default.
    pub parallel: usize,
    /// How long somebody who has to agree may take; 10 min by default.
    pub approval: Duration,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(60),
            bytes: 16 << 20,
            parallel: 8,
            approval: Duration::from_secs(600),
        }
    }
}
