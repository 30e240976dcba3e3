//! Diagnostics with the line of the file that they are about.

use std::borrow::Cow;
use std::io::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ctx_engine::{Format, ImportError};
use ctx_types::{Diagnostic, Severity, Span};

use crate::locate::locate;
use crate::show::is_coloured;

/// How many findings of one run are shown before the rest is counted.
const MAX_SHOWN: usize = 100;

/// How many bytes of a marked value are underlined.
const MAX_MARKED: usize = 80;

/// How long a line may be to be shown whole, in bytes.
const MAX_LINE: usize = 2_000;

/// The texts of the files of a run, for showing the lines that findings are about.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    files: Vec<(String, String)>,
}

/// Where a finding is in a file: line and column from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Position {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// An error that was rendered with its line already.
#[derive(Debug)]
struct Explained {
    plain: String,
    rendered: String,
}

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.plain)
    }
}

impl std::error::Error for Explained {}

impl Sources {
    /// Keeps the text of a file.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) {
        self.files.push((name.to_owned(), String::from_utf8_lossy(bytes).into_owned()));
    }

    /// Writes findings about a file to standard error, the first [`MAX_SHOWN`] in full.
    pub(crate) fn show<'a>(
        &self,
        findings: impl IntoIterator<Item = &'a Diagnostic>,
        format: Option<Format>,
    ) {
        let mut more = 0;
        for (index, finding) in findings.into_iter().enumerate() {
            match index < MAX_SHOWN {
                true => to_stderr(&self.render(finding, format)),
                false => more += 1,
            }
        }
        if more > 0 {
            to_stderr(&format!("and {more} more findings; `ctx check --json` has them all"));
        }
    }

    /// Finds the line and column of a finding.
    pub(crate) fn position(&self, finding: &Diagnostic, format: Option<Format>) -> Option<Position> {
        let (name, text, range) = self.place(finding, format)?;
        let before = text.get(..range.start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let column = before.get(line_start..)?.chars().count() + 1;
        Some(Position { file: name.to_owned(), line, column })
    }

    /// Turns an import error into one that shows the line it is about.
    pub(crate) fn explain(&self, name: &str, error: &ImportError) -> anyhow::Error {
        let finding = self.explained(name, error);
        let range = finding.location.span.map(|span| span.start..span.end);
        let rendered = self.draw(&finding, name, range);
        Explained { plain: error.to_string(), rendered }.into()
    }

    /// Turns an import error into a finding that knows its place in the file.
    pub(crate) fn explained(&self, name: &str, error: &ImportError) -> Diagnostic {
        let place = match error {
            ImportError::Json { line, column, .. }
            | ImportError::Yaml { line, column, .. }
            | ImportError::TooDeep { line, column, .. } => Some((*line, *column)),
            ImportError::NotText { offset } => self.text(name).map(|text| line_and_column(text, *offset)),
            _ => None,
        };
        let start = place.and_then(|(line, column)| byte_at(self.text(name)?, line, column));
        let finding = error.to_diagnostic().in_document(name);
        match start {
            Some(start) => finding.at_span(Span::new(start, start + 1)),
            None => finding,
        }
    }

    fn render(&self, finding: &Diagnostic, format: Option<Format>) -> String {
        match self.place(finding, format) {
            Some((name, _, range)) => self.draw(finding, name, Some(range)),
            None => self.draw(finding, finding.location.document.as_deref().unwrap_or_default(), None),
        }
    }

    fn draw(&self, finding: &Diagnostic, name: &str, range: Option<Range<usize>>) -> String {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Info => Level::INFO,
        };
        let code = finding.code.to_string();
        let message = clean(&finding.message);
        let title = level.primary_title(message.as_str()).id(code.as_str());
        let excerpt = range.and_then(|range| excerpt(self.text(name)?, range));
        let place = finding.location.to_string();
        let origin = if place.is_empty() { name.to_owned() } else { place };
        let mut group = if let Some(excerpt) = &excerpt {
            title.element(
                Snippet::source(excerpt.text.as_str())
                    .path(name)
                    .line_start(excerpt.line)
                    .annotation(AnnotationKind::Primary.span(excerpt.marked.clone())),
            )
        } else if origin.is_empty() {
            Group::with_title(title)
        } else {
            Group::with_title(title).element(Origin::path(Cow::from(origin)))
        };
        if let Some(help) = &finding.help {
            group = group.element(Level::HELP.message(clean(help)));
        }
        let renderer = if is_coloured() { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    fn place<'a>(
        &'a self,
        finding: &'a Diagnostic,
        format: Option<Format>,
    ) -> Option<(&'a str, &'a str, Range<usize>)> {
        let name = finding.location.document.as_deref()?;
        let text = self.text(name)?;
        let range = match (&finding.location.pointer, finding.location.span) {
            (Some(pointer), _) => locate(text, &in_file(pointer, format))?,
            (None, span) => span.map(|span| span.start..span.end)?,
        };
        Some((name, text, range))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }
}

/// Findings about an agent point into the unified form; this leads back to the file's own form.
fn in_file(pointer: &str, format: Option<Format>) -> String {
    let entry = pointer.strip_prefix("/presetMessages");
    match (format, entry) {
        (Some(Format::PresetList), Some(rest)) => rest.to_owned(),
        (Some(Format::PresetFile), Some(rest)) => format!("/messages{rest}"),
        (Some(Format::AgentExport), _) => format!("/agents/0{pointer}"),
        _ => pointer.to_owned(),
    }
}

/// Prints an error that ends the run.
pub(crate) fn failure(error: &anyhow::Error) {
    match error.downcast_ref::<Explained>() {
        Some(explained) => to_stderr(&explained.rendered),
        None => to_stderr(&format!("error: {error:#}")),
    }
}

/// Prints a line to standard error.
fn to_stderr(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // If nobody listens, there is nobody to tell.
    writeln!(stderr, "{text}").unwrap_or_default();
}

/// A few lines of a text, with the marked bytes in them.
struct Excerpt {
    text: String,
    line: usize,
    marked: Range<usize>,
}

/// Takes the line of a range out of a text, so that drawing costs no more for a large file.
fn excerpt(text: &str, range: Range<usize>) -> Option<Excerpt> {
    let start = floor_boundary(text, range.start);
    let before = text.get(..start)?;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text.get(start..)?.find('\n').map_or(text.len(), |newline| start + newline);
    let first = floor_boundary(text, line_start.max(start.saturating_sub(MAX_LINE / 2)));
    let last = floor_boundary(text, line_end.min(start + MAX_LINE / 2)).max(start);
    let end = floor_boundary(text, range.end.min(last).min(start + MAX_MARKED)).max(start);
    let shown = clean(text.get(first..last)?);
    let length = |from: usize, to: usize| text.get(from..to).map_or(0, |part| clean(part).len());
    let marked_start = length(first, start);
    let marked = marked_start..marked_start + length(start, end).max(1);
    let line = before.matches('\n').count() + 1;
    Some(Excerpt { text: shown, line, marked })
}

/// Terminal control characters in a stranger's file must not reach the terminal.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

fn floor_boundary(text: &str, mut index: usize) -> usize {
    index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..floor_boundary(text, offset)).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).map_or(0, |line| line.chars().count());
    (before.matches('\n').count() + 1, column + 1)
}

fn byte_at(text: &str, line: usize, column: usize) -> Option<usize> {
    let start = match line {
        0 | 1 => 0,
        line => text.match_indices('\n').nth(line - 2).map(|(newline, _)| newline + 1)?,
    };
    let rest = text.get(start..)?;
    let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(byte, _)| byte);
    Some(start + offset)
}
