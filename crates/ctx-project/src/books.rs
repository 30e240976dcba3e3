//! Worldbooks that are read, and the way from findings about them back into their files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Result;
pub use ctx_operations::book_file::{BookFile, Books};
use ctx_types::{Agent, Diagnostic};

use crate::files::{self, DOCUMENTS, has_ending};
use crate::inputs::{self, InputFile};
use crate::sources::Sources;

/// Reads worldbooks for all agents. Also returns their diagnostics.
///
/// The id of a worldbook is its file name without the extension. The name is the one in the file. The default is the
/// id.
pub fn read(files: &[InputFile], sources: &mut Sources) -> Result<(Books, Vec<Diagnostic>)> {
    let (mut books, mut found) = (Books::default(), Vec::new());
    for file in files {
        let (book, odd) = inputs::load(file, sources, &BookFile::parse)?;
        books.push(book);
        found.extend(odd);
    }
    Ok((books, found))
}

/// Adds the worldbooks of an agent from the folder `worldbooks` next to it, for this agent only.
///
/// # Errors
///
/// A file with the name of one of the ids cannot be read. Other unreadable files are skipped.
pub fn add_beside(books: &mut Books, agent_file: &Path, agent: &Agent, sources: &mut Sources) -> Result<()> {
    match add_readable(books, agent_file, agent, sources).first() {
        // Reading the file again returns its error.
        Some(file) => inputs::load(&InputFile::from(file), sources, &BookFile::parse).map(drop),
        None => Ok(()),
    }
}

/// As [`add_beside`], but returns the files that cannot be read.
pub(crate) fn add_readable(
    books: &mut Books,
    agent_file: &Path,
    agent: &Agent,
    sources: &mut Sources,
) -> Vec<PathBuf> {
    let mut unread = Vec::new();
    if agent.worldbook_ids.is_empty() || files::is_stdin(agent_file) {
        return unread;
    }
    for path in beside(agent_file, sources) {
        let Ok((mut file, _)) = inputs::load(&InputFile::from(&path), sources, &BookFile::parse) else {
            unread.push(path);
            continue;
        };
        let is_asked = agent.worldbook_ids.iter().any(|id| *id == file.book.id || *id == file.book.name);
        let is_given = |given: &BookFile| {
            given.file == file.file || (given.book.is_global && given.book.name == file.book.name)
        };
        if is_asked && !books.files().any(is_given) {
            file.book.is_global = false;
            books.push(file);
        }
    }
    unread.retain(|path| {
        let is_id = |id: &str| path.file_stem().is_some_and(|stem| stem == id);
        let is_asked = agent.worldbook_ids.iter().any(|id| is_id(id));
        let is_loaded = |given: &BookFile| is_id(&given.book.id) || is_id(&given.book.name);
        is_asked && !books.files().any(is_loaded)
    });
    unread
}

/// How many files beside an agent are looked at.
const MAX_BESIDE: usize = 1_000;

/// Returns the possible worldbooks in the folder `worldbooks` of an agent, by name: files and drafts, without links.
fn beside(agent_file: &Path, sources: &Sources) -> Vec<PathBuf> {
    let folder = agent_file.parent().unwrap_or(Path::new("")).join("worldbooks");
    if folder.is_symlink() {
        return Vec::new();
    }
    let is_file = |path: &PathBuf| path.is_file() && !path.is_symlink();
    let entries = std::fs::read_dir(&folder).into_iter().flatten();
    let files = entries.take(MAX_BESIDE).flatten().map(|entry| entry.path()).filter(is_file);
    let paths = files.chain(sources.drafts_in(&folder).map(Path::to_owned));
    let paths: BTreeSet<PathBuf> = paths.filter(|path| has_ending(path, DOCUMENTS)).collect();
    paths.into_iter().collect()
}
