//! `ctx schema`: JSON Schemas of files and reports.

use ctx_language::Language;
use std::path::{Path, PathBuf};

use ctx_engine::Engine;
use ctx_types::internal::{Argument, Divider, closest};
use ctx_types::phrase;
use serde_json::{Value, json};

use crate::args::SchemaArguments;
use crate::exit::Exit;
use crate::lang;
use crate::show;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files::{self, Existing, FilesRead};
use ctx_project::schemas::{self, FileSchema};

/// Lists schemas, prints one, or writes them to a folder.
pub(crate) fn run(language: Language, arguments: &SchemaArguments) -> Result<Exit> {
    let named = arguments.name.as_deref().map(schema).transpose()?;
    match (&arguments.out, named) {
        (Some(folder), Some(schema)) => write(language, folder, &[schema], arguments.json)?,
        (Some(folder), None) => write(language, folder, &schemas::all(), arguments.json)?,
        (None, Some(schema)) => show::result(&schemas::text(&schema, &Engine::new()))?,
        (None, None) if arguments.json => {
            show::json(&schemas::all().iter().map(to_json).collect::<Value>())?;
        }
        (None, None) => show::result(&list(language))?,
    }
    Ok(Exit::Success)
}

/// Returns the schema of a name.
fn schema(name: &str) -> Result<FileSchema, ProjectError> {
    schemas::named(name).ok_or_else(|| {
        let names: Vec<&str> = schemas::all().iter().map(|schema| schema.name).collect();
        let hint = match closest(name, names.iter().copied()) {
            Some(near) => phrase!("did you mean `{near}`?", near),
            None => phrase!("use one of {names}", names = Argument::list(names, Divider::Comma)),
        };
        ProjectError::Usage(phrase!("unknown schema `{name}`; {hint}", name, hint))
    })
}

/// What stands below the list.
const LEGEND: &str = "\nprint one with `ctx schema NAME`; write all with `ctx schema --out schemas`\n";

fn list(language: Language) -> String {
    let rows = schemas::all()
        .into_iter()
        .map(|schema| [schema.name.to_owned(), lang::word(language, schema.about).into_owned()]);
    show::listing(language, ["schema", "description"], rows) + &lang::lines(language, LEGEND)
}

fn to_json(schema: &FileSchema) -> Value {
    json!({ "name": schema.name, "about": schema.about, "file": schemas::file_name(schema) })
}

/// Writes schemas to a folder, all of them or none.
fn write(language: Language, folder: &Path, wanted: &[FileSchema], is_json: bool) -> Result<()> {
    files::refuse_stdin(folder)?;
    files::make_folder(folder)?;
    let engine = Engine::new();
    let texts: Vec<(PathBuf, String)> = wanted
        .iter()
        .map(|schema| (folder.join(schemas::file_name(schema)), schemas::text(schema, &engine)))
        .collect();
    let all: Vec<(PathBuf, &[u8])> =
        texts.iter().map(|(path, text)| (path.clone(), text.as_bytes())).collect();
    files::write(&all, Existing::Replace, &FilesRead::default())?;
    let names: Vec<String> = texts.iter().map(|(path, _)| files::name(path)).collect();
    if is_json {
        return show::json(&json!({ "written": names }));
    }
    show::result(&names.iter().map(|name| show::wrote(language, name)).collect::<String>())
}
