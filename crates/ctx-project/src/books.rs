//! Worldbooks that are read, and the way from findings about them back into their files.

use std::path::{Path, PathBuf};

use crate::error::Result;
use ctx_engine::ImportError;
use ctx_operations::book_file::{BookFile, unused};
use ctx_types::worldbook::LoadedWorldbook;
use ctx_types::{Agent, Diagnostic};

use crate::files::{self, DOCUMENTS, has_ending};
use crate::inputs::{self, InputFile};
use crate::sources::Sources;

/// The worldbooks of a run, with the files that they were read from.
#[derive(Clone, Debug, Default)]
pub struct Books(Vec<BookFile>);

impl Books {
    /// Reads worldbooks that hold for every agent; also returns what was odd about them.
    ///
    /// The id of a book is the name of its file without the ending, its name the one that it says, else its id.
    /// Books of one name get a number, since reports and timed effects know entries by the name of their book.
    pub fn read(files: &[InputFile], sources: &mut Sources) -> Result<(Self, Vec<Diagnostic>)> {
        let (mut books, mut found) = (Self::default(), Vec::new());
        for file in files {
            let (mut book, odd) = inputs::load(file, sources, &BookFile::parse)?;
            book.book.name = unused(&books.0, book.book.name);
            books.0.push(book);
            found.extend(odd);
        }
        Ok((books, found))
    }

    /// Adds the worldbooks of an agent from the folder `worldbooks` next to it, for this agent only.
    ///
    /// # Errors
    ///
    /// A file with the name of one of the ids cannot be read. Other unreadable files are skipped.
    pub fn add_beside(&mut self, agent_file: &Path, agent: &Agent, sources: &mut Sources) -> Result<()> {
        match self.add_readable(agent_file, agent, sources).first() {
            // Reading the file again returns its error.
            Some(file) => inputs::load(&InputFile::from(file), sources, &BookFile::parse).map(drop),
            None => Ok(()),
        }
    }

    /// As [`add_beside`](Self::add_beside), but returns the files that cannot be read.
    pub fn add_readable(&mut self, agent_file: &Path, agent: &Agent, sources: &mut Sources) -> Vec<PathBuf> {
        let mut unread = Vec::new();
        if agent.worldbook_ids.is_empty() || files::is_stdin(agent_file) {
            return unread;
        }
        for path in beside(agent_file) {
            let Ok((mut file, _)) = inputs::load(&InputFile::from(&path), sources, &BookFile::parse) else {
                unread.push(path);
                continue;
            };
            let is_asked = agent.worldbook_ids.iter().any(|id| *id == file.book.id || *id == file.book.name);
            let is_given = |given: &BookFile| {
                given.file == file.file || (given.book.is_global && given.book.name == file.book.name)
            };
            if is_asked && !self.0.iter().any(is_given) {
                file.book.is_global = false;
                file.book.name = unused(&self.0, file.book.name);
                self.0.push(file);
            }
        }
        unread.retain(|path| {
            let is_id = |id: &str| path.file_stem().is_some_and(|stem| stem == id);
            let is_asked = agent.worldbook_ids.iter().any(|id| is_id(id));
            let is_loaded = |given: &BookFile| is_id(&given.book.id) || is_id(&given.book.name);
            is_asked && !self.0.iter().any(is_loaded)
        });
        unread
    }

    /// Reads one worldbook from the bytes of a file.
    pub fn parse(bytes: &[u8], name: &str) -> Result<(Self, Vec<Diagnostic>), ImportError> {
        BookFile::parse(bytes, name).map(|(file, found)| (Self(vec![file]), found))
    }

    /// Returns the books.
    pub fn loaded(&self) -> Vec<LoadedWorldbook> {
        self.0.iter().map(|file| file.book.clone()).collect()
    }

    /// Returns whether a finding is about one of the files.
    pub fn owns(&self, finding: &Diagnostic) -> bool {
        let document = finding.location.document.as_deref();
        self.0.iter().any(|file| document == Some(&*file.file))
    }

    /// Points findings about books, which are known by their names, into their files.
    pub fn lead_back(&self, findings: &mut [Diagnostic]) {
        for finding in findings {
            if let Some(file) = finding.location.document.as_deref().and_then(|name| self.get(name)) {
                file.lead_back(finding);
            }
        }
    }

    /// Points at an entry of a book, by the name of the book and the entry's pointer.
    pub fn place(&self, book: &str, pointer: &str, mut finding: Diagnostic) -> Diagnostic {
        finding = finding.in_document(book).at_pointer(pointer);
        if let Some(file) = self.get(book) {
            file.lead_back(&mut finding);
        }
        finding
    }

    /// Returns the name of each book, its file, and how many entries it has.
    pub fn list(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.0.iter().map(|file| (&*file.book.name, file.file.as_str(), file.book.book.entries.len()))
    }

    fn get(&self, name: &str) -> Option<&BookFile> {
        self.0.iter().find(|file| *file.book.name == *name)
    }
}

/// How many files beside an agent are looked at.
const MAX_BESIDE: usize = 1_000;

/// Returns the files that may be worldbooks beside an agent, by name; links may lead elsewhere and are left out, and so
/// is a folder that is one.
fn beside(agent_file: &Path) -> Vec<PathBuf> {
    let folder = agent_file.parent().unwrap_or(Path::new("")).join("worldbooks");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    if folder.is_symlink() {
        return Vec::new();
    }
    let is_book = |path: &PathBuf| has_ending(path, DOCUMENTS) && path.is_file() && !path.is_symlink();
    let paths = entries.take(MAX_BESIDE).flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(is_book).collect();
    paths.sort();
    paths
}
