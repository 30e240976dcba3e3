use ctx_tokens::{Budget, ModelFacts};
use ctx_types::ports::{AttachmentPorts, Stopwatch, TokenCounter};
use ctx_types::session::{LogLine, Session};
use ctx_types::{Agent, Diagnostic, TurnInput, UserProfile};

use crate::blackboard::Blackboard;
use crate::control::{Cancel, Control};
use crate::draft::Draft;
use crate::error::ProcessorError;
use crate::log::StageLog;
use crate::pipeline::Stage;
use crate::processor::PreparedData;
use crate::settings::Config;

/// Read-only inputs of a run.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The user profile.
    pub profile: Option<&'a UserProfile>,
    /// The conversation.
    pub session: &'a Session,
    /// Data that may differ between two turns.
    pub turn: &'a TurnInput,
    /// Facts about the model of the request.
    pub model: &'a ModelFacts,
    /// Token counter.
    pub counter: &'a dyn TokenCounter,
    /// Token budget.
    pub budget: &'a Budget,
    /// Cancels the run.
    pub cancel: &'a Cancel,
    /// Host services for attachments.
    pub attachments: AttachmentPorts<'a>,
    /// Computes embeddings; without it, recall searches by words only.
    pub embedder: Option<&'a dyn ctx_types::ports::Embedder>,
    /// Limits the time of each processor; unlimited by default.
    pub deadline: Option<&'a dyn ctx_types::ports::Deadline>,
    /// Measures the time of each processor.
    pub stopwatch: Option<&'a dyn Stopwatch>,
}

ctx_types::opaque!(Inputs<'_>);

/// View of the run for a processor.
pub struct PipelineContext<'a> {
    /// Result of the run so far.
    pub draft: &'a mut Draft,
    /// Read-only inputs.
    pub inputs: Inputs<'a>,
    /// Settings of the processor.
    pub config: &'a Config,
    /// Data that the processor prepared for the agent.
    pub prepared: &'a PreparedData,
    /// Values shared between processors.
    pub blackboard: &'a mut Blackboard,
    pub(crate) stages: &'a [Stage],
    pub(crate) log: &'a mut StageLog,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
}

ctx_types::opaque!(PipelineContext<'_>);

impl PipelineContext<'_> {
    /// Logs a phrase, or a [`LogLine`] with a level and details.
    ///
    /// Keeps up to 1,000 lines per processor and 16 KiB of details per line.
    ///
    /// ```
    /// # use ctx_pipeline::PipelineContext;
    /// use ctx_types::phrase;
    /// use ctx_types::session::LogLine;
    /// use serde_json::json;
    ///
    /// # fn example(cx: &mut PipelineContext<'_>) {
    /// cx.log(phrase!("{count} rules applied", count = 3));
    /// cx.log(LogLine::warn(phrase!("a rule matched nothing")).with_details(json!({ "rule": "trim" })));
    /// # }
    /// ```
    pub fn log(&mut self, line: impl Into<LogLine>) {
        self.log.push(line.into());
    }

    /// Reports a diagnostic.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Returns the settings of another processor; `None` if it is not registered or disabled.
    pub fn config_of(&self, id: &str) -> Option<&Config> {
        let stage = self.stages.iter().find(|stage| *stage.descriptor.id == *id);
        stage.map(|stage| &stage.setting.config)
    }

    /// Fails if the run was cancelled or its time is up. Call it in long loops.
    pub fn checkpoint(&self) -> Result<(), ProcessorError> {
        Control { cancel: self.inputs.cancel, deadline: self.inputs.deadline }.check()
    }
}
