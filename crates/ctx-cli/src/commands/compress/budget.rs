//! `ctx compress budget`: what windows are used for, and what they leave for a conversation.

use ctx_language::Language;
use std::sync::Arc;

use anyhow::Result;
use ctx_compress::request::{
    BudgetPlan, BudgetVerdict, Meter, Protection, RequestConfig, part_costs, repair,
};
use ctx_engine::Engine;
use ctx_tokens::{Budget, BudgetError, BudgetRequest, Counter, ModelTable, tools_cost};
use ctx_types::{Diagnostic, Message, ToolDefinition, phrase};
use serde_json::{Value, json};

use crate::args::BudgetArguments;
use crate::commands::compress::{messages, protection};
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::ProjectError;
use ctx_project::inputs::{self, InputFile};

/// Plans for a model, and compares others.
pub(super) fn run(language: Language, arguments: &BudgetArguments) -> Result<Exit> {
    let files = [arguments.session.as_ref(), arguments.tools.as_ref(), arguments.models.as_ref()];
    inputs::check_stdin(files.into_iter().flatten())?;
    let mut sources = show::sources(language);
    let (planning, model, mut found) = Planning::read(language, arguments, &mut sources)?;
    let own = model.as_deref().map(|model| planning.plan(model, &mut found)).transpose()?;
    let mut others = Vec::new();
    for model in planning.what_if(&arguments.what_if) {
        others.push(planning.plan(&model, &mut found)?);
    }
    show::findings(language, &sources, &found);
    match arguments.json {
        true => show::json(
            &json!({ "plan": own.as_ref().map(Planned::to_json), "whatIf": others.iter().map(Planned::to_json).collect::<Vec<_>>() }),
        )?,
        false => show::result(&to_text(language, own.as_ref(), &others))?,
    }
    let is_possible = own.is_none_or(|own| own.plan.is_possible());
    Ok(if is_possible { Exit::Success } else { Exit::Impossible })
}

/// What is the same for all models.
struct Planning {
    models: Arc<ModelTable>,
    messages: Vec<Message>,
    tools: Vec<ToolDefinition>,
    reserve: Option<u32>,
    protection: Protection,
}

/// The plan for one model.
struct Planned {
    model: String,
    is_exact: bool,
    plan: BudgetPlan,
}

impl Planning {
    /// Reads everything; returns the model that is asked for, too, and what was found.
    fn read(
        language: Language,
        arguments: &BudgetArguments,
        sources: &mut Sources,
    ) -> Result<(Self, Option<String>, Vec<Diagnostic>)> {
        let config = project::config(language, &arguments.config, sources)?;
        let mut found = config.found.clone();
        let model = arguments.model.clone().or_else(|| config.model.clone());
        if model.is_none() && arguments.what_if.is_empty() {
            let message = phrase!("name a model with `--model`, or models to compare with `--what-if`");
            return Err(ProjectError::Usage(message).into());
        }
        let mut models = Engine::new().models;
        if let Some(file) = config.file("models", arguments.models.clone(), sources)?.map(InputFile::from) {
            let (table, odd) = inputs::models(&file, &models, sources)?;
            models = Arc::new(table);
            found.extend(odd);
        }
        let mut tools = Vec::new();
        if let Some(file) = &arguments.tools {
            let (definitions, odd) = inputs::tools(&InputFile::from(file), sources)?;
            tools = definitions.iter().map(inputs::tool_of).collect();
            found.extend(odd);
        }
        let path = super::conversation(arguments.session.as_ref(), &config, sources)?;
        let conversation = inputs::conversation(&InputFile::from(&path), sources)?;
        found.extend(conversation.diagnostics);
        let given = messages(&conversation.value);
        let planning = Self {
            models,
            tools,
            reserve: arguments.reserve,
            protection: protection(arguments.loop_start, &given)?,
            messages: repair(&given).map_or(given, |repaired| repaired.messages),
        };
        Ok((planning, model, found))
    }

    /// Returns the models to compare.
    fn what_if(&self, named: &[String]) -> Vec<String> {
        let all = || self.models.names().into_iter().map(str::to_owned).collect::<Vec<_>>();
        let of_name = |name: &String| if name == "all" { all() } else { vec![name.clone()] };
        named.iter().filter(|name| !name.trim().is_empty()).flat_map(of_name).collect()
    }

    fn plan(&self, name: &str, found: &mut Vec<Diagnostic>) -> Result<Planned> {
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
            Err(error) => return Err(ProjectError::Usage(error.phrase()).into()),
        };
        let meter = Meter::lent(&model, &counter);
        let parts = part_costs(&self.messages, self.protection, &meter);
        let plan = BudgetPlan::new(&account, &parts, &RequestConfig::default());
        Ok(Planned { model: name.to_owned(), is_exact: counter.is_exact(), plan })
    }
}

impl Planned {
    fn to_json(&self) -> Value {
        let mut value = json!(self.plan);
        value["model"] = json!(self.model);
        value["isExact"] = json!(self.is_exact);
        value
    }

    /// Writes the account of the window, one line each.
    fn account(&self, language: Language) -> String {
        let plan = &self.plan;
        let window = plan.window.map(|tokens| {
            (lang::say(language, &phrase!("window of `{model}`", model = self.model)), tokens.to_string())
        });
        let needs =
            plan.needs.iter().map(|need| (lang::say(language, &need.name), format!("-{}", need.tokens)));
        let room =
            plan.room.map(|tokens| (lang::say(language, &phrase!("left for history")), tokens.to_string()));
        let history = (lang::say(language, &phrase!("history has")), plan.history.to_string());
        let lines = window.into_iter().chain(needs).chain(room).chain([history]);
        let lines: Vec<(String, String)> = lines.collect();
        let names = show::widest(lines.iter().map(|(name, _)| name));
        let figures = show::widest(lines.iter().map(|(_, tokens)| tokens));
        let line = |(name, tokens): &(String, String)| {
            format!("{}  {}\n", show::left(name, names), show::right(tokens, figures))
        };
        let lines: Vec<String> = lines.iter().map(line).collect();
        let about = if self.is_exact { "" } else { "about: its tokens are estimated\n" };
        format!("{}{}{}\n", lines.concat(), lang::lines(language, about), lang::say(language, &plan.phrase()))
    }

    /// Writes one row of the table.
    fn row(&self, language: Language) -> [String; 6] {
        let plan = &self.plan;
        let or_none =
            |tokens: Option<u64>| tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string());
        let needed: u64 = plan.needs.iter().map(|need| need.tokens).sum();
        let outcome = match &plan.verdict {
            BudgetVerdict::Unlimited => phrase!("unlimited"),
            BudgetVerdict::Fits { free } => phrase!("fits, {free} free", free),
            BudgetVerdict::Compressed { to } => phrase!("compressed to {to}", to),
            BudgetVerdict::Restless { culprit, .. } => phrase!("every turn: {culprit}", culprit),
            BudgetVerdict::Impossible { culprit, .. } => phrase!("impossible: {culprit}", culprit),
        };
        let about = if self.is_exact { "" } else { "~" };
        [
            self.model.clone(),
            or_none(plan.window),
            format!("{about}{needed}"),
            or_none(plan.room),
            format!("{about}{}", plan.history),
            lang::say(language, &outcome),
        ]
    }
}

/// The titles of the table of models.
const HEADER: [&str; 6] = ["model", "window", "needed", "left", "history", "outcome"];

fn to_text(language: Language, own: Option<&Planned>, others: &[Planned]) -> String {
    let account = own.map(|planned| planned.account(language));
    let table = (!others.is_empty())
        .then(|| show::listing(language, HEADER, others.iter().map(|planned| planned.row(language))));
    account.into_iter().chain(table).collect::<Vec<_>>().join("\n")
}
