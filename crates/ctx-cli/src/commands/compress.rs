//! `ctx compress`: conversations that fit into a number of tokens, or hide older messages behind summaries.

mod batch;
mod budget;
pub(super) mod loss;
mod mask;
mod plan;
mod report;
mod summaries;
mod waiting;

use ctx_language::Language;
use std::path::{Path, PathBuf};

use ctx_compress::request::{CompressionPipeline, PassOutcome, Protection, RequestConfig};
use ctx_types::{Diagnostic, Message, phrase};
use serde_json::{Value, json};

use crate::args::{
    CompressArguments, CompressCommand, CountingArguments, MaskArguments, PassArguments, RunArguments,
};
use crate::commands::compress::batch::PassResult;
use crate::exit::Exit;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::compress::{message_to_json, messages, protection, strategy};
use ctx_project::config::Config;
use ctx_project::counting::TokenCounting;
use ctx_project::error::{ProjectError, Result};
use ctx_project::inputs::{self, InputFile};
use ctx_project::options::SummarizerChoice;

/// Plans or runs a pass, changes a summary, or reports on what was kept.
pub(crate) fn run(language: Language, arguments: &CompressArguments) -> Result<Exit> {
    match &arguments.command {
        CompressCommand::Plan(arguments) => {
            need_mask(mask_options(&arguments.pass.mask), &arguments.pass.mask)?;
        }
        CompressCommand::Run(arguments) => need_mask(
            mask_options(&arguments.pass.mask).chain(summarizer_options(arguments)),
            &arguments.pass.mask,
        )?,
        _ => {}
    }
    match &arguments.command {
        CompressCommand::Plan(arguments) if arguments.pass.mask.mask => mask::plan(language, &arguments.pass),
        CompressCommand::Plan(arguments) => plan(language, &arguments.pass),
        CompressCommand::Run(arguments) if arguments.pass.mask.mask => mask::run(language, arguments),
        CompressCommand::Run(arguments) => compress(language, arguments),
        CompressCommand::Budget(arguments) => budget::run(language, arguments),
        CompressCommand::Enable(arguments) => summaries::switch(language, arguments, true),
        CompressCommand::Disable(arguments) => summaries::switch(language, arguments, false),
        CompressCommand::Delete(arguments) => summaries::delete(language, &arguments.summary),
        CompressCommand::Edit(arguments) => summaries::edit(language, arguments),
        CompressCommand::Regenerate(arguments) => summaries::regenerate(language, arguments),
        CompressCommand::Report(arguments) => match loss::log_of(arguments) {
            Some(log) => loss::run(language, &log, arguments),
            None => report::run(language, arguments),
        },
    }
}

/// Returns the conversation of a command line, or else that of the defaults.
fn conversation(given: Option<&PathBuf>, config: &Config, sources: &Sources) -> Result<PathBuf> {
    config.conversation(given.cloned(), sources)
}

/// Returns the conversations of a command line, or else that of the defaults.
fn conversations(pass: &PassArguments, config: &Config, sources: &Sources) -> Result<Vec<PathBuf>> {
    match pass.session.as_slice() {
        [] => Ok(vec![conversation(None, config, sources)?]),
        given => Ok(given.to_vec()),
    }
}

/// Refuses options that are about summaries where none is to be written.
///
/// Clap's `requires` does not: it is waived where `--budget` is given, which excludes `--mask`.
fn need_mask(
    mut options: impl Iterator<Item = (&'static str, bool)>,
    mask: &MaskArguments,
) -> Result<(), ProjectError> {
    match options.find(|(_, is_given)| *is_given && !mask.mask) {
        Some((name, _)) => Err(ProjectError::Usage(phrase!("`{name}` requires `--mask`", name))),
        None => Ok(()),
    }
}

fn mask_options(mask: &MaskArguments) -> impl Iterator<Item = (&'static str, bool)> {
    let options = [
        ("--from", mask.from.is_some()),
        ("--to", mask.to.is_some()),
        ("--auto", mask.auto),
        ("--roll-up", mask.roll_up),
        ("--settings", mask.settings.settings.is_some()),
        ("--agent", mask.settings.agent.is_some()),
        ("--set", !mask.settings.set.is_empty()),
    ];
    options.into_iter()
}

fn summarizer_options(run: &RunArguments) -> impl Iterator<Item = (&'static str, bool)> {
    let by = &run.summarizer;
    let options = [
        ("--summarizer", by.summarizer != SummarizerChoice::Extractive),
        ("--summarizer-model", by.summarizer_model.is_some()),
        ("--base-url", by.base_url.is_some()),
        ("--key-env", by.key_env.is_some()),
        ("--key-file", by.key_file.is_some()),
        ("--summarizer-timeout", by.summarizer_timeout.is_some()),
        ("--summarizer-window", by.summarizer_window.is_some()),
        ("--at", run.output.at.is_some()),
    ];
    options.into_iter()
}

fn plan(language: Language, arguments: &PassArguments) -> Result<Exit> {
    let pass = Pass::of(language, arguments)?;
    batch::run(language, &pass.sessions, arguments.json, &mut |path, sources| {
        let (messages, mut found) = Pass::read(path, sources)?;
        let plan = pass.pipeline.plan(&messages, pass.protection(&messages)?);
        found.extend(in_conversation(&plan.diagnostics, path));
        let report = plan.report(&plan.apply(), pass.pipeline.meter());
        // The error is enough.
        let text = match plan.outcome {
            PassOutcome::Infeasible(_) => String::new(),
            _ => plan::drawn(language, &plan, messages.len()),
        };
        let mut done = done(&plan.outcome, text, plan.to_json(), found);
        done.messages = (report.input_count, report.output_count);
        done.tokens = (report.input_tokens, report.output_tokens);
        if let PassOutcome::Infeasible(overflow) = &plan.outcome {
            (done.error, done.exit) = (Some(overflow.phrase()), Exit::Impossible);
        }
        Ok(done)
    })
}

fn compress(language: Language, arguments: &RunArguments) -> Result<Exit> {
    if arguments.output.write || arguments.output.out.is_some() {
        let message = phrase!("`--write` and `--out` require `--mask`");
        return Err(ProjectError::Usage(message));
    }
    let (pass, input) = (Pass::of(language, &arguments.pass)?, arguments.input.as_deref());
    let arguments = &arguments.pass;
    batch::run(language, &pass.sessions, arguments.json, &mut |path, sources| {
        let (messages, mut found) = Pass::read(path, sources)?;
        let protection = pass.protection(&messages)?;
        let (compression, recalled) = match input {
            Some(input) => {
                let asked = pass.pipeline.compress_for(&messages, protection, input);
                (asked.compression, Some(asked.recalled))
            }
            None => (pass.pipeline.compress(&messages, protection), None),
        };
        let report = compression.report;
        found.extend(in_conversation(&report.diagnostics, path));
        if let PassOutcome::Infeasible(overflow) = report.outcome {
            show::findings(language, sources, &found);
            return Err((*overflow).into());
        }
        let fitted: Vec<Value> = compression.messages.iter().map(message_to_json).collect();
        let mut json = json!({ "messages": fitted, "report": report });
        if let Some(recalled) = recalled {
            json["recalled"] = recalled.to_json();
        }
        if arguments.loop_start.is_some() {
            json["loopStart"] = json!(compression.new_loop_start);
        }
        let text = show::messages(&compression.messages);
        Ok(PassResult {
            messages: (report.input_count, report.output_count),
            tokens: (report.input_tokens, report.output_tokens),
            ..done(&report.outcome, text, json, found)
        })
    })
}

fn done(outcome: &PassOutcome, text: String, json: Value, found: Vec<Diagnostic>) -> PassResult {
    let outcome = match outcome {
        PassOutcome::Compacted => "compacted",
        PassOutcome::NotNeeded => "not needed",
        PassOutcome::NoProgress { .. } => "no progress",
        PassOutcome::Infeasible(_) => "infeasible",
    };
    PassResult { outcome, text, json, found, ..PassResult::default() }
}

/// What is the same for all conversations of a run.
struct Pass {
    sessions: Vec<PathBuf>,
    pipeline: CompressionPipeline<'static>,
    loop_start: Option<usize>,
}

impl Pass {
    fn of(language: Language, arguments: &PassArguments) -> Result<Self> {
        inputs::check_stdin(arguments.session.iter().chain(&arguments.counting.models))?;
        let Some(budget) = arguments.budget else {
            let message =
                phrase!("use `--budget N` to compress to N tokens, or `--mask` to summarize older messages");
            return Err(ProjectError::Usage(message));
        };
        let mut sources = show::sources(language);
        let config = project::config(language, &arguments.config, &mut sources)?;
        show::findings(language, &sources, &config.found);
        let sessions = conversations(arguments, &config, &sources)?;
        let pipeline =
            pipeline(language, budget, &arguments.strategy, (&arguments.counting, &config), &mut sources)?;
        Ok(Self { sessions, pipeline, loop_start: arguments.loop_start })
    }

    fn protection(&self, messages: &[Message]) -> Result<Protection, ProjectError> {
        protection(self.loop_start, messages)
    }

    /// Reads what is sent of a conversation.
    fn read(path: &Path, sources: &mut Sources) -> Result<(Vec<Message>, Vec<Diagnostic>)> {
        let conversation = inputs::conversation(&InputFile::from(path), sources)?;
        Ok((messages(&conversation.value), conversation.diagnostics))
    }
}

/// Makes the pipeline of a pass.
fn pipeline(
    language: Language,
    budget: u64,
    name: &str,
    (counting, config): (&CountingArguments, &Config),
    sources: &mut Sources,
) -> Result<CompressionPipeline<'static>> {
    let strategy = strategy(name)?;
    let mut found = Vec::new();
    let counting = TokenCounting::of(&counting.into(), config, sources, &mut found)?;
    show::findings(language, sources, &found);
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(budget));
    Ok(pipeline.with_strategy(strategy).with_meter(counting.meter()))
}

/// Points findings about the list of messages at the file.
fn in_conversation(found: &[Diagnostic], path: &Path) -> Vec<Diagnostic> {
    let name = ctx_project::files::name(path);
    let at_file = |mut found: Diagnostic| {
        // Messages that are not sent have no index in the list, so that only the file itself is sure.
        found.location.pointer = None;
        found.in_document(name.as_str())
    };
    found.iter().cloned().map(at_file).collect()
}
