//! The texts of the files of a run, and where in them findings are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ctx_engine::ImportError;
use ctx_operations::texts::Texts;
use ctx_types::Diagnostic;

use crate::error::{Fault, ProjectError, Result};
use crate::files::{self, FilesRead};

pub use ctx_operations::texts::{Mark, Position};

/// The texts of the files of a run, for showing the lines that findings are about.
#[derive(Debug, Default)]
pub struct Sources {
    texts: Texts,
    /// What is read in the place of files.
    drafts: BTreeMap<PathBuf, Arc<[u8]>>,
    /// What was read, so that nothing is written onto it.
    pub files_read: FilesRead,
    /// Reports that standard input is waited for.
    before_stdin: Option<BeforeStdin>,
}

/// What is called before standard input is read.
struct BeforeStdin(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for BeforeStdin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BeforeStdin")
    }
}

impl Sources {
    /// Calls this each time before standard input is read.
    pub fn telling_stdin(before_stdin: impl Fn() + Send + Sync + 'static) -> Self {
        Self { before_stdin: Some(BeforeStdin(Box::new(before_stdin))), ..Self::default() }
    }

    /// Reads a file, or standard input for `-`, and keeps its text.
    pub fn read(&mut self, path: &Path, name: &str) -> Result<Vec<u8>> {
        if let Some(BeforeStdin(tell)) = self.before_stdin.as_ref().filter(|_| files::is_stdin(path)) {
            tell();
        }
        let bytes = self.bytes(path)?;
        self.add(name, &bytes);
        Ok(bytes)
    }

    /// Reads these bytes wherever a file is read: it is under edit, and not saved.
    pub fn put_draft(&mut self, path: PathBuf, bytes: Arc<[u8]>) {
        self.drafts.insert(path, bytes);
    }

    /// Returns the files of a folder that are under edit, by name.
    pub(crate) fn drafts_in(&self, folder: &Path) -> impl Iterator<Item = &Path> {
        self.drafts.keys().map(PathBuf::as_path).filter(move |path| path.parent() == Some(folder))
    }

    /// Returns what a file holds, or its draft.
    pub(crate) fn bytes(&mut self, path: &Path) -> Result<Vec<u8>> {
        if let Some(draft) = self.drafts.get(path) {
            return Ok(draft.to_vec());
        }
        // Before it is read: what changes while it is read has changed since.
        self.files_read.note(path);
        files::read(path)
    }

    /// Turns an import error into one that shows the line it is about.
    pub fn explain(&self, name: &str, error: &ImportError) -> ProjectError {
        self.failure(self.explained(name, error))
    }

    /// Turns a finding into an error that shows the line it is about.
    pub fn failure(&self, finding: Diagnostic) -> ProjectError {
        let mark = self.marks(&[&finding]).pop().flatten();
        ProjectError::Fault(Box::new(Fault { finding, mark }))
    }

    /// Turns an import error into a finding that knows its place in the file.
    pub fn explained(&self, name: &str, error: &ImportError) -> Diagnostic {
        self.texts.explained(name, error)
    }

    /// Keeps the text of a file; one that is known already stays.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        self.texts.add(name, bytes);
    }

    /// Shows no lines of a file: a picture, an archive, or a text in base64, in which the document was.
    pub fn hide(&mut self, name: &str) {
        self.texts.hide(name);
    }

    /// Finds the lines and columns of findings, in their order; of the first 100,000.
    pub fn positions(&self, findings: &[Diagnostic]) -> Vec<Option<Position>> {
        self.texts.positions(findings)
    }

    /// Finds the places of findings, each file read once however many there are.
    pub fn marks(&self, findings: &[&Diagnostic]) -> Vec<Option<Mark>> {
        self.texts.marks(findings)
    }
}
