use std::ops::RangeBounds;
use std::sync::Arc;
use std::time::Duration;

use ctx_types::report::StageReport;
use ctx_types::session::LogLine;
use ctx_types::{Diagnostic, count_of, phrase};

use crate::blackboard::Blackboard;
use crate::codes;
use crate::context::{Inputs, PipelineContext};
use crate::control::{self, Control};
use crate::draft::Draft;
use crate::error::{ProcessorError, RunError};
use crate::guard;
use crate::log::StageLog;
use crate::pipeline::{Pipeline, Stage};
use crate::provenance;
use crate::trace;

/// State of a current or finished run. Continue from a clone to repeat a part; cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Messages and decisions so far.
    pub draft: Draft,
    /// Reports of the processors that ran.
    pub stages: Vec<StageReport>,
    /// Diagnostics so far.
    pub diagnostics: Vec<Diagnostic>,
    /// Values shared between processors.
    pub blackboard: Blackboard,
    /// Duration of each processor, if there is a stopwatch. Not part of a report.
    pub timings: Vec<(Arc<str>, Duration)>,
    /// Draft after each processor. Recorded if [`Some`] before the run.
    pub drafts: Option<Vec<(Arc<str>, Draft)>>,
}

impl Pipeline {
    /// Runs the processors with priorities in a range, in order.
    ///
    /// A processor that fails, panics, times out or breaks a message group is recorded and undone, except for
    /// logs and diagnostics. The run continues unless the processor is core.
    ///
    /// # Errors
    ///
    /// [`RunError::Core`], [`RunError::Cancelled`]. The processor's changes are undone, except for its
    /// report.
    pub async fn run(
        &self,
        run: &mut Run,
        inputs: Inputs<'_>,
        priorities: impl RangeBounds<i64>,
    ) -> Result<(), RunError> {
        self.run_stages(run, inputs, |stage| priorities.contains(&stage.setting.priority.value)).await
    }

    /// Runs the processors that handle each message separately, like [`run`](Self::run). The draft must
    /// contain only the messages to append.
    pub async fn run_appended(&self, run: &mut Run, inputs: Inputs<'_>) -> Result<(), RunError> {
        self.run_stages(run, inputs, |stage| stage.descriptor.per_message).await
    }

    async fn run_stages(
        &self,
        run: &mut Run,
        inputs: Inputs<'_>,
        is_wanted: impl Fn(&Stage) -> bool,
    ) -> Result<(), RunError> {
        if self.limit.is_some() && inputs.deadline.is_none() {
            report_no_deadline(&mut run.diagnostics);
        }
        for stage in self.stages.iter().filter(|stage| is_wanted(stage)) {
            let limited = inputs.deadline.zip(self.limit).map(|(deadline, limit)| deadline.within(limit));
            let deadline = limited.as_deref().or(inputs.deadline);
            stage.run(&self.stages, run, Inputs { deadline, ..inputs }).await?;
        }
        Ok(())
    }
}

impl Stage {
    async fn run(&self, stages: &[Self], run: &mut Run, inputs: Inputs<'_>) -> Result<(), RunError> {
        let id = &self.descriptor.id;
        let (draft, blackboard) = (run.draft.clone(), run.blackboard.clone());
        let mut log = StageLog::default();
        let started = inputs.stopwatch.map(|stopwatch| (stopwatch, stopwatch.elapsed()));
        let result = self.execute(stages, run, inputs, &mut log).await;
        if let Some((stopwatch, started)) = started {
            run.timings.push((id.clone(), stopwatch.elapsed().saturating_sub(started)));
        }
        let result = result.and_then(|()| self.repair_groups(&draft, &mut run.draft, &mut log));
        if let Err(error) = &result {
            log.push_unlimited(LogLine::error(error.phrase()));
            run.draft = draft.clone();
            run.blackboard = blackboard;
        }
        let report = trace::compare(id, draft.messages(), run.draft.messages());
        run.stages.push(StageReport { log: log.finish(), ..report });
        if let Some(drafts) = &mut run.drafts {
            drafts.push((id.clone(), run.draft.clone()));
        }
        match result {
            Ok(()) => Ok(()),
            Err(error) => self.record(error, inputs, &mut run.diagnostics),
        }
    }

    async fn execute(
        &self,
        stages: &[Self],
        run: &mut Run,
        inputs: Inputs<'_>,
        log: &mut StageLog,
    ) -> Result<(), ProcessorError> {
        let Some(prepared) = &self.prepared else {
            return Err(ProcessorError::failed("panic during preparation"));
        };
        let mut cx = PipelineContext {
            draft: &mut run.draft,
            inputs,
            config: &self.setting.config,
            prepared,
            blackboard: &mut run.blackboard,
            stages,
            log,
            diagnostics: &mut run.diagnostics,
        };
        let control = Control { cancel: inputs.cancel, deadline: inputs.deadline };
        // Called inside the future, to catch a panic before the first await.
        control::guard(control, async { self.processor.execute(&mut cx).await }).await
    }

    /// Fails if a group is broken.
    fn repair_groups(
        &self,
        saved: &Draft,
        draft: &mut Draft,
        log: &mut StageLog,
    ) -> Result<(), ProcessorError> {
        let repaired = draft.take_repaired();
        if draft.shares_messages_with(saved) {
            return Ok(());
        }
        let before = repaired.as_ref().map_or(saved.messages(), |repaired| repaired.as_slice());
        let mut messages = draft.take_messages();
        let groups = guard::repair(before, &mut messages);
        let stale = provenance::repair(&self.descriptor.id, &mut messages);
        if stale > 0 {
            let messages = count_of!(stale, "message");
            log.push_unlimited(LogLine::warn(phrase!(
                "segments of {messages} did not match the text and are attributed to the processor",
                messages
            )));
        }
        draft.set_messages(messages);
        draft.decide_all(groups.map_err(|member| ProcessorError::BrokenGroup { member })?);
        Ok(())
    }

    fn record(
        &self,
        error: ProcessorError,
        inputs: Inputs<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(), RunError> {
        // The processor's own error may be about a request it made, or a consequence of cancelling the run.
        if inputs.cancel.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        if self.descriptor.is_core {
            return Err(RunError::Core { id: self.descriptor.id.clone(), error });
        }
        diagnostics.push(self.report(&error));
        Ok(())
    }
}

fn report_no_deadline(diagnostics: &mut Vec<Diagnostic>) {
    if diagnostics.iter().all(|diagnostic| diagnostic.code != codes::NO_DEADLINE) {
        let message =
            phrase!("processors have a time limit, but the host provides no clock; the limit is ignored");
        diagnostics.push(Diagnostic::info(codes::NO_DEADLINE, message));
    }
}
