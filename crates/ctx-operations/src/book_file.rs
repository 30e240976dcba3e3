//! A worldbook as its file has it.

use std::path::Path;
use std::sync::Arc;

use ctx_engine::ImportError;
use ctx_preset_import::{Document, WorldbookOrigin, worldbook_of};
use ctx_types::Diagnostic;
use ctx_types::worldbook::LoadedWorldbook;

/// A worldbook and its file.
#[derive(Clone, Debug)]
pub struct BookFile {
    /// The book.
    pub book: LoadedWorldbook,
    /// The name of its file.
    pub file: String,
    origin: WorldbookOrigin,
}

impl BookFile {
    /// Reads a worldbook that holds for every agent; also returns what was odd about it.
    ///
    /// Its id is the name of the file without the ending, its name the one that it says, else its id.
    pub fn parse(bytes: &[u8], name: &str) -> Result<(Self, Vec<Diagnostic>), ImportError> {
        let (imported, origin) = worldbook_of(Document::read(bytes, name)?, name)?;
        let id: Arc<str> = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into();
        let title = imported.value.name.clone().unwrap_or_else(|| id.clone());
        let book = LoadedWorldbook { id, name: title, book: Arc::new(imported.value), is_global: true };
        Ok((Self { book, file: name.to_owned(), origin }, imported.diagnostics))
    }

    /// Points a finding about the book, which is known by its name, into the file.
    pub fn lead_back(&self, finding: &mut Diagnostic) {
        let location = &mut finding.location;
        location.document = Some(self.file.as_str().into());
        location.pointer = location.pointer.take().map(|pointer| self.origin.pointer(&pointer));
    }
}

/// Worldbooks, with the files that they were read from.
#[derive(Clone, Debug, Default)]
pub struct Books(Vec<BookFile>);

impl Books {
    /// Adds a book. If another book has its name, the book gets a number.
    ///
    /// Reports and timed effects know entries by the name of their book.
    pub fn push(&mut self, mut file: BookFile) {
        let name = &file.book.name;
        let numbered = (2_usize..).map(|number| format!("{name}#{number}").into());
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let unused = names.find(|name| self.get(name).is_none());
        file.book.name = unused.expect("an unbounded range contains a free name");
        self.0.push(file);
    }

    /// Returns the books with their files.
    pub fn files(&self) -> impl Iterator<Item = &BookFile> {
        self.0.iter()
    }

    /// Returns the books.
    pub fn loaded(&self) -> Vec<LoadedWorldbook> {
        self.0.iter().map(|file| file.book.clone()).collect()
    }

    /// Returns whether a diagnostic is about one of the files.
    pub fn owns(&self, finding: &Diagnostic) -> bool {
        let document = finding.location.document.as_deref();
        self.0.iter().any(|file| document == Some(&*file.file))
    }

    /// Replaces the names of books in diagnostics by places in their files.
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
        self.lead_back(std::slice::from_mut(&mut finding));
        finding
    }

    /// Returns the name, the file and the number of entries of each book.
    pub fn list(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.0.iter().map(|file| (&*file.book.name, file.file.as_str(), file.book.book.entries.len()))
    }

    fn get(&self, name: &str) -> Option<&BookFile> {
        self.0.iter().find(|file| *file.book.name == *name)
    }
}
