//! Who writes a summary: the messages' own sentences, a program, or a model.

use std::sync::Arc;

use ctx_chat::{Client, ModelSummarizer, RequestShape, TokioDeadline};
use ctx_compress::mask::{Extraction, MaskConfig, MaskDraft, MaskPlan, Summarizing, SummaryFailure, extract};
use ctx_pipeline::Cancel;
use ctx_tokens::{Counter, ModelTable};
use ctx_types::phrase;
use ctx_types::ports::{PortError, PortFuture, Summarizer, SummaryAnswer, SummaryRequest};

use crate::compress::SummaryProgram;
use crate::config::Config;
use crate::endpoint::EndpointConfig;
use crate::error::{ProjectError, Result};
use crate::options::{SummarizerChoice, SummarizerOptions};
use crate::sources::Sources;

/// Hears which request of how many is made next, from 1, where messages do not fit one prompt.
pub type Progress = Box<dyn Fn(usize, usize) + Send + Sync>;

/// Writes summaries: from the messages' own sentences, or by somebody else who is waited for.
pub struct SummaryWriter {
    other: Option<Box<dyn Summarizer>>,
    /// Stops what is being written, and all that would be written after it.
    pub cancel: Cancel,
}

impl std::fmt::Debug for SummaryWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SummaryWriter").field("takes_time", &self.takes_time()).finish_non_exhaustive()
    }
}

impl SummaryWriter {
    /// Takes the one that is asked for.
    pub fn of(options: &SummarizerOptions, settings: &MaskConfig, config: &Config) -> Result<Self> {
        let other: Option<Box<dyn Summarizer>> = match &options.by {
            SummarizerChoice::Extractive => None,
            SummarizerChoice::Program(command) => {
                Some(Box::new(SummaryProgram::parse(command, options.window)?))
            }
            SummarizerChoice::Model(dialect) => {
                let endpoint = config.endpoint(&options.endpoint)?;
                let models = config.models(None, &mut Sources::default(), &mut Vec::new())?;
                Some(Box::new(model(options, settings, &endpoint.for_dialect(*dialect), models)?))
            }
        };
        Ok(Self { other, cancel: Cancel::default() })
    }

    /// Takes a model that somebody has chosen, and tells how far it is.
    pub fn asking(model: ModelSummarizer, progress: Progress, cancel: Cancel) -> Self {
        Self { other: Some(Box::new(Watched { model, progress })), cancel }
    }

    /// Returns whether somebody is waited for: then writing needs a runtime of tokio, and files may change meanwhile.
    pub const fn takes_time(&self) -> bool {
        self.other.is_some()
    }

    /// Writes the summary of a plan. Who fails is not stood in for.
    pub async fn write(&self, plan: MaskPlan, counter: Counter) -> Result<MaskDraft, SummaryFailure> {
        let own = |from: &Extraction<'_>| extract(from, &counter);
        let deadline = TokioDeadline::new(self.cancel.clone());
        let with = match &self.other {
            None => Summarizing { summarizer: None, deadline: None, counter: &counter, extract: Some(&own) },
            Some(summarizer) => Summarizing {
                summarizer: Some(&**summarizer),
                deadline: Some(&deadline),
                counter: &counter,
                extract: None,
            },
        };
        plan.summarize(&with).await
    }
}

/// A model whose progress is told.
struct Watched {
    model: ModelSummarizer,
    progress: Progress,
}

impl Summarizer for Watched {
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        self.model.summarize(request)
    }

    fn window(&self) -> Option<u32> {
        self.model.window()
    }

    fn begins(&self, request: usize, of: usize) {
        (self.progress)(request, of);
    }
}

/// A model that is asked through the client; its window is that of the table of models unless one is given.
fn model(
    options: &SummarizerOptions,
    settings: &MaskConfig,
    config: &EndpointConfig,
    models: Arc<ModelTable>,
) -> Result<ModelSummarizer> {
    let Some(name) = settings.summary_model.as_deref().or(config.model.as_deref()) else {
        let message = phrase!("no model for summaries; set one with `--summarizer-model`");
        return Err(ProjectError::Usage(message));
    };
    let mut endpoint = config.endpoint(&options.endpoint, true)?;
    endpoint.model = Some(name.to_owned());
    endpoint.streams = false;
    let window = options.window.or_else(|| models.lookup(name).0.context_window);
    let shape = RequestShape { model: name.to_owned(), streams: false, ..RequestShape::default() };
    Ok(ModelSummarizer::new(Arc::new(Client::new(endpoint)?), shape).with_window(window).with_models(models))
}
