//! Texts of documents, and where in them findings are.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ctx_engine::ImportError;
use ctx_types::{Diagnostic, Phrase, Span, phrase};

use crate::lines::Lines;
use crate::locate::Places;

/// How many findings of one document get a line and a column.
const MAX_PLACED: usize = 100_000;

/// The texts of documents, by the names that findings give them.
#[derive(Debug, Default)]
pub struct Texts(Vec<SourceText>);

/// A document as text.
#[derive(Debug)]
struct SourceText {
    name: Arc<str>,
    text: Arc<str>,
    /// How many bytes of the file precede the text; unknown if the text was not UTF-8.
    skipped: Option<usize>,
    /// Whether the text is no more than what the document was packed in: findings are about that, not about these bytes.
    is_hidden: bool,
}

/// Where a finding is in a file: line and column from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Position {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in the line, from 1, in characters.
    pub column: usize,
}

/// The bytes of a file that a finding is about. A clone shares the text.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The name of the file.
    pub file: Arc<str>,
    /// All of its text.
    pub text: Arc<str>,
    /// The bytes of the text.
    pub range: Range<usize>,
    /// The line in which the range begins, from 1.
    pub line: usize,
    /// The byte at which that line begins.
    pub line_start: usize,
    /// The column in the line, from 1, in characters.
    pub column: usize,
}

impl Texts {
    /// Keeps the text of a file; one that is known already stays.
    pub fn add(&mut self, name: &str, bytes: &[u8]) {
        if self.get(name).is_none() {
            self.0.push(SourceText::decode(name, bytes));
        }
    }

    /// Shows no lines of a file: a picture, an archive, or a text in base64, in which the document was.
    pub fn hide(&mut self, name: &str) {
        for source in self.0.iter_mut().filter(|source| &*source.name == name) {
            source.is_hidden = true;
        }
    }

    /// Finds the lines and columns of findings, in their order; of the first 100,000.
    pub fn positions(&self, findings: &[Diagnostic]) -> Vec<Option<Position>> {
        let more = findings.iter().skip(MAX_PLACED).map(|_| None);
        let findings: Vec<&Diagnostic> = findings.iter().take(MAX_PLACED).collect();
        let marks = self.marks(&findings).into_iter();
        marks.chain(more).map(|mark| mark.map(|mark| mark.position())).collect()
    }

    /// Turns an import error into a finding that knows its place in the file.
    pub fn explained(&self, name: &str, error: &ImportError) -> Diagnostic {
        let mut finding = error.to_diagnostic().in_document(name);
        if let Some(message) = without_place(error) {
            finding.message = message;
        }
        let source = self.get(name);
        match source.and_then(|source| source.place(error)) {
            Some(span) => finding.at_span(span),
            None => finding,
        }
    }

    /// Finds the places of findings, each file read once however many there are.
    pub fn marks(&self, findings: &[&Diagnostic]) -> Vec<Option<Mark>> {
        let mut marks: Vec<Option<Mark>> = findings.iter().map(|_| None).collect();
        for source in &self.0 {
            let is_of_file =
                |finding: &Diagnostic| finding.location.document.as_deref() == Some(&source.name);
            let found = findings.iter().zip(&mut marks).filter(|(finding, _)| is_of_file(finding));
            source.mark(found.collect());
        }
        marks
    }

    fn get(&self, name: &str) -> Option<&SourceText> {
        self.0.iter().find(|source| &*source.name == name)
    }
}

impl SourceText {
    /// Reads bytes as the importer does; what is no text becomes U+FFFD.
    fn decode(name: &str, bytes: &[u8]) -> Self {
        let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
            let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
            (String::from_utf16_lossy(&units), None)
        };
        let narrow = |bytes: &[u8], skipped| (String::from_utf8_lossy(bytes).into_owned(), Some(skipped));
        let (text, skipped) = match bytes {
            [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
            [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
            [0xEF, 0xBB, 0xBF, rest @ ..] => narrow(rest, 3),
            _ => narrow(bytes, 0),
        };
        Self { name: name.into(), text: text.into(), skipped, is_hidden: false }
    }

    fn is_toml(&self) -> bool {
        Path::new(&*self.name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
    }

    /// Finds the place that an import error speaks of.
    fn place(&self, error: &ImportError) -> Option<Span> {
        let (line, column) = match error {
            ImportError::Json { line, column, .. }
            | ImportError::Yaml { line, column, .. }
            | ImportError::TooDeep { line, column, .. } => (*line, *column),
            ImportError::NotText { offset } => {
                let start = offset.checked_sub(self.skipped?)?;
                return Some(Span::new(start, start + 1));
            }
            _ => return None,
        };
        let start = Lines::of(&self.text).byte(&self.text, line, column)?;
        Some(Span::new(start, start))
    }

    /// Fills in the marks of findings that are about this file.
    fn mark(&self, findings: Vec<(&&Diagnostic, &mut Option<Mark>)>) {
        if findings.is_empty() || self.is_hidden {
            return;
        }
        let pointers = findings.iter().filter_map(|(finding, _)| finding.location.pointer.as_deref());
        let mut pointers = pointers.peekable();
        let places = match pointers.peek() {
            Some(_) if self.is_toml() => Places::find_in_toml(&self.text, pointers),
            Some(_) => Places::find(&self.text, pointers),
            None => Places::default(),
        };
        let lines = Lines::of(&self.text);
        for (finding, mark) in findings {
            let span = finding.location.span;
            let range = match finding.location.pointer.as_deref() {
                Some(pointer) => {
                    let key = places.at(pointer).filter(|_| finding.location.is_key);
                    let key = key.and_then(|place| place.key.clone());
                    key.or_else(|| places.nearest(pointer).map(|place| place.part(&self.text, span)))
                }
                None => span.map(|span| span.start..span.end),
            };
            *mark = range.map(|range| {
                let (line, line_start) = lines.line(range.start);
                let column = lines.column(&self.text, range.start);
                Mark { file: self.name.clone(), text: self.text.clone(), range, line, line_start, column }
            });
        }
    }
}

/// Describes what an error says, where its line and column are shown beside it.
fn without_place(error: &ImportError) -> Option<Phrase> {
    match error {
        ImportError::Json { message, .. } => {
            Some(phrase!("invalid JSON: {message}", message = Phrase::original(message)))
        }
        ImportError::Yaml { message, .. } => {
            Some(phrase!("invalid YAML: {message}", message = Phrase::original(message)))
        }
        ImportError::TooDeep { limit, .. } => {
            Some(phrase!("lists and objects are nested more than {limit} levels deep", limit))
        }
        _ => None,
    }
}

impl Mark {
    fn position(&self) -> Position {
        Position { file: self.file.to_string(), line: self.line, column: self.column }
    }
}
