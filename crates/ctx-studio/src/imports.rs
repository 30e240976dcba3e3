//! Imports under way: the files of a batch, which are read together with each that comes, as `ctx import` reads them.

mod contents;

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use ctx_engine::Engine;
use ctx_language::Language;
use ctx_preset_import::{FileReport, Import, Importer, SourceFile};
use ctx_project::Sources;
use ctx_project::files;
use ctx_project::imported::{self, AGENT, CONVERSATIONS, Output, PROFILE};
use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, phrase};

use crate::access::lock;
use crate::api::Finding;
use crate::api_imports::{
    ImportOutput, ImportTargetView, ImportView, ImportedContent, ImportedField, ImportedFile,
};
use crate::call::Refusal;
use crate::codes;
use crate::file_name::{is_forbidden, is_portable};
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

/// The files of one import and its result. A clone shares both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    files: Vec<BatchFile>,
    made: Arc<OnceLock<Import>>,
}

#[derive(Clone, Debug)]
struct BatchFile {
    name: String,
    bytes: Arc<[u8]>,
    contents: Arc<OnceLock<Vec<ImportedContent>>>,
}

/// The files that an import would write, for a preview.
#[derive(Debug)]
pub(crate) struct ImportedFiles {
    pub(crate) agent: PathBuf,
    pub(crate) profile: Option<PathBuf>,
    /// The first conversation.
    pub(crate) conversation: Option<PathBuf>,
    pub(crate) written: Vec<(PathBuf, Arc<[u8]>)>,
}

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
        batch.files.retain(|file| file.name != name);
        batch.files.push(BatchFile { name: name.to_owned(), bytes, contents: Arc::default() });
        batch.made = Arc::default();
        let total: usize = batch.files.iter().map(|file| file.bytes.len()).sum();
        if batch.files.len() > MAX_FILES || total > MAX_BYTES {
            batch.files.pop();
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
        self.files.iter().map(|BatchFile { name, bytes, .. }| SourceFile { name, bytes }).collect()
    }

    /// Returns the result of importing all files together.
    fn made(&self, engine: &Engine) -> &Import {
        self.made.get_or_init(|| read(&self.sources(), engine))
    }

    /// Lists the files to write to a folder.
    fn writes(&self, made: &Import, out: &Path) -> Vec<ImportOutput> {
        let output = |(path, bytes): &Output<'_>| ImportOutput {
            path: files::name(path),
            bytes: bytes.len(),
            exists: out.join(path).symlink_metadata().is_ok(),
        };
        imported::of(made, &self.sources(), Path::new("")).iter().map(output).collect()
    }

    /// Checks whether the files can be written to a folder, and which of them are there.
    pub(crate) fn target(
        &self,
        engine: &Engine,
        folder: &Folder,
        below: &str,
        language: Language,
    ) -> ImportTargetView {
        match inside(folder, below) {
            Err(problem) => ImportTargetView { problem: Some(language.say(&problem)), writes: Vec::new() },
            Ok(below) => {
                let writes = self.writes(self.made(engine), &folder.path.join(below));
                ImportTargetView { problem: None, writes }
            }
        }
    }

    /// Makes the files without writing them.
    pub(crate) fn files(&self, engine: &Engine, folder: &Folder) -> Result<ImportedFiles, Refusal> {
        let made = self.made(engine);
        let out = folder.path.join(self.free_folder(made, folder));
        let written = imported::of(made, &self.sources(), &out);
        let written = written.into_iter().map(|(path, bytes)| (path, Arc::<[u8]>::from(&*bytes)));
        let written: Vec<(PathBuf, Arc<[u8]>)> = written.collect();
        let find = |is_it: &dyn Fn(&Path) -> bool| {
            written.iter().map(|(path, _)| path).find(|path| is_it(path)).cloned()
        };
        let agent = find(&|path: &Path| path == out.join(AGENT));
        let chats = out.join(CONVERSATIONS);
        Ok(ImportedFiles {
            agent: agent.ok_or_else(|| Refusal::unusable(phrase!("these files make no agent to preview")))?,
            profile: find(&|path: &Path| path == out.join(PROFILE)),
            conversation: find(&|path: &Path| path.parent() == Some(chats.as_path())),
            written,
        })
    }

    /// Reports the conversion result of each field, and the files to write.
    pub(crate) fn view(&self, engine: &Engine, folder: &Folder, id: &str, language: Language) -> ImportView {
        let made = self.made(engine);
        let below = self.free_folder(made, folder);
        let mut sources = Sources::default();
        self.files.iter().for_each(|file| sources.add(&file.name, &file.bytes));
        let file = |file: &FileReport| {
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
                contents: self.contents(&file.path, made, engine),
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
                is_empty: field.is_empty,
                is_alike: field.is_alike,
                note: field.note.map(|note| language.word(note).into_owned()),
            })
            .collect();
        ImportView {
            batch: id.to_owned(),
            files: made.report.files.iter().map(file).collect(),
            counts: made.report.counts,
            more_fields: all.count() - fields.len(),
            fields,
            writes: self.writes(made, &folder.path.join(&below)),
            folder: below,
        }
    }

    /// Describes the contents of one file. Reads the file alone, because an import merges all files.
    fn contents(&self, name: &str, made: &Import, engine: &Engine) -> Vec<ImportedContent> {
        let Some(file) = self.files.iter().find(|file| file.name == name) else { return Vec::new() };
        let read_alone = || read(&[SourceFile { name, bytes: &file.bytes }], engine);
        let describe = || {
            if self.files.len() == 1 { contents::describe(made) } else { contents::describe(&read_alone()) }
        };
        file.contents.get_or_init(describe).clone()
    }

    /// Names a folder that is not there yet: by the agent, or else by the first file.
    fn free_folder(&self, made: &Import, folder: &Folder) -> String {
        let agent = made.agent.as_ref().and_then(|agent| agent.name.as_deref());
        let file = self.files.first().and_then(|file| Path::new(&file.name).file_stem()?.to_str());
        let slug = [agent, file].into_iter().flatten().map(slug).find(|slug| is_portable(slug));
        let slug = slug.unwrap_or_else(|| "imported".to_owned());
        let is_free = |name: &String| folder.path.join(name).symlink_metadata().is_err();
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        let mut names = std::iter::once(slug.clone()).chain(numbered);
        names.find(is_free).expect("an unbounded range contains a free name")
    }

    /// Writes what was made, all of it or nothing; returns the paths below the folder.
    pub(crate) fn write(
        &self,
        engine: &Engine,
        folder: &Folder,
        (below, is_overwriting): (&str, bool),
    ) -> Result<Vec<String>, Refusal> {
        let made = self.made(engine);
        let out = folder.path.join(inside(folder, below).map_err(Refusal::malformed)?);
        let written = imported::of(made, &self.sources(), &out);
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

/// Reads files together.
fn read(given: &[SourceFile<'_>], engine: &Engine) -> Import {
    let mut importer = Importer::default();
    importer.anchors = engine.anchors.clone();
    let mut made = importer.import(given);
    imported::report_lost_digits(&mut made, given);
    imported::report_broken_rules(&mut made, engine);
    made
}

/// Writes a name in letters that every system takes.
fn slug(name: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let plain: String = name.chars().take(60).map(letter).collect();
    plain.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase()
}

/// Returns a path inside the project folder, or the reason against it.
fn inside(folder: &Folder, below: &str) -> Result<PathBuf, Phrase> {
    let is_wrong = |character: &char| *character != '/' && is_forbidden(*character);
    if let Some(character) = below.chars().find(is_wrong) {
        let character = character.escape_debug().to_string();
        return Err(phrase!("a folder name cannot contain `{character}`", character));
    }
    let path = Path::new(below.trim());
    // What is hidden, or belongs to other programs, is not listed either.
    let is_listed = |name: &std::ffi::OsStr| {
        name.to_str().is_some_and(|name| !name.starts_with('.') && name != "node_modules")
    };
    let is_plain = path.components().all(|part| match part {
        Component::Normal(name) => is_listed(name),
        part => matches!(part, Component::CurDir),
    });
    if !is_plain || below.len() > 255 || files::leads_out(path, &folder.path) {
        return Err(phrase!("use a folder inside this project"));
    }
    let mut names = path.iter().filter_map(std::ffi::OsStr::to_str).filter(|name| *name != ".");
    if let Some(name) = names.find(|name| !is_portable(name)) {
        return Err(phrase!("invalid folder name `{name}`", name = excerpt(name)));
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
    use crate::api_imports::ContentKind;

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
        assert_eq!(batch.view(&engine, &folder, "b1", Language::En).folder, "ada-l-2");
        batch.write(&engine, &folder, (&view.folder, true)).unwrap();
        imports.remove("b1");
        assert!(imports.get("b1").is_err());
    }

    #[test]
    fn describes_each_file_and_names_the_folder() {
        const PRESET: &[u8] = br#"{"prompts": [{"identifier": "main", "name": "Main", "role": "system",
            "content": "Be kind."}, {"identifier": "jailbreak", "name": "Off", "role": "system", "content": "x"}],
            "prompt_order": [{"character_id": 100001, "order": [{"identifier": "main", "enabled": true},
            {"identifier": "jailbreak", "enabled": false}]}]}"#;
        let ((_place, folder), engine) = (folder(), Engine::new());
        let imports = Imports::default();
        imports.add("b", "My Preset (v2).json", Arc::from(PRESET)).unwrap();
        let alone = imports.get("b").unwrap().view(&engine, &folder, "b", Language::En);
        assert_eq!(alone.folder, "my-preset-v2");
        let batch = imports.add("b", "ada.json", Arc::from(CARD)).unwrap();
        let view = batch.view(&engine, &folder, "b", Language::En);
        let contents: Vec<Vec<_>> = view
            .files
            .iter()
            .map(|file| file.contents.iter().map(|one| (one.kind, one.count, one.disabled)).collect())
            .collect();
        assert_eq!(view.folder, "ada-l");
        assert_eq!(contents[0], [(ContentKind::Prompts, 2, 1)]);
        assert_eq!(contents[1], [(ContentKind::Character, 1, 0), (ContentKind::Greetings, 1, 0)]);
    }

    #[test]
    fn checks_a_folder() {
        let ((place, folder), engine) = (folder(), Engine::new());
        let batch = Imports::default().add("b", "ada.json", Arc::from(CARD)).unwrap();
        let target = |below: &str| batch.target(&engine, &folder, below, Language::En);
        let problem = target("a:b").problem.unwrap();
        assert_eq!(problem, "a folder name cannot contain `:`");
        assert!(target("..").problem.is_some() && target("cards/ada").problem.is_none());
        for below in ["con", "a/NUL.txt", "a.", "a /b", "a\u{202e}b"] {
            assert!(target(below).problem.is_some(), "{below}");
        }
        std::fs::create_dir(place.path().join("ada")).unwrap();
        std::fs::write(place.path().join("ada/agent.yaml"), "name: Ada").unwrap();
        let existing = target("ada").writes.iter().filter(|write| write.exists).count();
        assert_eq!(existing, 1);
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
