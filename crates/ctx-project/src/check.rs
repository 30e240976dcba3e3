//! What is wrong with files, whatever they are.

mod fix;
mod fixes;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ctx_engine::{Compile, Engine, Format, ImportError};
use ctx_preset_import::detect;
use ctx_types::worldbook::LoadedWorldbook;
use ctx_types::{Agent, Diagnostic, Phrase, phrase};
use serde_json::Value;

use crate::books::{self, Books};
use crate::error::Result;
use crate::files::{self, Once};
use crate::folder::{self, FolderEntry};
use crate::inputs::{self, AgentFile, InputFile};
use crate::named::{self, Named, Wanted};
use crate::sources::{Position, Sources};
use crate::{case, codes, config};

pub use ctx_operations::check::{DocumentKind, finding_json};
pub use fix::{FixedDocument, Look, fix};
pub use fixes::{FixedFile, Fixes};

/// What files are checked with.
#[derive(Debug)]
pub struct Checker {
    engine: Engine,
    with: Compile,
    books: Books,
    /// What files are of which nothing tells what they are.
    format: Option<DocumentKind>,
    /// The files of this check.
    checked: Once,
}

/// What was looked at: a file, or several that belong together.
#[derive(Debug)]
pub struct Checked {
    /// The names of the files; none of a folder that cannot be read.
    pub files: Vec<String>,
    /// What the one file was taken for, if it is known.
    pub kind: Option<DocumentKind>,
    /// The texts of the files.
    pub sources: Sources,
    /// Whether the file or the folder could not be read.
    pub is_unreadable: bool,
    /// What was found, in the order of places.
    pub findings: Vec<Diagnostic>,
    /// The place of each finding.
    pub positions: Vec<Option<Position>>,
}

impl Checker {
    /// Reads the worldbooks that are at hand; what is odd about them is not told, unless they are checked too.
    pub fn new(worldbooks: &[PathBuf]) -> Result<Self> {
        Self::on(Engine::new(), worldbooks)
    }

    /// As [`new`](Self::new), on an engine with parts of one's own.
    pub fn on(engine: Engine, worldbooks: &[PathBuf]) -> Result<Self> {
        let files: Vec<InputFile> = worldbooks.iter().map(InputFile::from).collect();
        let (books, _) = books::read(&files, &mut Sources::default())?;
        let with = Compile::default().with(|compile| compile.worldbooks = books.loaded());
        Ok(Self { engine, with, books, format: None, checked: Once::default() })
    }

    /// Reads a table of models, whose rows are tried before the built-in ones. Returns what is wrong with it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a table of models.
    pub fn read_models(&mut self, file: &Path, sources: &mut Sources) -> Result<Vec<Diagnostic>> {
        inputs::add_models(&mut self.engine.models, &InputFile::from(file), sources)
    }

    /// Reads files as this format, or as request bodies of this API dialect. In folders, the format applies only to
    /// files that cannot be recognized.
    #[must_use]
    pub fn naming(mut self, format: Option<DocumentKind>) -> Self {
        self.format = format;
        self
    }

    /// Checks files and folders, one file after the other and each once; of a folder, files that are nothing of ours
    /// are passed over. With `fixes`, files are fixed first.
    pub fn check(&mut self, paths: &[PathBuf], fixes: &mut Option<Fixes>, each: &mut dyn FnMut(Checked)) {
        self.checked = Once::default();
        let mut entries = Vec::new();
        for path in paths {
            let (origin, found) = if path.is_dir() {
                (Origin::Folder, folder::files(path))
            } else {
                (Origin::Named, vec![FolderEntry::File(path.clone())])
            };
            // A file that is named in two ways is checked once.
            let is_new = |found: &FolderEntry| match found {
                FolderEntry::File(file) => self.checked.is_new(file),
                FolderEntry::Closed(..) => true,
            };
            entries.extend(found.into_iter().filter(is_new).map(|found| (origin, found)));
        }
        let checked = entries.into_iter().filter_map(|(origin, found)| match found {
            FolderEntry::File(file) => self.check_file(&file, origin, fixes),
            FolderEntry::Closed(folder, reason) => Some(Checked::closed(&folder, reason)),
        });
        checked.for_each(each);
    }

    /// Checks bytes that a file may hold: what is under edit.
    pub fn check_bytes(&self, path: &Path, bytes: &[u8]) -> Checked {
        let name = files::name(path);
        let mut sources = Sources::default();
        let read = self.read(path, bytes, Origin::Named, &mut sources).map_err(|error| match error {
            Unread::Known(found) => *found,
            Unread::Odd(error) => sources.explained(&name, &error),
        });
        Checked::of(name, read, sources)
    }

    /// Fixes bytes that a file may hold: makes the edits of those findings that are wanted.
    pub fn fix_bytes(
        &self,
        path: &Path,
        bytes: &[u8],
        is_wanted: &dyn Fn(&Diagnostic) -> bool,
    ) -> Result<FixedDocument, ImportError> {
        let look = |bytes: &[u8]| {
            let mut found = findings(bytes, path, self, Origin::Named)?;
            for finding in found.iter_mut().filter(|finding| !is_wanted(finding)) {
                finding.fix = None;
            }
            Ok(found)
        };
        fix(bytes, &files::name(path), &look)
    }

    fn read(
        &self,
        path: &Path,
        bytes: &[u8],
        origin: Origin,
        sources: &mut Sources,
    ) -> Result<(DocumentKind, Vec<Diagnostic>), Unread> {
        if config::is_config(path) {
            let found =
                config::check(bytes, path, &self.engine, sources, &self.checked).map_err(Unread::Known)?;
            return Ok((DocumentKind::Config, found));
        }
        sources.add(&files::name(path), bytes);
        look(bytes, path, self, origin).map_err(Unread::Odd)
    }

    fn check_file(&self, path: &Path, origin: Origin, fixes: &mut Option<Fixes>) -> Option<Checked> {
        let name = files::name(path);
        let mut sources = Sources::default();
        let is_link_out =
            config::is_config(path) && config::is_link_out(path.parent().unwrap_or(Path::new("")));
        let read = match files::read(path) {
            _ if is_link_out => Err(link_out(&name)),
            Err(error) => Err(Diagnostic::error(codes::UNREADABLE_FILE, error.phrase()).in_document(&*name)),
            Ok(mut bytes) => {
                if let Some(fixes) = fixes.as_mut().filter(|_| !config::is_config(path)) {
                    bytes = fixes.fix(path, &name, bytes, &|bytes| findings(bytes, path, self, origin));
                }
                match self.read(path, &bytes, origin, &mut sources) {
                    Ok((DocumentKind::Config, found)) => {
                        Ok((DocumentKind::Config, without_fixes(path, found, fixes)))
                    }
                    Ok(read) => Ok(read),
                    Err(Unread::Known(found)) => Err(*found),
                    Err(Unread::Odd(ImportError::UnknownShape { .. })) if origin == Origin::Folder => {
                        return None;
                    }
                    Err(Unread::Odd(error)) => Err(sources.explained(&name, &error)),
                }
            }
        };
        Some(Checked::of(name, read, sources))
    }
}

/// Reports a `ctx.toml` that other commands do not read.
fn link_out(name: &str) -> Diagnostic {
    let message = phrase!("`{name}` is a link to a path outside its folder", name);
    Diagnostic::error(codes::UNREADABLE_FILE, message).in_document(name)
}

/// How a file was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The user named the file.
    Named,
    /// The file is in a folder that the user named.
    Folder,
}

/// Why a file is not read as what it is.
enum Unread {
    /// What is wrong with it.
    Known(Box<Diagnostic>),
    /// It is not of its form, or of none.
    Odd(ImportError),
}

impl Checked {
    fn of(name: String, read: Result<(DocumentKind, Vec<Diagnostic>), Diagnostic>, sources: Sources) -> Self {
        let is_unreadable = read.is_err();
        let (kind, findings) = match read {
            Ok((kind, findings)) => (Some(kind), findings),
            Err(error) => (None, vec![error]),
        };
        let (findings, positions) = placed(findings, &sources);
        Self { files: vec![name], kind, sources, is_unreadable, findings, positions }
    }

    /// Files that belong together.
    pub fn of_files(files: Vec<String>, sources: Sources, findings: Vec<Diagnostic>) -> Self {
        let (findings, positions) = placed(findings, &sources);
        Self { files, kind: None, sources, is_unreadable: false, findings, positions }
    }

    /// A file that could not be read.
    pub fn unreadable(name: String, sources: Sources, finding: Diagnostic) -> Self {
        Self { is_unreadable: true, ..Self::of_files(vec![name], sources, vec![finding]) }
    }

    /// A folder that could not be looked into.
    fn closed(folder: &Path, reason: Phrase) -> Self {
        let finding = Diagnostic::error(codes::UNREADABLE_FILE, reason).in_document(files::name(folder));
        Self { is_unreadable: true, ..Self::of_files(Vec::new(), Sources::default(), vec![finding]) }
    }

    /// Writes the findings for programs, each with its place and the edit that it asks for.
    pub fn to_json(&self) -> impl Iterator<Item = Value> {
        let findings = self.findings.iter().zip(&self.positions);
        findings.map(|(finding, position)| finding_json(finding, position.as_ref()))
    }
}

/// Sorts findings by their places, and returns these too.
pub fn placed(findings: Vec<Diagnostic>, sources: &Sources) -> (Vec<Diagnostic>, Vec<Option<Position>>) {
    let positions = sources.positions(&findings);
    let mut placed: Vec<_> = findings.into_iter().zip(positions).collect();
    placed.sort_by(|(_, a), (_, b)| a.cmp(b));
    placed.into_iter().unzip()
}

/// Takes the edits from findings about a file that is never changed, and notes with the fixes that they are not made.
fn without_fixes(path: &Path, mut found: Vec<Diagnostic>, fixes: &mut Option<Fixes>) -> Vec<Diagnostic> {
    if let Some(fixes) = fixes {
        fixes.decline(path, &files::name(path), &found);
    }
    for finding in &mut found {
        finding.fix = None;
    }
    found
}

/// Reads a file as what it is, and says what that is.
fn look(
    bytes: &[u8],
    path: &Path,
    checker: &Checker,
    origin: Origin,
) -> Result<(DocumentKind, Vec<Diagnostic>), ImportError> {
    let name = &*files::name(path);
    let detected = detect(bytes, name);
    // Parts of a case look like an agent without entries.
    let is_part = matches!(detected, Ok(Format::Agent) | Err(ImportError::UnknownShape { .. }));
    if is_part && case::is_case(path) {
        return Ok((DocumentKind::Case, case::check(bytes, path, &checker.engine, &checker.checked)?));
    }
    let detected = match (checker.format, detected) {
        (Some(DocumentKind::Format(named)), Ok(found))
            if origin == Origin::Named && !is_same_kind(named, found) =>
        {
            Ok(named)
        }
        (_, detected) => detected,
    };
    let of_agent = || of_agent(bytes, path, checker);
    ctx_operations::check::look((bytes, name), detected, checker.format, &checker.engine.models, &of_agent)
}

/// Reads a file as what it is.
fn findings(
    bytes: &[u8],
    path: &Path,
    checker: &Checker,
    origin: Origin,
) -> Result<Vec<Diagnostic>, ImportError> {
    look(bytes, path, checker, origin).map(|(_, findings)| findings)
}

/// Returns whether both formats are agents, conversations, worldbooks or user profiles.
fn is_same_kind(one: Format, other: Format) -> bool {
    let kind = |format: Format| match format {
        format if format.is_conversation() => 0,
        format if format.is_worldbook() => 1,
        Format::Profile | Format::PlainText => 2,
        _ => 3,
    };
    kind(one) == kind(other)
}

/// Reads an agent, compiles it, and looks at what it costs in a cache.
fn of_agent(bytes: &[u8], path: &Path, checker: &Checker) -> Result<Vec<Diagnostic>, ImportError> {
    let name = &*files::name(path);
    let engine = &checker.engine;
    let file = AgentFile::parse(bytes, name, engine)?;
    let mut books = checker.books.clone();
    let unread = books::add_readable(&mut books, path, &file.agent, &mut Sources::default());
    let unread: Vec<(Arc<str>, PathBuf)> = unread
        .into_iter()
        .map(|path| (path.file_stem().unwrap_or_default().to_string_lossy().into(), path))
        .collect();
    let with = checker.with.clone().with(|compile| {
        compile.worldbooks = books.loaded();
        // Their errors are reported below, or where they are checked themselves.
        compile.worldbooks.extend(unread.iter().map(|(id, _)| LoadedWorldbook {
            id: id.clone(),
            name: id.clone(),
            book: Arc::default(),
            is_global: false,
        }));
    });
    let compiled = engine.compile(&file.agent, &with);
    let unread = unread.into_iter().map(|(id, path)| Named {
        pointer: pointer_to(&file.agent, &id),
        wanted: Wanted::Worldbook,
        name: files::name(&path),
        path,
    });
    let unread = named::faults(unread, path.parent().unwrap_or(Path::new("")), engine, &checker.checked);
    let is_of_book = |finding: &Diagnostic| finding.location.document.is_some();
    let (mut of_books, breakers): (Vec<_>, Vec<_>) =
        engine.cache_breakers(&compiled).into_iter().partition(is_of_book);
    let mut found = [file.all_findings(&compiled), file.lead_back([breakers, unread].concat())].concat();
    books.lead_back(&mut found);
    found.retain(|finding| !books.owns(finding));
    // What a book costs an agent's cache is not seen where the book is checked by itself.
    books.lead_back(&mut of_books);
    found.append(&mut of_books);
    Ok(found)
}

/// Returns the place of the id of a worldbook in an agent.
fn pointer_to(agent: &Agent, id: &str) -> String {
    let index = agent.worldbook_ids.iter().position(|asked| **asked == *id);
    format!("/worldbookIds/{}", index.expect("the agent has the id"))
}

#[cfg(test)]
mod tests;
