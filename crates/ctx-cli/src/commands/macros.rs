//! `ctx macros`: which macros there are, and what a text with macros becomes.

use ctx_language::Language;
use std::path::Path;

use ctx_macros::{Definition, Dialect, Expansion, Registry, Scope, State, Template};
use ctx_preset_import::decode;
use ctx_types::{Diagnostic, Segment, Source, SourceKind, Text, Trust, phrase};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::args::{MacrosArguments, MacrosCommand, MacrosExpandArguments, MacrosListArguments};
use crate::exit::Exit;
use crate::lang;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::inputs::{self, InputFile};
use ctx_project::macro_env::EnvFile;
use ctx_project::turn;

/// The name of the text in findings.
const TEXT: &str = "the text";

/// Lists macros or expands a text.
pub(crate) fn run(language: Language, arguments: &MacrosArguments) -> Result<Exit> {
    match &arguments.command {
        MacrosCommand::List(arguments) => list(language, arguments),
        MacrosCommand::Expand(arguments) => expand(language, arguments),
    }
}

fn list(language: Language, arguments: &MacrosListArguments) -> Result<Exit> {
    let registry = Registry::builtin();
    let is_meant = |known: &&Definition| arguments.dialect.is_none_or(|dialect| known.is_in(dialect));
    let definitions = registry.iter().filter(is_meant);
    if arguments.json {
        show::json(&definitions.map(definition_json).collect::<Value>())?;
    } else {
        show::result(&show::listing(
            language,
            HEADER,
            definitions.map(|definition| cells(language, definition)),
        ))?;
    }
    Ok(Exit::Success)
}

const HEADER: [&str; 5] = ["macro", "syntax", "arguments", "properties", "result"];

fn cells(language: Language, definition: &Definition) -> [String; 5] {
    let names: Vec<&str> = definition.names().map(|name| &**name).collect();
    let marks = [(definition.volatile, "volatile"), (definition.changes_state, "changes variables")];
    let marks: Vec<&str> = marks.into_iter().filter_map(|(is_set, mark)| is_set.then_some(mark)).collect();
    [
        names.join("\n"),
        dialects(definition).join("\n"),
        lang::say(language, &definition.arity.phrase()),
        marks.iter().map(|mark| lang::word(language, mark)).collect::<Vec<_>>().join("\n"),
        format!("{}\n{}", lang::word(language, &definition.description), definition.example),
    ]
}

fn definition_json(definition: &Definition) -> Value {
    json!({
        "name": definition.name,
        "aliases": definition.aliases,
        "dialects": dialects(definition),
        "topic": definition.topic.as_str(),
        "arguments": { "min": definition.arity.min, "max": definition.arity.max },
        "changesState": definition.changes_state,
        "volatile": definition.volatile,
        "description": definition.description,
        "example": definition.example,
    })
}

fn dialects(definition: &Definition) -> Vec<&'static str> {
    definition.dialects().map(Dialect::as_str).collect()
}

fn expand(language: Language, arguments: &MacrosExpandArguments) -> Result<Exit> {
    let mut sources = show::sources(language);
    let is_stdin = files::is_stdin(Path::new(&arguments.text));
    let both = is_stdin.then_some(Path::new("-")).into_iter().chain(arguments.env.as_deref());
    inputs::check_stdin(both)?;
    let text = if is_stdin {
        let bytes = sources.read(Path::new("-"), TEXT)?;
        let decoded = decode(&bytes, &ctx_engine::Limits::default());
        Text::from(&*decoded.map_err(|error| sources.explain(TEXT, &error))?)
    } else {
        sources.add(TEXT, arguments.text.as_bytes());
        Text::from(arguments.text.as_str())
    };
    let mut env = environment(language, arguments, &mut sources)?;
    let template = Template::parse(&text, arguments.dialect, &Registry::builtin());
    let origin = Source::new(SourceKind::Input, Trust::Preset);
    let expansion = template.expand(&env.env, &mut env.state, &origin);
    let found = [template.diagnostics(), &expansion.diagnostics].concat();
    let found: Vec<Diagnostic> = found.into_iter().map(|one| one.in_document(TEXT)).collect();
    if arguments.json {
        show::json(&expansion_json(&expansion, &origin, &found, &env.state))?;
    } else {
        show::findings(language, &sources, &found);
        show::result(&format!("{}\n", expansion.text))?;
    }
    Ok(Exit::Success)
}

/// Reads the environment; what the command line says about the moment wins over it.
fn environment(
    language: Language,
    arguments: &MacrosExpandArguments,
    sources: &mut Sources,
) -> Result<EnvFile> {
    let mut file = EnvFile::read(&json!({}));
    if let Some(path) = &arguments.env {
        let input = InputFile::from(path);
        let (value, mut found) = inputs::document(&input, sources)?;
        if !value.is_object() {
            let told = phrase!("`{file}` is not an object (with keys such as `user`)", file = &input.name);
            return Err(ProjectError::Unusable(told));
        }
        file = EnvFile::read(&value);
        found.extend(file.diagnostics.drain(..).map(|one| one.in_document(&*input.name)));
        show::findings(language, sources, &found);
    }
    let env = &mut file.env;
    if let Some(at) = &arguments.at {
        let moment = turn::moment(at)
            .map_err(|fault| ProjectError::Usage(phrase!("`--at {at}` {line}", at, line = fault.line())))?;
        env.at_millis = Some(moment.as_millisecond());
    }
    env.at_millis.get_or_insert_with(|| jiff::Timestamp::now().as_millisecond());
    if let Some(zone) = &arguments.tz {
        turn::check_zone(zone).map_err(|fault| {
            ProjectError::Usage(phrase!("`--tz {zone}` {line}", zone, line = fault.line()))
        })?;
        env.zone = Some(zone.as_str().into());
    }
    env.seed = arguments.seed.unwrap_or(env.seed);
    Ok(file)
}

/// What `--json` prints. There may be many segments, so they are written as they are and not as a tree of values.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExpansionJson<'a> {
    text: &'a Text,
    segments: Vec<Segment>,
    diagnostics: &'a [Diagnostic],
    variables: Map<String, Value>,
    global_variables: Map<String, Value>,
}

fn expansion_json<'a>(
    expansion: &'a Expansion,
    origin: &Source,
    found: &'a [Diagnostic],
    state: &State,
) -> ExpansionJson<'a> {
    let mut segments = expansion.segments();
    if segments.is_empty() && !expansion.text.is_empty() {
        segments.push(Segment::full(expansion.text.len(), origin.clone()));
    }
    ExpansionJson {
        text: &expansion.text,
        segments,
        diagnostics: found,
        variables: state.variables_json(Scope::Local),
        global_variables: state.variables_json(Scope::Global),
    }
}
