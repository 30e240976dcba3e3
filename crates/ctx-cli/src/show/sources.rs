//! The texts of the files of a run, and where in them findings are.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use ctx_engine::ImportError;
use ctx_types::codes::MORE_FINDINGS;
use ctx_types::{Diagnostic, Span};

use crate::files::{self, FilesRead};
use crate::lang;
use crate::locate::Places;
use crate::show::excerpt::Lines;
use crate::show::findings::{Explained, Words, draw};
use crate::show::{plural, to_stderr};

/// How many findings of one file or run are shown before the rest is counted.
const MAX_SHOWN: usize = 100;

/// How many findings of one file get a line and a column.
const MAX_PLACED: usize = 100_000;

/// The texts of the files of a run, for showing the lines that findings are about.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    files: Vec<Source>,
    /// What was read, so that nothing is written onto it.
    pub(crate) files_read: FilesRead,
}

/// A file as text.
#[derive(Debug)]
struct Source {
    name: String,
    text: String,
    /// How many bytes of the file precede the text; unknown if the text was not UTF-8.
    skipped: Option<usize>,
    /// Whether the text is no more than what the document was packed in: findings are about that, not about these bytes.
    is_hidden: bool,
}

/// Where a finding is in a file: line and column from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub(crate) struct Position {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The bytes of a file that a finding is about.
#[derive(Debug)]
pub(super) struct Mark<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    pub(super) range: Range<usize>,
    /// The line in which the range begins, from 1.
    pub(super) line: usize,
    pub(super) line_start: usize,
    /// The column in the line, from 1, in characters.
    pub(super) column: usize,
}

impl Sources {
    /// Reads a file, or standard input for `-`, and keeps its text.
    pub(crate) fn read(&mut self, path: &Path, name: &str) -> Result<Vec<u8>> {
        let bytes = files::read(path)?;
        self.files_read.note(path);
        self.add(name, &bytes);
        Ok(bytes)
    }

    /// Keeps the text of a file; one that is known already stays.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) {
        if self.get(name).is_none() {
            self.files.push(Source::decode(name, bytes));
        }
    }

    /// Shows no lines of a file: a picture, an archive, or a text in base64, in which the document was.
    pub(crate) fn hide(&mut self, name: &str) {
        for source in self.files.iter_mut().filter(|source| source.name == name) {
            source.is_hidden = true;
        }
    }

    /// Writes findings to standard error, the first [`MAX_SHOWN`] with their lines.
    ///
    /// Those that only say how many others there are, beyond what is kept of a file, are always written.
    pub(crate) fn show(&self, findings: &[Diagnostic]) {
        let (counts, findings): (Vec<_>, Vec<_>) =
            findings.iter().partition(|finding| finding.code == MORE_FINDINGS);
        let shown: Vec<&Diagnostic> = findings.iter().copied().take(MAX_SHOWN).collect();
        for (finding, mark) in shown.iter().zip(self.marks(&shown)) {
            to_stderr(&(draw(finding, mark.as_ref(), Words::OfRun) + "\n"));
        }
        for count in counts {
            to_stderr(&(draw(count, None, Words::OfRun) + "\n"));
        }
        let more = findings.len() - shown.len();
        if more > 0 {
            let more = plural(more, "more finding");
            let told = format!("and {more}; `check`, `assemble` and `explain` list them with `--json`");
            to_stderr(&lang::text(&told));
        }
    }

    /// Finds the lines and columns of findings, in their order; of the first [`MAX_PLACED`].
    pub(crate) fn positions(&self, findings: &[Diagnostic]) -> Vec<Option<Position>> {
        let more = findings.iter().skip(MAX_PLACED).map(|_| None);
        let findings: Vec<&Diagnostic> = findings.iter().take(MAX_PLACED).collect();
        let marks = self.marks(&findings).into_iter();
        marks.chain(more).map(|mark| mark.map(|mark| mark.position())).collect()
    }

    /// Turns an import error into one that shows the line it is about.
    pub(crate) fn explain(&self, name: &str, error: &ImportError) -> anyhow::Error {
        self.failure(&self.explained(name, error))
    }

    /// Turns a finding into an error that shows the line it is about.
    pub(crate) fn failure(&self, finding: &Diagnostic) -> anyhow::Error {
        let mark = self.marks(&[finding]).pop().flatten();
        Explained::of(finding, mark.as_ref()).into()
    }

    /// Turns an import error into a finding that knows its place in the file.
    pub(crate) fn explained(&self, name: &str, error: &ImportError) -> Diagnostic {
        let mut finding = error.to_diagnostic().in_document(name);
        if let Some(message) = without_place(error) {
            finding.message = message;
        }
        let source = self.get(name);
        if matches!(error, ImportError::NotText { .. }) && source.is_some_and(Source::is_picture) {
            return finding.with_help("this is a picture; of a character card save the JSON in it as a file");
        }
        match source.and_then(|source| source.place(error)) {
            Some(span) => finding.at_span(span),
            None => finding,
        }
    }

    /// Finds the places of findings, each file read once however many there are.
    fn marks(&self, findings: &[&Diagnostic]) -> Vec<Option<Mark<'_>>> {
        let mut marks: Vec<Option<Mark<'_>>> = findings.iter().map(|_| None).collect();
        for source in &self.files {
            let is_of_file =
                |finding: &Diagnostic| finding.location.document.as_deref() == Some(&source.name);
            let found = findings.iter().zip(&mut marks).filter(|(finding, _)| is_of_file(finding));
            source.mark(found.collect());
        }
        marks
    }

    fn get(&self, name: &str) -> Option<&Source> {
        self.files.iter().find(|source| source.name == name)
    }
}

impl Source {
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
        Self { name: name.to_owned(), text, skipped, is_hidden: false }
    }

    /// Tells whether it is a PNG, in which character cards are shared.
    fn is_picture(&self) -> bool {
        self.text.starts_with("\u{fffd}PNG\r\n")
    }

    fn is_toml(&self) -> bool {
        Path::new(&self.name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
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
    fn mark<'a>(&'a self, findings: Vec<(&&Diagnostic, &mut Option<Mark<'a>>)>) {
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
                Mark { file: &self.name, text: &self.text, range, line, line_start, column }
            });
        }
    }
}

/// Says what an error says, where its line and column are shown beside it.
fn without_place(error: &ImportError) -> Option<String> {
    match error {
        ImportError::Json { message, .. } => Some(format!("invalid JSON: {message}")),
        ImportError::Yaml { message, .. } => Some(format!("invalid YAML: {message}")),
        ImportError::TooDeep { limit, .. } => {
            Some(format!("lists and objects are nested more than {limit} deep"))
        }
        _ => None,
    }
}

impl Mark<'_> {
    fn position(&self) -> Position {
        Position { file: self.file.to_owned(), line: self.line, column: self.column }
    }
}

#[cfg(test)]
mod tests {
    use ctx_types::Code;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever a file holds and wherever a finding points, something is drawn.
        #[test]
        fn any_finding_about_any_file_can_be_drawn(
            text in "[-{}\\[\\]:,\"'\\\\|>&*#!a0é😀 \t\r\n\u{1b}\u{9b}\u{301}\u{202e}]{0,60}",
            pointer in proptest::option::of("(/(a|0|1|~1|)){0,3}"),
            span in proptest::option::of((0_usize..80, 0_usize..20)),
        ) {
            let mut sources = Sources::default();
            sources.add("f", text.as_bytes());
            let code = Code::new(1, "any");
            let mut finding = Diagnostic::warning(code, text.clone()).in_document("f").with_help(text);
            finding.location.pointer = pointer;
            finding.location.span = span.map(|(start, length)| Span::new(start, start + length));
            let mark = sources.marks(&[&finding]).pop().flatten();
            let drawn = draw(&finding, mark.as_ref(), Words::OfRun);
            prop_assert!(drawn.starts_with("warning[CTX0001]: "));
            prop_assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'));
        }

        #[test]
        fn any_bytes_can_be_shown(bytes in prop::collection::vec(any::<u8>(), 0..40), offset in 0_usize..60) {
            let mut sources = Sources::default();
            sources.add("f", &bytes);
            let error = sources.explain("f", &ImportError::NotText { offset });
            prop_assert!(error.to_string().starts_with("error[CTX0601]: "));
        }
    }
}
