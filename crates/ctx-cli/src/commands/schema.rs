//! `ctx schema`: JSON Schemas of files and reports.

use std::path::{Path, PathBuf};

use anyhow::Result;
use ctx_engine::Engine;
use ctx_types::{closest, phrase};
use serde_json::{Value, json};

use crate::args::SchemaArguments;
use crate::exit::Exit;
use crate::lang;
use crate::schemas::{self, FileSchema};
use crate::show;
use ctx_project::error::ProjectError;
use ctx_project::files::{self, Existing, FilesRead};

/// Lists schemas, prints one, or writes them to a folder.
pub(crate) fn run(arguments: &SchemaArguments) -> Result<Exit> {
    let named = arguments.name.as_deref().map(schema).transpose()?;
    match (&arguments.out, named) {
        (Some(folder), Some(schema)) => write(folder, &[schema], arguments.json)?,
        (Some(folder), None) => write(folder, &schemas::all(), arguments.json)?,
        (None, Some(schema)) => show::result(&schemas::text(&schema, &Engine::new()))?,
        (None, None) if arguments.json => {
            show::json(&schemas::all().iter().map(to_json).collect::<Value>())?;
        }
        (None, None) => show::result(&list())?,
    }
    Ok(Exit::Success)
}

/// Returns the schema of a name.
fn schema(name: &str) -> Result<FileSchema, ProjectError> {
    schemas::named(name).ok_or_else(|| {
        let names: Vec<&str> = schemas::all().iter().map(|schema| schema.name).collect();
        let hint = match closest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        ProjectError::Usage(phrase!("there is no schema `{name}`; {hint}", name, hint))
    })
}

/// What stands below the list.
const LEGEND: &str =
    "\n`ctx schema NAME` prints one; `ctx schema --out schemas` writes all of them to a folder\n";

fn list() -> String {
    let rows = schemas::all()
        .into_iter()
        .map(|schema| [schema.name.to_owned(), lang::text(schema.about).into_owned()]);
    show::listing(["schema", "what it describes"], rows) + &lang::lines(LEGEND)
}

fn to_json(schema: &FileSchema) -> Value {
    json!({ "name": schema.name, "about": schema.about, "file": schemas::file_name(schema) })
}

/// Writes schemas to a folder, all of them or none.
fn write(folder: &Path, wanted: &[FileSchema], is_json: bool) -> Result<()> {
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
    let lines: Vec<String> = names.iter().map(|name| format!("wrote {name}\n")).collect();
    show::result(&lang::lines(&lines.concat()))
}
