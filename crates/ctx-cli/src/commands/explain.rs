//! `ctx explain`: how a context came about, as text, as a web page, and the life of one message.

use ctx_language::Language;
use ctx_types::phrase;
use std::path::Path;

use ctx_engine::Context;
use ctx_engine::internal::{MessageTrace, TracedMessage};
use serde_json::json;

use crate::args::ExplainArguments;
use crate::exit::Exit;
use crate::page::{self, About};
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files::{self, Existing};
use ctx_project::turn::Turn;
use ctx_project::{request_log, unusable};
use ctx_traffic::RequestOutline;

/// Assembles one context and prints what explains it.
pub(crate) fn run(language: Language, arguments: &ExplainArguments) -> Result<Exit> {
    let wanted = arguments.message.as_ref().or(arguments.message_behind.as_ref());
    let is_turn = arguments.turn.session.is_some() || arguments.html.is_some();
    if let Some(file) = arguments.turn.setup.agent.as_ref().filter(|_| !is_turn)
        && let Some(exit) = request(language, file, wanted, arguments)?
    {
        return Ok(exit);
    }
    if let Some(agent) = arguments.turn.setup.agent.as_deref().filter(|_| wanted.is_none()) {
        refuse_message(agent)?;
    }
    let with_timings = arguments.turn.timings;
    let mut sources = show::sources(language);
    let mut turn = project::turn(language, &arguments.turn, &mut sources)?;
    turn.is_traced = wanted.is_some() || arguments.html.is_some();
    let context = project::assemble(language, &turn, &sources, with_timings)?;
    let life = wanted.map(|wanted| life(wanted, &turn, &context)).transpose()?;
    show::findings(language, &sources, &context.report.diagnostics);
    if let Some(path) = &arguments.html {
        let page = page(language, arguments, &turn, &context, &sources)?;
        files::write(&[(path.clone(), page.as_bytes())], Existing::Named, &sources.files_read)?;
        if !arguments.json {
            show::note(language, &phrase!("wrote `{path}`", path = files::name(path)));
            return Ok(Exit::Success);
        }
    }
    match (&life, arguments.json) {
        (Some(life), true) => show::json(&json!(life))?,
        (Some(life), false) => show::drawn(&show::life(language, life))?,
        (None, true) => show::json(&json!(context.report))?,
        (None, false) => {
            show::result(&show::explanation(language, &context, with_timings))?;
            return Ok(Exit::Success);
        }
    }
    if with_timings {
        show::timings(language, &context.timings);
    }
    Ok(Exit::Success)
}

/// Prints the blocks of a request body, or of a request of a log. Returns `None` for other files.
fn request(
    language: Language,
    path: &Path,
    wanted: Option<&String>,
    arguments: &ExplainArguments,
) -> Result<Option<Exit>> {
    let (mut sources, name) = (show::sources(language), files::name(path));
    let models = |sources: &mut Sources| {
        let given = (&arguments.turn.setup.config, &arguments.turn.setup.models);
        project::model_table(language, given, sources)
    };
    let outline = if !files::is_stdin(path) && request_log::is_log(path) {
        let number = wanted.and_then(|wanted| wanted.parse().ok()).ok_or_else(|| {
            ProjectError::Usage(phrase!(
                "`{name}` is a log; add the number of a request, as `ctx diff {name}` prints it",
                name
            ))
        })?;
        let models = models(&mut sources)?;
        let line = request_log::read_request(path, number, models.clone())?;
        line.and_then(|line| RequestOutline::read(&models, &line))
            .ok_or_else(|| unusable!("`{name}` has no request {number}", name, number = number.to_string()))?
    } else if wanted.is_none() && !files::is_stdin(path) && path.is_file() {
        let bytes = sources.read(path, &name)?;
        let Some(body) = request_log::body(&bytes, &name) else { return Ok(None) };
        match RequestOutline::read(&models(&mut sources)?, &body) {
            Some(outline) => outline,
            None => return Ok(None),
        }
    } else {
        return Ok(None);
    };
    show::output(arguments.json, || &outline, || show::requests::outline(language, &outline)).map(Some)
}

/// Finds the message that is meant; a usage error, with what may be meant, if there is none.
fn life(wanted: &str, turn: &Turn, context: &Context) -> Result<TracedMessage> {
    let traces = MessageTrace::read(context, turn.session());
    let found = traces.map(|traces| traces.find(wanted)).transpose();
    let found = found.map_err(|unknown| ProjectError::Usage(unknown.phrase()))?;
    found.ok_or_else(no_stage)
}

fn no_stage() -> ProjectError {
    unusable!("no message trace was recorded")
}

/// Writes the page of a context.
fn page(
    language: Language,
    arguments: &ExplainArguments,
    turn: &Turn,
    context: &Context,
    sources: &Sources,
) -> Result<String> {
    let traces = MessageTrace::read(context, turn.session()).ok_or_else(no_stage)?;
    let files = [("agent file", &arguments.turn.setup.agent), ("conversation", &arguments.turn.session)];
    let files = files.into_iter().filter_map(|(name, path)| Some((name, files::name(path.as_ref()?))));
    let model = turn.input.model.as_ref().map(|model| ("model", model.to_string()));
    let at = turn.input.at_millis.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    let zone = turn.input.zone.as_deref().unwrap_or("UTC");
    let at = at.map(|at| ("date and time", format!("{at}, {zone}")));
    let seed = ("seed", turn.input.seed.to_string());
    let facts = files.chain(model).chain(at).chain([seed]).collect();
    Ok(page::page(language, context, &traces, About { agent: turn.agent_name(), facts }, sources))
}

/// Refuses a message where the agent is expected: the name of no file, and a number or a source.
fn refuse_message(agent: &Path) -> Result<(), ProjectError> {
    let Some(name) = agent.to_str().filter(|_| !files::is_stdin(agent) && !agent.exists()) else {
        return Ok(());
    };
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    let kinds = ["preset", "history", "summary", "input", "worldbook", "plugin", "merged", "formatter"];
    let is_source = kinds.iter().any(|kind| {
        let rest = name.strip_prefix(kind);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '#']))
    });
    if is_number || is_source {
        Err(ProjectError::Usage(phrase!(
            "no agent file `{name}`; to select a message, use `--message {name}`",
            name
        )))
    } else {
        Ok(())
    }
}
