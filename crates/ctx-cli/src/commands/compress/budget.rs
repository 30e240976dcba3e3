//! `ctx compress budget`: what windows are used for, and what they leave for a conversation.

use ctx_compress::request::BudgetVerdict;
use ctx_language::Language;
use ctx_project::compress::{BudgetPlanning, ModelBudget};
use ctx_project::error::{ProjectError, Result};
use ctx_project::inputs;
use ctx_project::options::BudgetOptions;
use ctx_types::phrase;
use serde_json::{Value, json};

use crate::args::BudgetArguments;
use crate::exit::Exit;
use crate::{lang, project, show};

/// Plans for a model, and compares others.
pub(super) fn run(language: Language, arguments: &BudgetArguments) -> Result<Exit> {
    let files = [arguments.session.as_ref(), arguments.tools.as_ref(), arguments.models.as_ref()];
    inputs::check_stdin(files.into_iter().flatten())?;
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.config, &mut sources)?;
    let model = arguments.model.clone().or_else(|| config.model().cloned());
    if model.is_none() && arguments.what_if.is_empty() {
        let message = phrase!("name a model with `--model`, or several with `--what-if`");
        return Err(ProjectError::Usage(message));
    }
    let mut found = config.found.clone();
    let planning = BudgetPlanning::read(&arguments.into(), &config, &mut sources, &mut found)?;
    let own = model.as_deref().map(|model| planning.plan(model, &mut found)).transpose()?;
    let others = planning.models(&arguments.what_if);
    let others = others.iter().map(|model| planning.plan(model, &mut found));
    let others: Vec<ModelBudget> = others.collect::<Result<_, ProjectError>>()?;
    show::findings(language, &sources, &found);
    if arguments.json {
        show::json(&json!({
            "plan": own.as_ref().map(ModelBudget::to_json),
            "whatIf": others.iter().map(ModelBudget::to_json).collect::<Vec<Value>>(),
        }))?;
    } else {
        show::result(&to_text(language, own.as_ref(), &others))?;
    }
    let is_possible = own.is_none_or(|own| own.plan.is_possible());
    Ok(if is_possible { Exit::Success } else { Exit::Impossible })
}

impl From<&BudgetArguments> for BudgetOptions {
    fn from(arguments: &BudgetArguments) -> Self {
        let BudgetArguments { session, tools, models, reserve, loop_start, .. } = arguments.clone();
        Self { session, tools, models, reserve, loop_start }
    }
}

/// Writes the account of the window, one line each.
fn account(language: Language, budget: &ModelBudget) -> String {
    let plan = &budget.plan;
    let window = plan.window.map(|tokens| {
        (
            lang::say(language, &phrase!("context window of `{model}`", model = budget.model)),
            tokens.to_string(),
        )
    });
    let needs = plan.needs.iter().map(|need| (lang::say(language, &need.name), format!("-{}", need.tokens)));
    let room =
        plan.room.map(|tokens| (lang::say(language, &phrase!("available for history")), tokens.to_string()));
    let history = (lang::say(language, &phrase!("history")), plan.history.to_string());
    let lines = window.into_iter().chain(needs).chain(room).chain([history]);
    let lines: Vec<(String, String)> = lines.collect();
    let names = show::widest(lines.iter().map(|(name, _)| name));
    let figures = show::widest(lines.iter().map(|(_, tokens)| tokens));
    let line = |(name, tokens): &(String, String)| {
        format!("{}  {}\n", show::left(name, names), show::right(tokens, figures))
    };
    let lines: Vec<String> = lines.iter().map(line).collect();
    let about = if budget.is_exact { "" } else { "approximate: the tokens are estimated\n" };
    format!("{}{}{}\n", lines.concat(), lang::lines(language, about), lang::say(language, &plan.phrase()))
}

/// Writes one row of the table.
fn row(language: Language, budget: &ModelBudget) -> [String; 6] {
    let plan = &budget.plan;
    let or_none = |tokens: Option<u64>| tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string());
    let needed: u64 = plan.needs.iter().map(|need| need.tokens).sum();
    let outcome = match &plan.verdict {
        BudgetVerdict::Unlimited => phrase!("no limit"),
        BudgetVerdict::Fits { free } => phrase!("fits, {free} left", free),
        BudgetVerdict::Compressed { to } => phrase!("compressed to {to}", to),
        BudgetVerdict::Restless { culprit, .. } => phrase!("compressed every turn: {culprit}", culprit),
        BudgetVerdict::Impossible { culprit, .. } => phrase!("impossible: {culprit}", culprit),
    };
    let about = if budget.is_exact { "" } else { "~" };
    [
        budget.model.clone(),
        or_none(plan.window),
        format!("{about}{needed}"),
        or_none(plan.room),
        format!("{about}{}", plan.history),
        lang::say(language, &outcome),
    ]
}

/// The titles of the table of models.
const HEADER: [&str; 6] = ["model", "context window", "needed", "available", "history", "outcome"];

fn to_text(language: Language, own: Option<&ModelBudget>, others: &[ModelBudget]) -> String {
    let account = own.map(|budget| account(language, budget));
    let table = (!others.is_empty())
        .then(|| show::listing(language, HEADER, others.iter().map(|budget| row(language, budget))));
    account.into_iter().chain(table).collect::<Vec<_>>().join("\n")
}
