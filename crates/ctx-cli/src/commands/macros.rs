//! `ctx macros`: which macros there are, and what a text with macros becomes.

use ctx_language::Language;
use std::path::Path;

use ctx_macros::{Definition, Dialect, Registry, Template};
use ctx_preset_import::decode;
use ctx_types::{Diagnostic, Source, SourceKind, Text, Trust, phrase};
use serde_json::{Value, json};

use crate::args::{MacrosArguments, MacrosCommand, MacrosExpandArguments, MacrosListArguments};
use crate::exit::Exit;
use crate::lang;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::inputs::{self, InputFile};
use ctx_project::macro_env::{EnvFile, ExpansionJson, definition_json};
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
        let decoded = decode(&bytes);
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
        show::json(&ExpansionJson::new(&expansion, origin, &found, &env.state))?;
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
    if arguments.at.is_some() {
        env.at_millis = Some(turn::time(arguments.at.as_deref())?.as_millisecond());
    }
    env.at_millis.get_or_insert_with(|| jiff::Timestamp::now().as_millisecond());
    if arguments.tz.is_some() {
        env.zone = Some(turn::zone(arguments.tz.as_deref())?.into());
    }
    env.seed = arguments.seed.unwrap_or(env.seed);
    Ok(file)
}
