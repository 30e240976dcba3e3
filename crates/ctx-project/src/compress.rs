//! Conversations in files, made shorter: what is sent of them, and who writes their summaries.

mod program;
mod settings;

use std::sync::Arc;

use ctx_chat::{Client, ModelSummarizer, RequestShape};
use ctx_compress::mask::MaskConfig;
use ctx_engine::Engine;
use ctx_types::{Summarizer, phrase};

use crate::config::Config;
use crate::endpoint::EndpointConfig;
use crate::error::{ProjectError, Result};
use crate::options::{SummarizerChoice, SummarizerOptions};

pub use ctx_operations::{message_to_json, sent_messages as messages};
pub use program::SummaryProgram;
pub use settings::settings;

/// Returns who writes summaries; none where the messages' own sentences do.
pub fn summarizer(
    options: &SummarizerOptions,
    settings: &MaskConfig,
    config: &Config,
) -> Result<Option<Box<dyn Summarizer>>> {
    Ok(Some(match &options.by {
        SummarizerChoice::Extractive => return Ok(None),
        SummarizerChoice::Program(command) => Box::new(SummaryProgram::parse(command, options.window)?),
        SummarizerChoice::Model(dialect) => {
            let endpoint = config.endpoint(&options.endpoint)?;
            Box::new(model(options, settings, &endpoint.for_dialect(*dialect))?)
        }
    }))
}

/// A model that is asked through the client; its window is that of the table of models unless one is given.
fn model(
    options: &SummarizerOptions,
    settings: &MaskConfig,
    config: &EndpointConfig,
) -> Result<ModelSummarizer> {
    let Some(name) = settings.summary_model.as_deref().or(config.model.as_deref()) else {
        let message = phrase!("no model is set for writing summaries; name one with `--summarizer-model`");
        return Err(ProjectError::Usage(message));
    };
    let mut endpoint = config.endpoint(&options.endpoint, true)?;
    endpoint.model = Some(name.to_owned());
    endpoint.streams = false;
    let window = options.window.or_else(|| Engine::new().models.lookup(name).0.context_window);
    let shape = RequestShape { model: name.to_owned(), streams: false, ..RequestShape::default() };
    Ok(ModelSummarizer::new(Arc::new(Client::new(endpoint)?), shape).with_window(window))
}
