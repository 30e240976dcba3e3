//! Imports under way: the files of a batch, which are read together with each that comes, as `ctx import` reads them.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use ctx_engine::Engine;
use ctx_language::Language;
use ctx_preset_import::{Import, Importer, SourceFile};
use ctx_project::Sources;
use ctx_project::files;
use ctx_project::imported::{self, AGENT, Output};
use ctx_types::{Diagnostic, phrase};

use crate::access::lock;
use crate::api::Finding;
use crate::api_imports::{ImportOutput, ImportView, ImportedField, ImportedFile};
use crate::call::Refusal;
use crate::codes;
use crate::folder::Folder;

/// How many batches are under way.
const MAX_BATCHES: usize = 4;

/// How many files a batch has.
const MAX_FILES: usize = 64;

/// How many bytes a batch has.
const MAX_BYTES: usize = 128 << 20;

/// How many fields are listed.
const MAX_FIELDS: usize = 20_000;

/// How many findings of a file are told.
const MAX_FINDINGS: usize = 200;

/// The imports of all windows, the latest last.
#[derive(Debug, Default)]
pub(crate) struct Imports(Mutex<Vec<(String, Batch)>>);

/// The files of one import. A clone shares their bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch(Vec<(String, Arc<[u8]>)>);

impl Imports {
    /// Adds a file to a batch; one of the same name takes its place.
    pub(crate) fn add(&self, id: &str, name: &str, bytes: Arc<[u8]>) -> Result<Batch, Refusal> {
        let is_name =
            |text: &str| !text.is_empty() && text.len() <= 255 && !text.chars().any(char::is_control);
        if !is_name(id) || !is_name(name) {
            return Err(Refusal::malformed(phrase!("`batch` and `name` must be strings of up to 255 bytes")));
        }
        let mut batches = lock(&self.0);
        let at = batches.iter().position(|(own, _)| own == id);
        let (_, mut batch) = at.map(|at| batches.remove(at)).unwrap_or_default();
        batch.0.retain(|(own, _)| own != name);
        batch.0.push((name.to_owned(), bytes));
        let total: usize = batch.0.iter().map(|(_, bytes)| bytes.len()).sum();
        if batch.0.len() > MAX_FILES || total > MAX_BYTES {
            batch.0.pop();
            batches.push((id.to_owned(), batch));
            let message = phrase!(
                "import at most {files} files and {bytes} MiB at once",
                files = MAX_FILES,
                bytes = MAX_BYTES >> 20
            );
            return Err(Refusal::new(413, codes::TOO_LARGE, message));
        }
        if batches.len() >= MAX_BATCHES {
            batches.remove(0);
        }
        batches.push((id.to_owned(), batch.clone()));
        Ok(batch)
    }

    /// Returns the files of a batch.
    pub(crate) fn get(&self, id: &str) -> Result<Batch, Refusal> {
        let batches = lock(&self.0);
        let found = batches.iter().find(|(own, _)| own == id).map(|(_, batch)| batch.clone());
        found.ok_or_else(|| Refusal::not_found(phrase!("no such import; start again")))
    }

    /// Forgets a batch.
    pub(crate) fn remove(&self, id: &str) {
        lock(&self.0).retain(|(own, _)| own != id);
    }
}

impl Batch {
    fn sources(&self) -> Vec<SourceFile<'_>> {
        self.0.iter().map(|(name, bytes)| SourceFile { name, bytes }).collect()
    }

    /// Reads the files together.
    fn read(&self, engine: &Engine) -> Import {
        let given = self.sources();
        let mut importer = Importer::default();
        importer.anchors = engine.anchors.clone();
        let mut made = importer.import(&given);
        imported::report_lost_digits(&mut made, &given);
        imported::report_broken_rules(&mut made, engine);
        made
    }

    /// Tells what became of each field, and what would be written.
    pub(crate) fn view(&self, engine: &Engine, folder: &Folder, id: &str, language: Language) -> ImportView {
        let made = self.read(engine);
        let below = suggested(&made);
        let given = self.sources();
        let writes = imported::of(&made, &given, Path::new(""));
        let output = |(path, bytes): &Output<'_>| ImportOutput {
            path: files::name(path),
            bytes: bytes.len(),
            exists: folder.path.join(&below).join(path).symlink_metadata().is_ok(),
        };
        let mut sources = Sources::default();
        self.0.iter().for_each(|(name, bytes)| sources.add(name, bytes));
        let file = |file: &ctx_preset_import::FileReport| {
            let found: Vec<&Diagnostic> = file.diagnostics.iter().take(MAX_FINDINGS).collect();
            let marks = match file.container {
                Some(_) => found.iter().map(|_| None).collect(),
                None => sources.marks(&found),
            };
            let findings = found.iter().zip(&marks).enumerate().map(|(index, (found, mark))| {
                let position = mark.as_ref().map(|mark| (mark.line, mark.column));
                let finding = Finding::of(language, found, index).at(mark.as_ref(), position);
                Finding { fixable: false, ..finding }
            });
            let format = file.format.map(|format| language.word(&format.to_string()).into_owned());
            ImportedFile {
                name: file.path.clone(),
                format: format.unwrap_or_default(),
                findings: findings.collect(),
            }
        };
        let all = made
            .report
            .files
            .iter()
            .flat_map(|file| file.fields.iter().map(move |field| (&file.path, field)));
        let fields: Vec<ImportedField> = all
            .clone()
            .take(MAX_FIELDS)
            .map(|(file, field)| ImportedField {
                file: file.clone(),
                pointer: field.pointer.clone(),
                status: field.status.as_str(),
                destination: field.to.clone(),
                count: field.count,
                note: field.note.map(|note| language.word(note).into_owned()),
            })
            .collect();
        ImportView {
            batch: id.to_owned(),
            files: made.report.files.iter().map(file).collect(),
            lines: Vec::new(),
            counts: made.report.counts,
            more_fields: all.count() - fields.len(),
            fields,
            writes: writes.iter().map(output).collect(),
            folder: below,
        }
    }

    /// Writes what was made, all of it or nothing; returns the paths below the folder.
    pub(crate) fn write(
        &self,
        engine: &Engine,
        folder: &Folder,
        (below, is_overwriting): (&str, bool),
    ) -> Result<Vec<String>, Refusal> {
        let made = self.read(engine);
        let out = folder.path.join(inside(folder, below)?);
        let given = self.sources();
        let written = imported::of(&made, &given, &out);
        if written.is_empty() {
            return Err(Refusal::unusable(phrase!("no importable files")));
        }
        let existing = written.iter().map(|(path, _)| path).find(|path| path.symlink_metadata().is_ok());
        if let Some(path) = existing.filter(|_| !is_overwriting) {
            let path = files::name(path.strip_prefix(&folder.path).unwrap_or(path));
            let message = phrase!("nothing written: `{path}` exists", path);
            let help = phrase!("use another folder, or replace the existing files");
            return Err(Refusal::new(409, codes::STALE_FILE, message).with_help(help));
        }
        let unread = made.report.files.iter().find(|file| file.format.is_none());
        if let Some(file) = unread.filter(|_| out.join(AGENT).symlink_metadata().is_ok()) {
            let name = file.path.clone();
            let message = phrase!("nothing written: cannot import `{name}`; remove that file", name);
            return Err(Refusal::unusable(message));
        }
        imported::write(Some(&out), &written, &Sources::default())?;
        let below = |(path, _): &Output<'_>| {
            let below = path.strip_prefix(&folder.path).unwrap_or(path);
            files::name(below).replace(std::path::MAIN_SEPARATOR, "/")
        };
        Ok(written.iter().map(below).collect())
    }
}

/// Names a folder for what was made: by the agent, in letters that every system takes.
fn suggested(made: &Import) -> String {
    let name = made.agent.as_ref().and_then(|agent| agent.name.as_deref()).unwrap_or("imported");
    let letter = |c: char| if c.is_alphanumeric() || c == '-' { c } else { ' ' };
    let plain: String = name.chars().take(60).map(letter).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    if words.is_empty() { "imported".to_owned() } else { words.join("-").to_lowercase() }
}

/// Returns a path below the folder that leads nowhere else.
fn inside(folder: &Folder, below: &str) -> Result<PathBuf, Refusal> {
    let path = Path::new(below.trim());
    // What is hidden, or belongs to other programs, is not listed either.
    let is_listed = |name: &std::ffi::OsStr| {
        name.to_str().is_some_and(|name| !name.starts_with('.') && name != "node_modules")
    };
    let is_plain = path.components().all(|part| match part {
        Component::Normal(name) => is_listed(name),
        part => matches!(part, Component::CurDir),
    });
    let is_told = below.len() <= 255 && !below.chars().any(|c| c.is_control() || c == '\\');
    if !is_plain || !is_told || files::leads_out(path, &folder.path) {
        let message = phrase!("use a folder inside this project");
        return Err(Refusal::malformed(message));
    }
    Ok(path.to_owned())
}

/// Returns whether something was read that cannot be used.
#[cfg(test)]
fn has_error(view: &ImportView) -> bool {
    view.files
        .iter()
        .flat_map(|file| &file.findings)
        .any(|finding| finding.severity == ctx_types::Severity::Error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &[u8] = br#"{"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Ada L.", "description": "Kind.",
        "personality": "", "scenario": "", "first_mes": "Hi", "mes_example": "", "creator_notes": "",
        "system_prompt": "", "post_history_instructions": "", "alternate_greetings": [], "tags": [], "creator": "",
        "character_version": "", "extensions": {}}}"#;

    fn folder() -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        (place, folder)
    }

    #[test]
    fn files_of_a_batch_are_read_together_and_written_once() {
        let ((place, folder), engine) = (folder(), Engine::new());
        let imports = Imports::default();
        let batch = imports.add("b1", "ada.json", Arc::from(CARD)).unwrap();
        let view = batch.view(&engine, &folder, "b1", Language::En);
        assert_eq!((view.folder.as_str(), view.files.len(), has_error(&view)), ("ada-l", 1, false));
        assert!(view.counts.mapped > 0 && view.fields.len() > 3);
        assert!(view.writes.iter().any(|write| write.path == "agent.yaml" && !write.exists));
        let written = batch.write(&engine, &folder, (&view.folder, false)).unwrap();
        assert!(written.contains(&"ada-l/agent.yaml".to_owned()), "{written:?}");
        assert!(place.path().join("ada-l/agent.yaml").is_file());
        assert!(batch.write(&engine, &folder, (&view.folder, false)).is_err());
        batch.write(&engine, &folder, (&view.folder, true)).unwrap();
        imports.remove("b1");
        assert!(imports.get("b1").is_err());
    }

    #[test]
    fn nothing_is_written_outside_of_the_folder() {
        let ((_place, folder), engine) = (folder(), Engine::new());
        let batch = Imports::default().add("b", "ada.json", Arc::from(CARD)).unwrap();
        for below in ["..", "../x", "/tmp/x", "a/../../x", "a\\..\\..\\x", "a\u{0}b"] {
            assert!(batch.write(&engine, &folder, (below, true)).is_err(), "{below}");
        }
    }

    #[test]
    fn what_is_no_import_is_told() {
        let ((_place, folder), engine) = (folder(), Engine::new());
        let batch = Imports::default().add("b", "a.bin", Arc::from(&[0_u8, 1, 2][..])).unwrap();
        let view = batch.view(&engine, &folder, "b", Language::En);
        assert!(view.writes.is_empty() && has_error(&view));
        assert!(batch.write(&engine, &folder, ("x", false)).is_err());
    }
}
