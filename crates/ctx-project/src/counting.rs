//! Token counting of a command.

use std::sync::Arc;

use crate::error::{ProjectError, Result};
use ctx_compress::request::Meter;
use ctx_tokens::{Counter, ModelFacts, internal::message_cost};
use ctx_types::session::{Node, NodeId};
use ctx_types::{Diagnostic, Phrase, phrase};

use crate::config::Config;
use crate::options::CountingOptions;
use crate::sources::Sources;

/// Counter of a command line: an estimate, or the tokenizer of a model.
#[derive(Debug)]
pub struct TokenCounting {
    /// Counts the tokens of a text.
    pub counter: Counter,
    model: Option<Arc<ModelFacts>>,
}

impl TokenCounting {
    /// Creates a counter. Adds its diagnostics to `found`.
    pub fn of(
        arguments: &CountingOptions,
        config: &Config,
        sources: &mut Sources,
        found: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let model = arguments.model.as_ref().or_else(|| config.model()).map(String::as_str);
        if !arguments.is_of_model {
            return Ok(Self { counter: Counter::estimate(), model: None });
        }
        let Some(model) = model else {
            let help = phrase!("`--counter model` requires a model; set one with `--model`");
            return Err(ProjectError::Usage(help));
        };
        let models = config.models(arguments.models.clone(), sources, found)?;
        let (facts, unknown) = models.lookup(model);
        found.extend(unknown);
        let (counter, odd) = Counter::for_model(&facts);
        found.extend(odd);
        Ok(Self { counter, model: Some(Arc::new(facts)) })
    }

    /// Returns the meter of requests.
    pub fn meter(&self) -> Meter<'static> {
        match &self.model {
            None => Meter::estimate(),
            Some(model) => Meter::for_model(model.clone(), Arc::new(self.counter)),
        }
    }

    /// Returns the tokens of a message, as compaction counts them.
    pub fn tokens(&self, id: &NodeId, node: &Node) -> u64 {
        let cost = message_cost(&node.to_message(id), &ModelFacts::unknown(""), &self.counter);
        u64::from(cost.total())
    }

    /// Describes the counter.
    pub fn name(&self) -> Phrase {
        if self.counter.is_exact() {
            Phrase::verbatim(self.counter.kind().name())
        } else {
            Phrase::from("estimate")
        }
    }
}
