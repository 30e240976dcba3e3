use std::sync::Arc;
use std::time::Duration;

use ctx_types::{Agent, Diagnostic, phrase};

use crate::codes;
use crate::control::catch;
use crate::error::ProcessorError;
use crate::processor::{CompileContext, ContextProcessor, Descriptor, PrepareContext, PreparedData};
use crate::registry::{ProcessorRegistry, RegisteredProcessor};
use crate::settings::{EffectiveSetting, SettingsLayer};

/// The ordered processors of one agent, prepared for any number of turns. `Send + Sync`.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) stages: Vec<Stage>,
    pub(crate) limit: Option<Duration>,
    settings: Vec<EffectiveSetting>,
    diagnostics: Vec<Diagnostic>,
}

pub(crate) struct Stage {
    pub(crate) descriptor: Descriptor,
    pub(crate) setting: EffectiveSetting,
    pub(crate) processor: Arc<dyn ContextProcessor>,
    /// `None` if preparing panicked; the processor then fails.
    pub(crate) prepared: Option<PreparedData>,
}

ctx_types::opaque!(Stage);

impl Pipeline {
    /// Merges settings, sorts enabled processors by priority (ties by registration) and prepares them.
    ///
    /// A panic in `prepare` is reported here and by each run. O(processors · log processors + settings), plus
    /// preparation.
    pub fn compile(
        registry: &ProcessorRegistry,
        agent: &Agent,
        around: CompileContext<'_>,
        layers: &[SettingsLayer],
    ) -> Self {
        let (settings, mut diagnostics) = registry.resolve(layers);
        let enabled =
            registry.processors().iter().zip(&settings).filter(|(_, setting)| setting.enabled.value);
        let prepare = |(known, setting)| {
            let mut cx = PrepareContext::new(around);
            let stage = Stage::prepare(known, setting, agent, &mut cx);
            diagnostics.extend(cx.finish());
            stage
        };
        let mut stages: Vec<Stage> = enabled.map(prepare).collect();
        stages.sort_by_key(|stage| stage.setting.priority.value);
        Self { stages, limit: None, settings, diagnostics }
    }

    /// Limits the time of each processor, at await points and checkpoints. Without a
    /// [`Deadline`](ctx_types::ports::Deadline) in the inputs of a run, the limit is ignored and reported.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns the effective settings of each registered processor, in order of registration.
    pub fn settings(&self) -> &[EffectiveSetting] {
        &self.settings
    }

    /// Returns the problems of settings and agent, independent of any conversation.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the ids of enabled processors, in order.
    pub fn order(&self) -> impl Iterator<Item = &str> {
        self.stages.iter().map(|stage| &*stage.descriptor.id)
    }
}

impl Stage {
    fn prepare(
        known: &RegisteredProcessor,
        setting: &EffectiveSetting,
        agent: &Agent,
        cx: &mut PrepareContext,
    ) -> Self {
        let prepared = catch(|| known.processor.prepare(agent, &setting.config, cx));
        let stage = Self {
            descriptor: known.descriptor.clone(),
            setting: setting.clone(),
            processor: known.processor.clone(),
            prepared: None,
        };
        match prepared {
            Ok(prepared) => Self { prepared: Some(prepared), ..stage },
            Err(error) => {
                cx.report(stage.report(&error));
                stage
            }
        }
    }

    pub(crate) fn report(&self, error: &ProcessorError) -> Diagnostic {
        let id = &self.descriptor.id;
        let code = match error {
            ProcessorError::TimedOut => codes::PROCESSOR_TIMED_OUT,
            ProcessorError::BrokenGroup { .. } => codes::GROUP_BROKEN,
            _ => codes::PROCESSOR_FAILED,
        };
        let help = phrase!("the context is built without it; to disable it, use `--disable {id}`", id);
        Diagnostic::error(code, phrase!("processor `{id}` failed: {error}", id, error = error.phrase()))
            .with_help(help)
    }
}
