//! A worldbook as its file has it.

use std::path::Path;
use std::sync::Arc;

use ctx_engine::{ImportError, Limits};
use ctx_preset_import::{WorldbookOrigin, read_worldbook_with_origin};
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
        let (imported, origin) = read_worldbook_with_origin(bytes, name, &Limits::default())?;
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

/// Returns a name that none of the books has: the name, else with a number behind it.
///
/// Reports and timed effects know entries by the name of their book.
pub fn unused(books: &[BookFile], name: Arc<str>) -> Arc<str> {
    let numbers = (2_usize..).map(|number| format!("{name}#{number}").into());
    let mut names = std::iter::once(name.clone()).chain(numbers);
    let is_free = |name: &Arc<str>| !books.iter().any(|book| book.book.name == *name);
    names.find(is_free).unwrap_or(name)
}
