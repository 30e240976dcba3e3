//! `ctx assemble`: the messages that a model receives.

use anyhow::{Context as _, Result};
use ctx_engine::{
    Compile, CompiledAgent, Context, Engine, Format as FileFormat, Request, Switches, openai_chat,
};
use ctx_types::{Agent, Diagnostic, Session, TurnInput};
use serde_json::{Map, Value};

use crate::args::{AssembleArguments, Format};
use crate::commands::inputs;
use crate::exit::{Exit, UsageError};
use crate::files;
use crate::show::{self, Sources};

/// What the request body names as its model where nothing else does.
const UNNAMED_MODEL: &str = "unspecified";

/// Assembles one context and prints it.
pub(crate) fn run(arguments: &AssembleArguments) -> Result<Exit> {
    let mut sources = Sources::default();
    let turn = turn(arguments)?;
    let inputs = Inputs::read(arguments, &mut sources)?;
    let mut context = inputs.compiled.assemble(&inputs.session, &turn);
    name_document(&mut context.report.diagnostics, inputs.agent_name.as_deref());
    sources.show(&inputs.found, inputs.format);
    sources.show(&context.report.diagnostics, inputs.format);
    if let Some(path) = &arguments.report {
        let report = serde_json::to_vec_pretty(&context.report).context("cannot write the report as JSON")?;
        files::write(path, &report)?;
    }
    print(arguments, &inputs, &context, &sources)?;
    Ok(Exit::Success)
}

/// The files of the command line, read and compiled.
struct Inputs {
    agent: Agent,
    agent_name: Option<String>,
    format: Option<FileFormat>,
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
        let mut agent = Agent::default();
        let mut format = None;
        if let Some(path) = &arguments.agent {
            let imported = inputs::agent(path, &engine, sources)?;
            (agent, format) = (imported.value, Some(imported.format));
            found.extend(imported.diagnostics);
        }
        let mut session = Session::new("session");
        if let Some(path) = &arguments.session {
            let imported = inputs::conversation(path, sources)?;
            session = imported.value;
            found.extend(imported.diagnostics);
        }
        let mut with = Compile { profile: None, switches: switches(arguments) };
        if let Some(path) = &arguments.profile {
            let imported = inputs::profile(path, sources)?;
            with.profile = Some(imported.value);
            found.extend(imported.diagnostics);
        }
        let tools = arguments.tools.as_deref().map(inputs::tools).transpose()?.unwrap_or_default();
        let compiled = engine.compile(&agent, &with);
        let agent_name = arguments.agent.as_deref().map(files::name);
        Ok(Self { agent, agent_name, format, compiled, session, tools, found })
    }
}

fn switches(arguments: &AssembleArguments) -> Switches {
    Switches { enable: arguments.enable.clone(), disable: arguments.disable.clone() }
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
        model: arguments.model.as_deref().map(Into::into),
        preview: true,
        ..TurnInput::default()
    })
}

/// Findings of the compiler and the assembler are about the agent's file.
fn name_document(diagnostics: &mut [Diagnostic], agent: Option<&str>) {
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.location.pointer.is_some()) {
        diagnostic.location.document = agent.map(Into::into);
    }
}

fn print(arguments: &AssembleArguments, inputs: &Inputs, context: &Context, sources: &Sources) -> Result<()> {
    let format = if arguments.json { Format::Json } else { arguments.format };
    match format {
        Format::Table => show::result(&show::table(context)),
        Format::Json => show::json(&context.to_json()),
        Format::Text => {
            let texts: Vec<String> = context
                .messages
                .iter()
                .map(|message| format!("[{}]\n{}\n", message.role, message.text()))
                .collect();
            show::result(&texts.join("\n"))
        }
        Format::Snapshot => show::result(&context.to_snapshot()),
        Format::Openai => {
            let model = arguments.model.as_deref().or(inputs.agent.model_id.as_deref());
            let request = Request {
                model: model.unwrap_or(UNNAMED_MODEL),
                tools: &inputs.tools,
                parameters: &Map::new(),
            };
            let encoded = openai_chat::encode(&context.messages, &request);
            sources.show(&encoded.diagnostics, None);
            show::json(&encoded.body)
        }
    }
}
