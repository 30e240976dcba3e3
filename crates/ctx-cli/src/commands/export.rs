//! `ctx export`: an agent as a file of another application.

use ctx_language::Language;
use std::path::{Path, PathBuf};

use ctx_engine::Engine;
use ctx_preset_import::{
    export_card_picture, export_lorebook, export_preset, export_regex_scripts, write_document,
};
use ctx_types::internal::{Argument, Divider};
use ctx_types::{Agent, Phrase, phrase};
use serde_json::{Value, json};

use crate::args::{AgentExportArguments, ExportForm};
use crate::exit::Exit;
use crate::show;
use ctx_project::Sources;
use ctx_project::books::{self, Books};
use ctx_project::error::{ProjectError, Result};
use ctx_project::export;
use ctx_project::files::{self, Existing};
use ctx_project::inputs;
use ctx_project::schemas;
use ctx_project::unusable;

/// Writes the agent.
pub(crate) fn run(language: Language, arguments: &AgentExportArguments) -> Result<Exit> {
    let mut sources = show::sources(language);
    let file = inputs::agent(arguments.agent.as_path(), &Engine::new(), &mut sources)?;
    show::findings(language, &sources, &file.found);
    let value = match arguments.to {
        ExportForm::StPreset => {
            let (preset, lost) = export_preset(&file.agent);
            show::findings(language, &sources, &file.lead_back(lost));
            preset
        }
        ExportForm::StCard => export::card(&file.agent, &arguments.agent, &mut sources)?,
        ExportForm::StLorebook => lorebook(&file.agent, arguments, &mut sources)?,
        ExportForm::StRegex => scripts(&file.agent, arguments)?,
        ExportForm::Aio => {
            let (agent, missing) = export::aio(&file, &arguments.agent, &mut sources)?;
            show::findings(language, &sources, &missing);
            agent
        }
    };
    let Some(out) = &arguments.out else {
        show::json(&value)?;
        return Ok(Exit::Success);
    };
    let bytes = bytes(&value, arguments, out, &mut sources)?;
    files::write(&[(out.clone(), &bytes)], Existing::Named, &sources.files_read)?;
    let name = files::name(out);
    show::output(arguments.json, || json!({ "written": [name] }), || show::wrote(language, &name))
}

/// Makes a lorebook of a worldbook beside the agent.
fn lorebook(agent: &Agent, arguments: &AgentExportArguments, sources: &mut Sources) -> Result<Value> {
    let mut books = Books::default();
    books::add_beside(&mut books, &arguments.agent, agent, sources)?;
    let books = books.loaded();
    let named: Vec<_> = books.iter().map(|book| (&*book.name, &*book.book)).collect();
    Ok(export_lorebook(one(&named, "worldbook", arguments)?))
}

/// Makes scripts of a list of regex rules.
fn scripts(agent: &Agent, arguments: &AgentExportArguments) -> Result<Value> {
    let lists = agent.regex_config.as_ref().map(|config| config.presets.as_slice()).unwrap_or_default();
    let named: Vec<_> = lists.iter().map(|list| (list.name.as_deref().unwrap_or_default(), list)).collect();
    Ok(export_regex_scripts(one(&named, "list of regex rules", arguments)?))
}

/// Returns the one that is asked for, or the only one.
fn one<'a, T>(
    named: &[(&str, &'a T)],
    kind: &'static str,
    arguments: &AgentExportArguments,
) -> Result<&'a T> {
    let names = || Argument::names(named.iter().map(|(name, _)| *name), Divider::Comma);
    match (&arguments.only, named) {
        (_, []) => Err(ProjectError::Usage(phrase!("the agent has no {kind}", kind = Phrase::from(kind)))),
        (None, [(_, only)]) => Ok(only),
        (None, _) => Err(ProjectError::Usage(phrase!(
            "the agent has {named}: {names}; choose one with `--only`",
            named = named.len(),
            names = names()
        ))),
        (Some(wanted), _) => {
            let found = named.iter().find(|(name, _)| name == wanted);
            found.map(|(_, found)| *found).ok_or_else(|| {
                ProjectError::Usage(phrase!(
                    "no {kind} named `{wanted}`; available: {names}",
                    kind = Phrase::from(kind),
                    wanted,
                    names = names()
                ))
            })
        }
    }
}

/// Writes a value as the ending of its file says.
fn bytes(
    value: &Value,
    arguments: &AgentExportArguments,
    out: &Path,
    sources: &mut Sources,
) -> Result<Vec<u8>> {
    let ending = out.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    match &*ending {
        "png" if arguments.to != ExportForm::StCard => {
            Err(ProjectError::Usage(phrase!("only character cards can be written into an image")))
        }
        "png" => {
            let picture = picture(&arguments.agent, sources)?;
            export_card_picture(value, picture.as_deref())
                .ok_or_else(|| unusable!("the image next to the agent is not a valid PNG"))
        }
        "yaml" | "yml" if arguments.to == ExportForm::Aio => {
            Ok(schemas::with_line_beside(out, "agent", &write_document(value)).into_bytes())
        }
        "yaml" | "yml" => Ok(write_document(value).into_bytes()),
        _ => Ok(files::pretty_json(value)),
    }
}

/// Reads the picture of the card that an agent was imported from, if it is there.
fn picture(agent: &Path, sources: &mut Sources) -> Result<Option<Vec<u8>>> {
    let path: PathBuf = agent.parent().unwrap_or(Path::new("")).join("assets").join("avatar.png");
    if !path.is_file() {
        return Ok(None);
    }
    if path.is_symlink() {
        return Err(unusable!("cannot read `{path}`: it is a link", path = files::name(&path)));
    }
    Ok(Some(sources.read(&path, &files::name(&path))?))
}
