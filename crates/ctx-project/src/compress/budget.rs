//! What the windows of models are used for, and what they leave for a conversation.

use std::sync::Arc;

use ctx_compress::request::{BudgetPlan, Meter, Protection, RequestConfig, part_costs, repair};
use ctx_tokens::{Budget, BudgetError, BudgetRequest, Counter, ModelTable, internal::tools_cost};
use ctx_types::ports::ToolDefinition;
use ctx_types::{Diagnostic, Message};
use serde_json::{Value, json};

use crate::compress::{messages, protection};
use crate::config::Config;
use crate::error::{ProjectError, Result};
use crate::inputs::{self, InputFile};
use crate::options::BudgetOptions;
use crate::sources::Sources;

/// What is the same for all models.
#[derive(Debug)]
pub struct BudgetPlanning {
    models: Arc<ModelTable>,
    messages: Vec<Message>,
    tools: Vec<ToolDefinition>,
    reserve: Option<u32>,
    protection: Protection,
}

/// What the window of one model is used for.
#[derive(Debug)]
pub struct ModelBudget {
    /// The name of the model, as it was asked for.
    pub model: String,
    /// Whether its tokens are counted and not estimated.
    pub is_exact: bool,
    /// What the window is used for.
    pub plan: BudgetPlan,
}

impl BudgetPlanning {
    /// Reads the conversation, tools and models; what is odd about them goes to `found`.
    pub fn read(
        options: &BudgetOptions,
        config: &Config,
        sources: &mut Sources,
        found: &mut Vec<Diagnostic>,
    ) -> Result<Self> {
        let models = config.models(options.models.clone(), sources, found)?;
        let mut tools = Vec::new();
        if let Some(file) = &options.tools {
            let (definitions, odd) = inputs::tools(&InputFile::from(file), sources)?;
            tools = definitions.iter().map(inputs::tool_of).collect();
            found.extend(odd);
        }
        let path = config.conversation(options.session.clone(), sources)?;
        let conversation = inputs::conversation(&InputFile::from(&path), sources)?;
        found.extend(conversation.diagnostics);
        let given = messages(&conversation.value);
        Ok(Self {
            models,
            tools,
            reserve: options.reserve,
            protection: protection(options.loop_start, &given)?,
            messages: repair(&given).map_or(given, |repaired| repaired.messages),
        })
    }

    /// Returns the names of models; `all` stands for each of the table of models.
    pub fn models(&self, named: &[String]) -> Vec<String> {
        let all = || self.models.names().into_iter().map(str::to_owned).collect::<Vec<_>>();
        let of_name = |name: &String| if name == "all" { all() } else { vec![name.clone()] };
        named.iter().filter(|name| !name.trim().is_empty()).flat_map(of_name).collect()
    }

    /// Plans for a model; what is odd about it goes to `found`.
    pub fn plan(&self, name: &str, found: &mut Vec<Diagnostic>) -> Result<ModelBudget> {
        let (model, unknown) = self.models.lookup(name);
        found.extend(unknown);
        let (counter, _) = Counter::for_model(&model);
        let tools = tools_cost(&self.tools, &model, &counter);
        let request = BudgetRequest { reserve: self.reserve, tools, ..BudgetRequest::default() };
        let account = match Budget::compute(&model, &request) {
            Ok((budget, odd)) => {
                found.extend(odd);
                budget.lines
            }
            // What is in the way is named by the plan.
            Err(BudgetError::NothingLeft { lines }) => lines,
            Err(error) => return Err(ProjectError::Usage(error.phrase())),
        };
        let meter = Meter::lent(&model, &counter);
        let parts = part_costs(&self.messages, self.protection, &meter);
        let plan = BudgetPlan::new(&account, &parts, &RequestConfig::default());
        Ok(ModelBudget { model: name.to_owned(), is_exact: counter.is_exact(), plan })
    }
}

impl ModelBudget {
    /// Writes it for programs.
    pub fn to_json(&self) -> Value {
        let mut value = json!(self.plan);
        value["model"] = json!(self.model);
        value["isExact"] = json!(self.is_exact);
        value
    }
}
