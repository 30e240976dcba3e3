//! `ctx assemble`: the messages that a model receives.

use anyhow::{Context as _, Result};
use ctx_engine::{Compile, CompiledAgent, Context, Engine, Request, Switches, openai_chat};
use ctx_types::{Agent, Diagnostic, GenerationKind, Session, TurnInput};
use serde_json::{Map, Value};

use crate::args::{AssembleArguments, Format, Kind};
use crate::commands::inputs::{self, AgentFile};
use crate::exit::{Exit, UsageError};
use crate::files::{self, Existing};
use crate::show::{self, Sources};

/// What the request body names as its model where nothing else does.
const UNNAMED_MODEL: &str = "unspecified";

/// Assembles one context and prints it.
pub(crate) fn run(arguments: &AssembleArguments) -> Result<Exit> {
    let files = [&arguments.agent, &arguments.session, &arguments.profile, &arguments.tools];
    inputs::check_stdin(files.into_iter().flatten())?;
    let mut turn = turn(arguments)?;
    let mut sources = Sources::default();
    let inputs = Inputs::read(arguments, &mut sources)?;
    turn.tools = inputs.tools.iter().map(inputs::tool).collect();
    turn.model = inputs.compiled.model_name(&turn).map(Into::into);
    let context = inputs.assemble(&turn, &sources)?;
    sources.show(&context.report.diagnostics);
    if let Some(path) = &arguments.report {
        let report = serde_json::to_vec_pretty(&context.report).context("cannot write the report as JSON")?;
        files::write(&[(path.clone(), &report)], Existing::Replace)?;
    }
    match if arguments.json { Format::Json } else { arguments.format } {
        Format::Table => show::result(&show::context(&context))?,
        Format::Json => show::json(&context.to_json())?,
        Format::Text => show::result(&show::messages(&context.messages))?,
        Format::Snapshot => show::result(&context.to_snapshot())?,
        Format::Openai => show::json(&inputs.openai(&turn, &context, &sources))?,
    }
    Ok(Exit::Success)
}

/// The files of the command line, read and compiled.
struct Inputs {
    agent: Option<AgentFile>,
    compiled: CompiledAgent,
    session: Session,
    tools: Vec<Value>,
    /// What was found while reading.
    found: Vec<Diagnostic>,
}

impl Inputs {
    fn read(arguments: &AssembleArguments, sources: &mut Sources) -> Result<Self> {
        let engine = Engine::new();
        let mut found = Vec::new();
        let agent = arguments.agent.as_deref();
        let agent = agent.map(|path| AgentFile::read(path, &engine, sources)).transpose()?;
        found.extend(agent.iter().flat_map(|file| file.found.iter().cloned()));
        let mut session = Session::new("session");
        if let Some(path) = &arguments.session {
            let imported = inputs::conversation(path, sources)?;
            session = imported.value;
            found.extend(imported.diagnostics);
        }
        let switches = Switches { enable: arguments.enable.clone(), disable: arguments.disable.clone() };
        let mut with = Compile { switches, ..Compile::default() };
        if let Some(path) = &arguments.profile {
            let imported = inputs::profile(path, sources)?;
            with.profile = Some(imported.value);
            found.extend(imported.diagnostics);
        }
        let mut tools = Vec::new();
        if let Some(path) = &arguments.tools {
            let (definitions, odd) = inputs::tools(path, sources)?;
            tools = definitions;
            found.extend(odd);
        }
        let compiled = match &agent {
            Some(file) => engine.compile(&file.agent, &with),
            None => engine.compile(&Agent::default(), &with),
        };
        Ok(Self { agent, compiled, session, tools, found })
    }

    /// Assembles the context; its report begins with what was found while reading.
    ///
    /// If there is none, what was found is shown: it may be the reason.
    fn assemble(&self, turn: &TurnInput, sources: &Sources) -> Result<Context> {
        let assembled = self.compiled.assemble_blocking(&self.session, turn);
        let mut context = assembled.inspect_err(|_| sources.show(&self.found))?;
        let mut found = std::mem::take(&mut context.report.diagnostics);
        if let Some(file) = &self.agent {
            found = file.lead_back(found);
        }
        context.report.diagnostics = [self.found.clone(), found].concat();
        Ok(context)
    }

    /// Writes the request body; what does not fit into it is shown.
    fn openai(&self, turn: &TurnInput, context: &Context, sources: &Sources) -> Value {
        let model = self.compiled.model_name(turn).unwrap_or(UNNAMED_MODEL);
        let request = Request { model, tools: &self.tools, parameters: &Map::new() };
        let encoded = openai_chat::encode(&context.messages, &request);
        let of_body = |found: Diagnostic| found.in_document("request body");
        let found: Vec<Diagnostic> = encoded.diagnostics.into_iter().map(of_body).collect();
        sources.show(&found);
        encoded.body
    }
}

/// The turn that the command line describes; without `--at` it is now.
fn turn(arguments: &AssembleArguments) -> Result<TurnInput> {
    let at = match &arguments.at {
        None => jiff::Timestamp::now(),
        Some(text) => text.parse().map_err(|error| {
            let hint = "write a time such as 2026-01-31T12:00:00Z";
            UsageError(format!("`--at {text}` is not an RFC 3339 time: {error}; {hint}"))
        })?,
    };
    let zone = &arguments.tz;
    jiff::tz::TimeZone::get(zone).map_err(|_| {
        UsageError(format!("`--tz {zone}` is not a time zone; write a name such as Asia/Shanghai or UTC"))
    })?;
    Ok(TurnInput {
        at_millis: Some(at.as_millisecond()),
        zone: Some(zone.as_str().into()),
        seed: arguments.seed,
        input: arguments.input.as_deref().map(Into::into),
        kind: kind(arguments.kind),
        model: arguments.model.as_deref().map(Into::into),
        context_tokens: arguments.context_tokens,
        reserve: arguments.reserve,
        preview: true,
        ..TurnInput::default()
    })
}

fn kind(kind: Kind) -> GenerationKind {
    match kind {
        Kind::Normal => GenerationKind::Normal,
        Kind::Continue => GenerationKind::Continue,
        Kind::Impersonate => GenerationKind::Impersonate,
        Kind::Quiet => GenerationKind::Quiet,
    }
}
