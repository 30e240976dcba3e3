//! Files of the folder: created, copied, renamed, deleted, exported.

use std::path::Path;

use ctx_language::Language;
use ctx_preset_import::{export_lorebook, export_preset};
use ctx_project::inputs::{self, InputFile};
use ctx_project::{books, export as formats, files};
use ctx_types::phrase;
use serde_json::Value;

use crate::api::Finding;
use crate::api_files::{CreatedFile, DeleteFile, ExportedFile, FileKind, FileName, NewFile};
use crate::api_imports::Nothing;
use crate::call::{Call, Refusal, Reply};
use crate::codes;
use crate::desk::By;
use crate::file_name::file_name;
use crate::references::{redirected, refuse_used};
use crate::server::Server;

/// Creates a file from the template of its kind.
pub(crate) fn create(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    server.refuse_read_only()?;
    let NewFile { kind, name } = call.json()?;
    let (folder, extension) = match kind {
        FileKind::Agent | FileKind::Preset | FileKind::Profile => ("", "yaml"),
        FileKind::Conversation => ("", "json"),
        FileKind::Worldbook => ("worldbooks/", "json"),
        FileKind::Settings | FileKind::Config | FileKind::Other => {
            let message =
                phrase!("the page creates agents, presets, user profiles, worldbooks and conversations");
            return Err(Refusal::malformed(message));
        }
    };
    let name = file_name(&name, extension)?;
    let stem = name.strip_suffix(extension).and_then(|name| name.strip_suffix('.')).unwrap_or(&name);
    let path = format!("{folder}{name}");
    let id = server.desk.create(&path, template(kind, stem, call.language).as_bytes(), by(call))?;
    Reply::json(&CreatedFile { id, path })
}

/// Copies a file, with its unsaved edits.
pub(crate) fn duplicate(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let (path, to) = paths(server, call)?;
    let bytes = server.desk.bytes(call.part("f"))?;
    server.desk.folder.refuse_elsewhere(&path)?;
    let id = server.desk.create(&to, &bytes, by(call))?;
    Reply::json(&CreatedFile { id, path: to })
}

/// Renames a file, and changes the files that name it.
pub(crate) fn rename(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let (path, to) = paths(server, call)?;
    let _writing = server.talks.begin();
    server.turns.refuse_running(call.part("f"))?;
    let redirected = redirected(server, &path, &to)?;
    let id = server.desk.rename(call.part("f"), &to, &redirected, by(call))?;
    // The journal names the file of a draft.
    server.keep();
    Reply::json(&CreatedFile { id, path: to })
}

pub(crate) fn delete(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let DeleteFile {} = call.json()?;
    let path = changeable(server, call)?;
    let _writing = server.talks.begin();
    server.turns.refuse_running(call.part("f"))?;
    refuse_used(server, &path)?;
    server.desk.delete(call.part("f"), by(call))?;
    server.keep();
    Reply::json(&Nothing {})
}

/// Converts a file, with its unsaved edits, to the format of another application.
pub(crate) fn export(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let id = call.part("f");
    let path = server.desk.path(id)?;
    let format = call.query.get("format").map(String::as_str).unwrap_or_default();
    let full = server.desk.folder.full(&path);
    let mut sources = server.sources();
    let stem = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let not_exported = || {
        let path = path.as_str();
        Refusal::unusable(phrase!("`{path}` cannot be exported as `{format}`", path, format))
    };
    let (value, name, found) = match (server.desk.kind(id), format) {
        (Some(FileKind::Agent | FileKind::Preset), "st-preset" | "st-card" | "aio") => {
            let file = inputs::agent(&full, &server.engine, &mut sources)?;
            let (value, found) = match format {
                "st-preset" => {
                    let (value, lost) = export_preset(&file.agent);
                    (value, file.lead_back(lost))
                }
                "st-card" => (formats::card(&file.agent, &full, &mut sources)?, Vec::new()),
                _ => formats::aio(&file, &full, &mut sources)?,
            };
            (value, file.agent.name.as_deref().unwrap_or(&stem).to_owned(), found)
        }
        (Some(FileKind::Worldbook), "st-lorebook") => {
            let (books, found) = books::read(&[InputFile::from(&full)], &mut sources)?;
            let books = books.loaded();
            let book = books.first().expect("reading one file returns one worldbook");
            (export_lorebook(&book.book), stem, found)
        }
        (Some(FileKind::Profile), "json") => {
            (server.desk.value(id).ok_or_else(not_exported)?, stem, Vec::new())
        }
        _ => return Err(not_exported()),
    };
    Reply::json(&ExportedFile {
        name: format!("{name}.json"),
        text: String::from_utf8_lossy(&files::pretty_json(&value)).into_owned(),
        findings: server.below(Finding::all(call.language, &found)),
    })
}

/// Returns the path of a file, and the path with the name that the page asks for in the same folder.
fn paths(server: &Server, call: &Call) -> Result<(String, String), Refusal> {
    let FileName { name } = call.json()?;
    let path = changeable(server, call)?;
    let extension = Path::new(&path).extension().unwrap_or_default().to_string_lossy().into_owned();
    let name = file_name(&name, &extension)?;
    let to = match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name,
    };
    Ok((path, to))
}

/// Returns the path of a file that the page may copy, rename and delete.
fn changeable(server: &Server, call: &Call) -> Result<String, Refusal> {
    server.refuse_read_only()?;
    let path = server.desk.path(call.part("f"))?;
    if server.desk.kind(call.part("f")) == Some(FileKind::Config) {
        let message =
            phrase!("`{path}` belongs to the folder; the page cannot copy, rename or delete it", path);
        return Err(Refusal::new(403, codes::FORBIDDEN_KEY, message));
    }
    Ok(path)
}

fn by(call: &Call) -> By<'_> {
    By { window: call.window.as_deref(), language: call.language }
}

/// Returns the text of a new file, for which `ctx check` reports no diagnostics.
fn template(kind: FileKind, name: &str, language: Language) -> String {
    // A JSON string is a YAML string too.
    let name = Value::from(name);
    let is_chinese = language == Language::Zh;
    let text = if is_chinese { "你是 {{char}}。" } else { "You are {{char}}." };
    let entries = format!(
        "  - id: identity\n    role: system\n    content: {text}\n  - id: history\n    type: chat_history\n"
    );
    match kind {
        FileKind::Agent => format!("version: 2\nname: {name}\nprefix: auto\npresetMessages:\n{entries}"),
        FileKind::Preset => entries.replace("\n  ", "\n").trim_start().to_owned(),
        FileKind::Profile => {
            let text = if is_chinese { "关于我：" } else { "About me:" };
            format!("name: {name}\ncontent: {}\nworldbookIds: []\n", Value::from(text))
        }
        FileKind::Worldbook => {
            let (key, text) = if is_chinese {
                ("花园", "花园里有一个池塘。")
            } else {
                ("garden", "The garden has a pond.")
            };
            format!(
                r#"{{
  "name": {name},
  "entries": {{
    "0": {{
      "uid": 0,
      "key": [{key}],
      "keysecondary": [],
      "comment": {key},
      "content": {text},
      "constant": false,
      "selective": true,
      "order": 100,
      "position": 0,
      "disable": false,
      "depth": 4,
      "probability": 100
    }}
  }}
}}
"#,
                key = Value::from(key),
                text = Value::from(text),
            )
        }
        FileKind::Conversation => format!(
            r#"{{
  "name": {name},
  "rootNodeId": "root",
  "activeLeafId": "root",
  "nodes": {{
    "root": {{ "id": "root", "role": "system", "content": "", "parentId": null, "childrenIds": [] }}
  }}
}}
"#
        ),
        FileKind::Settings | FileKind::Config | FileKind::Other => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use axum::http::HeaderMap;
    use ctx_engine::Engine;

    use super::*;
    use crate::studio::Studio;

    #[test]
    fn deletes_conversation_after_step_in_progress() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("project");
        let path = folder.join("chat.json");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&path, r#"[{"role": "user", "content": "Hello"}]"#).unwrap();
        let studio = Studio::new(Engine::new()).unwrap().project(&folder).store(place.path().join("a.db"));
        let server = Server::open(studio, 0).unwrap();
        let id = server.desk.id("chat.json").unwrap();
        let call = Call {
            language: Language::En,
            window: None,
            path: [("f".to_owned(), id)].into(),
            query: BTreeMap::new(),
            headers: HeaderMap::new(),
            body: "{}".into(),
        };
        let writing = server.talks.begin();
        std::thread::scope(|scope| {
            let deleting = scope.spawn(|| delete(&server, &call).map(drop));
            std::thread::sleep(Duration::from_millis(100));
            assert!(path.exists());
            drop(writing);
            deleting.join().unwrap().unwrap();
        });
        assert!(!path.exists());
    }
}
