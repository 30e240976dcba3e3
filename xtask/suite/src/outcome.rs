//! What our own engine makes of a case, in words that any implementation has.

use std::path::Path;

use anyhow::{Result, bail};
use ctx_engine::{
    AssembleError, Compile, Context, Dialect, Engine, ImportError, Imported, Ports, Request, read_agent,
    read_conversation, read_profile, read_worldbook,
};
use ctx_types::session::Session;
use ctx_types::{Agent, Diagnostic, Source, TurnInput};
use serde_json::{Map, Value, json};

use crate::attached::Attached;
use crate::case_files::{CaseFiles, InputFile, read_cases};
use crate::cases::Case;
use crate::change::Change;

/// What of a message is expected: its other fields are ours alone, or depend on how tokens are counted.
const OF_A_MESSAGE: [&str; 7] =
    ["role", "content", "name", "tool_calls", "tool_call_id", "attachments", "prefix"];

/// Assembles the case in a folder: `case.yaml` or `case.json` beside its files.
///
/// The result is an object with `messages`, `decisions` and `bodies`, or with `unreadable`, or with `error`; in any
/// case with `findings`. Errors: a case names a dialect that does not exist, or the folder has several cases.
pub fn outcome(folder: &Path) -> Result<Value> {
    match read_cases(folder).as_slice() {
        [files] => outcome_with(files, &Change::default()),
        cases => bail!("{} has {} cases", folder.display(), cases.len()),
    }
}

/// Assembles a case as [`outcome`] does, after something was changed.
pub(crate) fn outcome_with(files: &CaseFiles, change: &Change) -> Result<Value> {
    let mut case = Case::of(files);
    let mut engine = Engine::new();
    let mut inputs = Inputs::default();
    let agent = inputs.read("agent", files.input("agent"), read_agent);
    let session = inputs.read("session", files.input("session"), read_conversation);
    let profile = inputs.read("profile", files.input("profile"), read_profile);
    let mut worldbooks = Vec::new();
    for stem in files.worldbook_stems() {
        let book = inputs.read(&stem, files.input(&stem), read_worldbook);
        worldbooks.extend(book.map(|book| case.worldbook(&stem, book)));
    }
    if !inputs.unreadable.is_empty() {
        return Ok(json!({ "unreadable": inputs.unreadable, "findings": codes(inputs.findings) }));
    }
    let agent = agent.unwrap_or_default();
    change.apply(&mut case, &agent, &mut engine);
    let mut session = session.unwrap_or_else(|| Session::new("session"));
    change.apply_to_conversation(&mut session);
    let compile = case.compile(profile, worldbooks);
    assembled(&files.folder, &case, inputs.findings, (&engine, &agent, &compile), session)
}

/// Takes the turns of a case whose files could be read; the last one is what comes out.
fn assembled(
    folder: &Path,
    case: &Case,
    read: Vec<Diagnostic>,
    (engine, agent, compile): (&Engine, &Agent, &Compile),
    mut session: Session,
) -> Result<Value> {
    let compiled = engine.compile(agent, compile);
    for turn in 1..case.turns.unwrap_or(1) {
        case.take_turn(&mut session, &compiled, turn);
    }
    let mut turn = case.turn();
    if case.expand_input {
        turn.input = Some(compiled.prepare_input(&session, &turn).text);
    }
    let attached = Attached::of(folder);
    let assemble = |turn: &TurnInput| {
        let ports = Ports::default().with(|lent| lent.attachments = attached.ports());
        pollster::block_on(compiled.assemble_with(&session, turn, ports))
    };
    let context = match assemble(&turn) {
        Err(error) => {
            let findings = read.into_iter().chain(compiled.diagnostics().iter().cloned());
            return Ok(json!({ "error": name_of(&error), "findings": codes(findings) }));
        }
        Ok(context) => context,
    };
    let of_dialect =
        |dialect: Dialect| assemble(&turn.clone().with(|turn| turn.dialect = Some(dialect.name().into())));
    let findings = read.into_iter().chain(context.report.diagnostics.iter().cloned());
    Ok(json!({
        "messages": messages(&context),
        "decisions": decisions(&context),
        "findings": codes(findings),
        "bodies": bodies(case, of_dialect)?,
    }))
}

/// What reading the files of a case gave.
#[derive(Default)]
struct Inputs {
    findings: Vec<Diagnostic>,
    unreadable: Vec<String>,
}

impl Inputs {
    fn read<T>(
        &mut self,
        stem: &str,
        file: Option<&InputFile>,
        read: impl Fn(&[u8], &str) -> Result<Imported<T>, ImportError>,
    ) -> Option<T> {
        let file = file?;
        match read(&file.bytes, &file.name) {
            Ok(imported) => {
                self.findings.extend(imported.diagnostics);
                Some(imported.value)
            }
            Err(error) => {
                self.findings.push(error.to_diagnostic());
                self.unreadable.push(stem.to_owned());
                None
            }
        }
    }
}

/// The codes in order, each as often as it was found: places and wording are ours.
fn codes(findings: impl IntoIterator<Item = Diagnostic>) -> Vec<String> {
    let mut codes: Vec<String> = findings.into_iter().map(|finding| finding.code.to_string()).collect();
    codes.sort();
    codes
}

fn messages(context: &Context) -> Vec<Value> {
    let whole = context.to_json();
    let all = whole.get("messages").and_then(Value::as_array).into_iter().flatten();
    all.zip(&context.messages)
        .map(|(written, message)| {
            let kept =
                OF_A_MESSAGE.iter().filter_map(|key| Some(((*key).to_owned(), written.get(*key)?.clone())));
            let mut kept: Map<String, Value> = kept.collect();
            kept.insert("source".to_owned(), source(&message.source));
            Value::Object(kept)
        })
        .collect()
}

fn decisions(context: &Context) -> Vec<Value> {
    let all = context.report.changes();
    all.map(|decision| {
        json!({ "outcome": decision.outcome, "source": source(&decision.source), "count": decision.count })
    })
    .collect()
}

fn source(source: &Source) -> Value {
    let mut map = Map::from_iter([("kind".to_owned(), json!(source.kind))]);
    if let Some(id) = &source.id {
        map.insert("id".to_owned(), json!(id));
    }
    if let Some(index) = source.index() {
        map.insert("index".to_owned(), json!(index));
    }
    Value::Object(map)
}

/// The request bodies that a case asks for, by dialect.
fn bodies(
    case: &Case,
    of_dialect: impl Fn(Dialect) -> Result<Context, AssembleError>,
) -> Result<Map<String, Value>> {
    let mut bodies = Map::new();
    if case.openai {
        let context = of_dialect(Dialect::OpenaiChat)?;
        bodies.insert("openai".to_owned(), context.encode(&Request::new("model")).to_value());
    }
    let model = case.model.as_deref().unwrap_or("model");
    for name in &case.bodies {
        let dialect = Dialect::parse(name).ok_or_else(|| anyhow::anyhow!("no dialect `{name}`"))?;
        let request = Request { model, tools: &case.tools, parameters: &case.parameters };
        let body = of_dialect(dialect)?.encode(&request).to_value();
        bodies.insert(name.clone(), body);
    }
    Ok(bodies)
}

/// Why there is no context, in a word.
fn name_of(error: &AssembleError) -> &'static str {
    match error {
        AssembleError::Budget(_) => "budget",
        AssembleError::Infeasible(_) => "infeasible",
        AssembleError::Cancelled => "cancelled",
        _ => "processor",
    }
}
