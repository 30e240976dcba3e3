//! A compiled pipeline, and its runner.

use std::ops::RangeBounds;
use std::sync::Arc;
use std::time::Duration;

use ctx_types::{Agent, Diagnostic, StageReport, closest};

use crate::blackboard::Blackboard;
use crate::codes;
use crate::context::{Inputs, PipelineContext};
use crate::control::{Control, Guarded};
use crate::draft::Draft;
use crate::error::{ProcessorError, RunError};
use crate::guard::{self, Groups};
use crate::processor::{ContextProcessor, Descriptor, PrepareContext, Prepared};
use crate::registry::ProcessorRegistry;
use crate::settings::{EffectiveSetting, SettingsLayer, canonical_id, merge};
use crate::trace;

/// The processors that run for one agent, in order, prepared once for any number of turns. `Send + Sync`.
#[derive(Debug)]
pub struct Pipeline {
    stages: Vec<Stage>,
    settings: Vec<EffectiveSetting>,
    diagnostics: Vec<Diagnostic>,
}

struct Stage {
    descriptor: Descriptor,
    setting: EffectiveSetting,
    processor: Arc<dyn ContextProcessor>,
    prepared: Prepared,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("id", &self.descriptor.id).finish_non_exhaustive()
    }
}

/// A run under way, or done.
#[derive(Debug, Default)]
pub struct Run {
    /// What was made so far.
    pub draft: Draft,
    /// What each stage did.
    pub stages: Vec<StageReport>,
    /// What was found.
    pub diagnostics: Vec<Diagnostic>,
    /// What processors left for each other.
    pub blackboard: Blackboard,
    /// How long each stage took, if there is a stopwatch; never part of a report.
    pub timings: Vec<(Arc<str>, Duration)>,
}

impl Pipeline {
    /// Merges settings, orders the enabled processors by priority (ties by registration) and prepares them.
    pub fn compile(registry: &ProcessorRegistry, agent: &Agent, layers: &[SettingsLayer]) -> Self {
        let mut diagnostics = unknown_ids(registry, layers);
        let mut stages = Vec::new();
        let mut settings = Vec::new();
        for known in registry.processors() {
            let setting = merge(&known.descriptor, layers, &mut diagnostics);
            if setting.enabled.value {
                let mut cx = PrepareContext::default();
                let prepared = known.processor.prepare(agent, &setting.config, &mut cx);
                diagnostics.extend(cx.finish());
                stages.push(Stage {
                    descriptor: known.descriptor.clone(),
                    setting: setting.clone(),
                    processor: known.processor.clone(),
                    prepared,
                });
            }
            settings.push(setting);
        }
        stages.sort_by_key(|stage| stage.setting.priority.value);
        Self { stages, settings, diagnostics }
    }

    /// Returns what holds for each registered processor, and who set it.
    pub fn settings(&self) -> &[EffectiveSetting] {
        &self.settings
    }

    /// Returns everything that is wrong with settings and agent, whatever the conversation.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the ids of the processors that run, in order.
    pub fn order(&self) -> impl Iterator<Item = &str> {
        self.stages.iter().map(|stage| &*stage.descriptor.id)
    }

    /// Runs the stages whose priority lies in a range, one after the other.
    ///
    /// A processor that fails, panics, takes too long or breaks a group is recorded and its draft taken back
    /// (logs and diagnostics stay); the run goes on, unless the processor is core.
    pub async fn run(
        &self,
        run: &mut Run,
        inputs: Inputs<'_>,
        priorities: impl RangeBounds<i64>,
    ) -> Result<(), RunError> {
        for stage in self.stages.iter().filter(|stage| priorities.contains(&stage.setting.priority.value)) {
            let saved = run.draft.clone();
            let mut log = Vec::new();
            let started = inputs.stopwatch.map(|stopwatch| stopwatch.elapsed());
            let result = stage.execute(run, inputs, &mut log).await;
            if let (Some(stopwatch), Some(started)) = (inputs.stopwatch, started) {
                let took = stopwatch.elapsed().saturating_sub(started);
                run.timings.push((stage.descriptor.id.clone(), took));
            }
            let result = result.and_then(|()| stage.keep_groups(&saved, &mut run.draft));
            if let Err(error) = result {
                run.draft = saved.clone();
                stage.record(error, &mut run.diagnostics)?;
            }
            let report = match run.draft.shares_messages_with(&saved) {
                true => untouched(&stage.descriptor.id, saved.messages().len()),
                false => trace::compare(&stage.descriptor.id, saved.messages(), run.draft.messages()),
            };
            run.stages.push(StageReport { log, ..report });
        }
        Ok(())
    }
}

impl Stage {
    async fn execute(&self, run: &mut Run, inputs: Inputs<'_>, log: &mut Vec<String>) -> Result<(), ProcessorError> {
        let mut cx = PipelineContext {
            draft: &mut run.draft,
            inputs,
            config: &self.setting.config,
            prepared: &self.prepared,
            blackboard: &mut run.blackboard,
            log,
            diagnostics: &mut run.diagnostics,
        };
        let control = Control { cancel: inputs.cancel, deadline: inputs.deadline };
        let expiry = inputs.deadline.map(|deadline| deadline.over());
        let work = Box::pin(self.processor.execute(&mut cx));
        Guarded { work, control, expiry }.await
    }

    /// Moves foreign messages out of groups; a group that is broken fails the processor.
    fn keep_groups(&self, saved: &Draft, draft: &mut Draft) -> Result<(), ProcessorError> {
        if draft.shares_messages_with(saved) {
            return Ok(());
        }
        let mut messages = draft.take_messages();
        let groups = guard::mend(saved.messages(), &mut messages);
        draft.set_messages(messages);
        match groups {
            Groups::Intact => Ok(()),
            Groups::Mended(decisions) => {
                draft.decide_all(decisions);
                Ok(())
            }
            Groups::Broken { member } => Err(ProcessorError::BrokenGroup { member }),
        }
    }

    /// Reports why the processor came to nothing; that of a core processor ends the run.
    fn record(&self, error: ProcessorError, diagnostics: &mut Vec<Diagnostic>) -> Result<(), RunError> {
        let id = self.descriptor.id.clone();
        if matches!(error, ProcessorError::Cancelled) {
            return Err(RunError::Cancelled);
        }
        if self.descriptor.is_core {
            return Err(RunError::Core { id, error });
        }
        let code = match error {
            ProcessorError::TimedOut => codes::PROCESSOR_TIMED_OUT,
            ProcessorError::BrokenGroup { .. } => codes::GROUP_BROKEN,
            _ => codes::PROCESSOR_FAILED,
        };
        let message = format!("processor `{id}` came to nothing: {error}");
        let help = format!("the context is made without it; `--disable {id}` switches it off");
        diagnostics.push(Diagnostic::error(code, message).with_help(help));
        Ok(())
    }
}

fn untouched(id: &str, messages: usize) -> StageReport {
    StageReport { id: id.to_owned(), messages_before: messages, messages_after: messages, ..StageReport::default() }
}

/// Reports settings of processors that are not registered.
fn unknown_ids(registry: &ProcessorRegistry, layers: &[SettingsLayer]) -> Vec<Diagnostic> {
    let known: std::collections::BTreeSet<&str> = registry.descriptors().map(|d| &*d.id).collect();
    let mut diagnostics = Vec::new();
    for layer in layers {
        for setting in layer.settings.iter().filter(|setting| !known.contains(canonical_id(&setting.id))) {
            let message = format!("no processor `{}` (set by {})", setting.id, layer.origin);
            let unknown = Diagnostic::warning(codes::UNKNOWN_PROCESSOR, message);
            diagnostics.push(match closest(canonical_id(&setting.id), known.iter().copied()) {
                Some(near) => unknown.with_help(format!("did you mean `{near}`?")),
                None => unknown.with_help("`ctx processors list` names them all"),
            });
        }
    }
    diagnostics
}
