//! How a verb counts tokens.

use std::sync::Arc;

use anyhow::Result;
use ctx_compress::request::Meter;
use ctx_engine::Engine;
use ctx_tokens::{Counter, ModelFacts, message_cost};
use ctx_types::{Diagnostic, Node, NodeId};

use crate::args::{Counting, CountingArguments};
use crate::commands::inputs::{self, InputFile};
use crate::config::Config;
use crate::exit::UsageError;
use crate::show::Sources;

/// Counts as the command line asks for: by an estimate, or as a model does.
pub(crate) struct TokenCounting {
    pub(crate) counter: Counter,
    model: Option<Arc<ModelFacts>>,
}

impl TokenCounting {
    /// Reads what is needed to count; what is odd about it goes to `found`.
    pub(crate) fn of(
        arguments: &CountingArguments,
        config: &Config,
        sources: &mut Sources,
        found: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let model = arguments.model.as_deref().or(config.model.as_deref());
        match (arguments.counter, model) {
            (Counting::Estimate, _) => {
                return Ok(Self { counter: Counter::estimate(), model: None });
            }
            (Counting::Model, None) => {
                let help = "`--counter model` needs a model; name one with `--model`";
                return Err(UsageError(help.to_owned()).into());
            }
            (Counting::Model, Some(_)) => {}
        }
        let mut engine = Engine::new();
        let models = config.file("models", arguments.models.clone(), sources)?;
        if let Some(file) = models.map(InputFile::from) {
            let (models, odd) = inputs::models(&file, &engine.models, sources)?;
            engine.models = Arc::new(models);
            found.extend(odd);
        }
        let (facts, unknown) = engine.models.lookup(model.unwrap_or_default());
        found.extend(unknown);
        let (counter, odd) = Counter::for_model(&facts);
        found.extend(odd);
        Ok(Self { counter, model: Some(Arc::new(facts)) })
    }

    /// Makes the measure of requests.
    pub(crate) fn meter(&self) -> Meter<'static> {
        match &self.model {
            None => Meter::estimate(),
            Some(model) => Meter::for_model(model.clone(), Arc::new(self.counter)),
        }
    }

    /// Returns the tokens of a message of a conversation, as summaries count them.
    pub(crate) fn tokens(&self, id: &NodeId, node: &Node) -> u64 {
        let cost = message_cost(&node.to_message(id), &ModelFacts::unknown(""), &self.counter);
        u64::from(cost.total())
    }

    /// Says how it is counted.
    pub(crate) fn name(&self) -> String {
        match self.counter.is_exact() {
            true => self.counter.kind().name().to_owned(),
            false => "estimate".to_owned(),
        }
    }
}
