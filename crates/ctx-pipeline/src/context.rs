//! What a processor sees while it runs.

use std::fmt;

use ctx_tokens::{Budget, ModelFacts};
use ctx_types::{
    Agent, AttachmentPorts, Diagnostic, LogLine, Session, Stopwatch, TokenCounter, TurnInput, UserProfile,
};

use crate::blackboard::Blackboard;
use crate::control::{Cancel, Control};
use crate::draft::Draft;
use crate::error::ProcessorError;
use crate::log::StageLog;
use crate::pipeline::Stage;
use crate::processor::Prepared;
use crate::settings::Config;

/// The read-only inputs of a run.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// The person who chats.
    pub profile: Option<&'a UserProfile>,
    /// The conversation.
    pub session: &'a Session,
    /// Everything that may differ between two turns.
    pub turn: &'a TurnInput,
    /// What is known about the model that the request goes to.
    pub model: &'a ModelFacts,
    /// What counts tokens.
    pub counter: &'a dyn TokenCounter,
    /// How many tokens may be sent.
    pub budget: &'a Budget,
    /// Stops the run.
    pub cancel: &'a Cancel,
    /// What the host lends for files that travel with messages.
    pub attachments: AttachmentPorts<'a>,
    /// Gives texts their vectors; without it what is recalled is found by its words.
    pub embedder: Option<&'a dyn ctx_types::Embedder>,
    /// Limits the time of each processor; without it there is no limit.
    pub deadline: Option<&'a dyn ctx_types::Deadline>,
    /// Measures the time of each processor; without it there are no timings.
    pub stopwatch: Option<&'a dyn Stopwatch>,
}

impl fmt::Debug for Inputs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turn, budget, cancel, .. } = self;
        let inputs = &mut f.debug_struct("Inputs");
        inputs.field("turn", turn).field("budget", budget).field("cancel", cancel).finish_non_exhaustive()
    }
}

/// What a processor sees while it runs: the draft, the inputs, and what it prepared.
pub struct PipelineContext<'a> {
    /// What the run has made so far.
    pub draft: &'a mut Draft,
    /// The read-only inputs.
    pub inputs: Inputs<'a>,
    /// The processor's settings.
    pub config: &'a Config,
    /// What the processor made of the agent.
    pub prepared: &'a Prepared,
    /// What processors leave for each other.
    pub blackboard: &'a mut Blackboard,
    pub(crate) stages: &'a [Stage],
    pub(crate) log: &'a mut StageLog,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
}

impl fmt::Debug for PipelineContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { draft, inputs, config, .. } = self;
        let cx = &mut f.debug_struct("PipelineContext");
        cx.field("draft", draft).field("inputs", inputs).field("config", config).finish_non_exhaustive()
    }
}

impl PipelineContext<'_> {
    /// Writes a line to the log of this stage: a phrase, or a [`LogLine`] with a level and details.
    ///
    /// A stage has up to 1,000 lines, and a line 16 KiB of details; more is counted and left out.
    ///
    /// ```
    /// # use ctx_pipeline::PipelineContext;
    /// use ctx_types::{LogLine, phrase};
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

    /// Reports a finding.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Returns the settings of another processor of the pipeline, by its id; none if it is not there or switched off.
    pub fn config_of(&self, id: &str) -> Option<&Config> {
        let stage = self.stages.iter().find(|stage| *stage.descriptor.id == *id);
        stage.map(|stage| &stage.setting.config)
    }

    /// Ends the processor if the run was cancelled or its time is up; to be called in long loops.
    pub fn checkpoint(&self) -> Result<(), ProcessorError> {
        Control { cancel: self.inputs.cancel, deadline: self.inputs.deadline }.check()
    }
}
