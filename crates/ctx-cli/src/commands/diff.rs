//! `ctx diff`: what two requests or contexts have in common at their beginning, and what a log of requests cost.

use ctx_language::Language;
use std::path::Path;

use ctx_engine::inspect::{Comparison, SavedContext};
use ctx_engine::{Compile, Engine};
use ctx_preset_import::Document;
use ctx_traffic::LogAnalysis;
use ctx_types::phrase;
use serde_json::json;

use crate::args::DiffArguments;
use crate::exit::Exit;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::inputs::{self, InputFile};
use ctx_project::request_log;
use ctx_project::turn::{self, Turn, TurnFiles};

/// Compares two files, or the requests of a log, and prints the result.
pub(crate) fn run(language: Language, arguments: &DiffArguments) -> Result<Exit> {
    let DiffArguments { first, second, session, profile, models, worldbooks, .. } = arguments;
    let files = [Some(first), second.as_ref(), session.as_ref(), profile.as_ref(), models.as_ref()];
    inputs::check_stdin(files.into_iter().flatten().chain(worldbooks))?;
    let mut sources = show::sources(language);
    let Some(second) = second else { return log(language, arguments, &mut sources) };
    let sides = [Side::read(first, &mut sources)?, Side::read(second, &mut sources)?];
    let [first, second] = match sides {
        [Side::Body(first), Side::Body(second)] => {
            let models =
                project::model_table(language, (&arguments.config, &arguments.models), &mut sources)?;
            let Some(comparison) = LogAnalysis::compare(models, &first, &second) else {
                return Err(ProjectError::Unusable(phrase!("one of the two files is not a request body")));
            };
            return show::output(
                arguments.json,
                || &comparison,
                || show::requests::pair(language, &comparison),
            );
        }
        sides => assembled(language, sides, arguments, &mut sources)?,
    };
    let comparison = Comparison::new(&first, &second);
    show::output(arguments.json, || json!(comparison), || show::comparison(language, &comparison))
}

/// Analyzes the requests of a log.
fn log(language: Language, arguments: &DiffArguments, sources: &mut Sources) -> Result<Exit> {
    let models = project::model_table(language, (&arguments.config, &arguments.models), sources)?;
    let size = std::fs::metadata(&arguments.first).map_or(0, |file| file.len());
    // Short logs need no progress.
    let bar = (size > 64 << 20).then(|| show::Bar::bytes(size));
    let report = request_log::analyze(&arguments.first, models, &mut |done| {
        if let Some(bar) = &bar {
            bar.set(done);
        }
    })?;
    drop(bar);
    let name = files::name(&arguments.first);
    if report.requests.is_empty() {
        return Err(ProjectError::Unusable(phrase!(
            "`{name}` has no requests; a log has one per line, and to compare two files, name both",
            name
        )));
    }
    show::output(arguments.json, || &report, || show::requests::log(language, &report, arguments.all))
}

/// What one of the two files holds.
enum Side {
    /// A context that was saved.
    Saved(SavedContext),
    /// A request body.
    Body(String),
    /// An agent, or nothing that is known.
    Agent(InputFile),
}

impl Side {
    fn read(path: &Path, sources: &mut Sources) -> Result<Self> {
        let file = InputFile::from(path);
        let bytes = sources.read(&file.path, &file.name)?;
        if let Some(body) = request_log::body(&bytes, &file.name) {
            return Ok(Self::Body(body));
        }
        let document = Document::read(&bytes, &file.name).ok().map(|document| document.value);
        let saved = document.as_ref().and_then(SavedContext::read);
        Ok(saved.map_or_else(|| Self::Agent(InputFile { bytes: Some(bytes), ..file }), Self::Saved))
    }
}

/// Assembles the agents: with the command line and the defaults below it, which are the same for both, and at one time.
fn assembled(
    language: Language,
    [first, second]: [Side; 2],
    arguments: &DiffArguments,
    sources: &mut Sources,
) -> Result<[SavedContext; 2]> {
    let mut config = project::config(language, &arguments.config, sources)?;
    let mut given = arguments.options();
    project::report_added_files(language, config.complete(&mut given, sources)?.as_ref());
    let (files, input) = (TurnFiles::of(&given)?, turn::input(&given)?);
    let mut assemble = |side| -> Result<SavedContext> {
        let file = match side {
            Side::Saved(context) => return Ok(context),
            Side::Body(body) => {
                let value = serde_json::from_str(&body).unwrap_or_default();
                return Ok(SavedContext::read(&value).unwrap_or_default());
            }
            Side::Agent(file) => file,
        };
        let files = TurnFiles { agent: Some(file), ..files.clone() };
        let with = (Engine::new(), Compile::default());
        let turn = Turn::read_with(with, config.clone(), &files, input.clone(), sources)?;
        // What is odd about the defaults is told once.
        config.found.clear();
        let context = project::assemble(language, &turn, sources, false)?;
        show::findings(language, sources, &context.report.diagnostics);
        Ok(SavedContext::from_context(&context))
    };
    Ok([assemble(first)?, assemble(second)?])
}
