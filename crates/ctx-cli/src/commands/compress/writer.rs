//! Who writes summaries for a command line, and how long that may take.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use ctx_chat::{Client, ModelSummarizer, RequestShape};
use ctx_compress::mask::{Extraction, MaskConfig, MaskDraft, MaskPlan, Summarizing, SummaryFailure, extract};
use ctx_engine::Engine;
use ctx_tokens::Counter;
use ctx_types::Summarizer;
use tokio::runtime::Runtime;

use crate::args::{SummarizerArguments, SummarizerChoice};
use crate::commands::compress::program::Program;
use crate::commands::compress::waiting::{Interrupts, Until};
use ctx_project::config::Config;
use ctx_project::endpoint::EndpointConfig;
use ctx_project::error::ProjectError;

/// Writes summaries: from the messages' own sentences, or by somebody else who is waited for.
pub(super) struct Writer {
    other: Option<(Box<dyn Summarizer>, Runtime, Interrupts)>,
}

impl Writer {
    /// Takes the one that the command line names.
    pub(super) fn of(
        arguments: &SummarizerArguments,
        settings: &MaskConfig,
        config: &Config,
    ) -> Result<Self> {
        let summarizer: Box<dyn Summarizer> = match &arguments.summarizer {
            SummarizerChoice::Extractive => return Ok(Self { other: None }),
            SummarizerChoice::Program(command) => {
                Box::new(Program::parse(command, arguments.summarizer_window)?)
            }
            SummarizerChoice::Model(dialect) => {
                let endpoint = config.endpoint(&(&arguments.endpoint()).into())?;
                Box::new(model(arguments, settings, &endpoint.for_dialect(*dialect))?)
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot wait for a summary")?;
        let interrupts =
            runtime.block_on(async { Interrupts::new() }).context("cannot wait for a summary")?;
        Ok(Self { other: Some((summarizer, runtime, interrupts)) })
    }

    /// Tells whether it may take so long that a file changes meanwhile.
    pub(super) const fn takes_time(&self) -> bool {
        self.other.is_some()
    }

    /// Writes the summary of a plan. Who fails is not stood in for.
    pub(super) fn write(&mut self, plan: MaskPlan, counter: Counter) -> Result<MaskDraft, SummaryFailure> {
        let Some((summarizer, runtime, interrupts)) = &mut self.other else {
            let own = |from: &Extraction<'_>| extract(from, &counter);
            let with =
                Summarizing { summarizer: None, deadline: None, counter: &counter, extract: Some(&own) };
            return pollster::block_on(plan.summarize(&with));
        };
        let deadline = Until::default();
        let with = Summarizing {
            summarizer: Some(&**summarizer),
            deadline: Some(&deadline),
            counter: &counter,
            extract: None,
        };
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = interrupts.next() => Err(SummaryFailure::Stopped),
                draft = plan.summarize(&with) => draft,
            }
        })
    }
}

/// A model that is asked through the client; its window is that of the table of models unless one is given.
fn model(
    arguments: &SummarizerArguments,
    settings: &MaskConfig,
    config: &EndpointConfig,
) -> Result<ModelSummarizer> {
    let Some(name) = settings.summary_model.as_deref().or(config.model.as_deref()) else {
        let message = "nothing names the model that writes summaries; name one with `--summarizer-model`";
        return Err(ProjectError::Usage(message.to_owned()).into());
    };
    let mut endpoint = config.endpoint(&(&arguments.endpoint()).into(), true)?;
    endpoint.model = Some(name.to_owned());
    endpoint.streams = false;
    let window = arguments.summarizer_window.or_else(|| Engine::new().models.lookup(name).0.context_window);
    let shape = RequestShape { model: name.to_owned(), streams: false, ..RequestShape::default() };
    Ok(ModelSummarizer::new(Arc::new(Client::new(endpoint)?), shape).with_window(window))
}
