//! Diagnostics as people read them: with the line of the file that they are about.

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ctx_types::{Code, Diagnostic, Severity};

use crate::lang;
use crate::show::clean::{clean, clean_line};
use crate::show::excerpt::Excerpt;
use crate::show::sources::Mark;
use crate::show::{is_coloured, stderr_width, to_stderr};

/// An error that was drawn with its line already.
#[derive(Debug)]
pub(super) struct Explained {
    /// For people, in the language of the run.
    drawn: String,
    /// For programs.
    english: String,
}

impl Explained {
    /// Draws a finding that ends the run.
    pub(super) fn of(finding: &Diagnostic, mark: Option<&Mark<'_>>) -> Self {
        let [drawn, english] = [Words::OfRun, Words::English].map(|words| draw(finding, mark, words));
        Self { drawn, english }
    }
}

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.drawn)
    }
}

impl std::error::Error for Explained {}

/// Prints an error that ends the run.
pub(crate) fn failure(error: &anyhow::Error) {
    if let Some(explained) = error.downcast_ref::<Explained>() {
        return to_stderr(&explained.drawn);
    }
    let text = told(error);
    // What was drawn already, for a result, says itself that it is an error.
    let name = lang::text("error");
    let is_drawn = text.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('['));
    let head = if is_drawn { String::new() } else { format!("{name}: ") };
    to_stderr(&clean(&format!("{head}{text}")));
}

/// Writes an error and its causes in the language of the run: as a whole, or one by one.
fn told(error: &anyhow::Error) -> String {
    let whole = format!("{error:#}");
    if let Cow::Owned(translated) = lang::text(&whole) {
        return translated;
    }
    let causes = error.chain().map(|cause| lang::text(&cause.to_string()).into_owned());
    causes.collect::<Vec<_>>().join(": ")
}

/// Writes an error without colours, for programs.
pub(crate) fn plain(error: &anyhow::Error) -> String {
    without_colours(&match error.downcast_ref::<Explained>() {
        Some(explained) => explained.english.clone(),
        None => format!("{error:#}"),
    })
}

/// Writes an error without colours in the language of the run, for a result that people read.
pub(crate) fn plain_told(error: &anyhow::Error) -> String {
    without_colours(&told(error))
}

fn without_colours(drawn: &str) -> String {
    let mut parts = drawn.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    // What begins so is a colour, which ends with `m`.
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// In which words a finding is drawn.
#[derive(Clone, Copy)]
pub(super) enum Words {
    /// Those of the language of the run.
    OfRun,
    English,
}

impl Words {
    fn text(self, english: &str) -> Cow<'_, str> {
        match self {
            Self::OfRun => lang::text(english),
            Self::English => Cow::Borrowed(english),
        }
    }

    fn of_finding(self, code: Code, english: &str) -> Cow<'_, str> {
        match self {
            Self::OfRun => lang::of_finding(code, english),
            Self::English => Cow::Borrowed(english),
        }
    }
}

/// Draws a finding, with the line of its mark.
pub(super) fn draw(finding: &Diagnostic, mark: Option<&Mark<'_>>, words: Words) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let level = level.with_name(words.text(&finding.severity.to_string()).into_owned());
    let message = words.of_finding(finding.code, &finding.message);
    let title = level.primary_title(clean_line(&message)).id(finding.code.to_string());
    let group = Group::with_title(title);
    let excerpt = mark.and_then(|mark| Some((mark, Excerpt::of(mark.text, mark.line_start, &mark.range)?)));
    match excerpt {
        Some((mark, excerpt)) => draw_excerpt(group, finding, (mark, excerpt), words),
        None if finding.location.is_empty() => render(group, finding, words),
        None => {
            render(group.element(Origin::path(clean_line(&finding.location.to_string()))), finding, words)
        }
    }
}

fn draw_excerpt(
    group: Group<'_>,
    finding: &Diagnostic,
    (mark, excerpt): (&Mark<'_>, Excerpt),
    words: Words,
) -> String {
    let file = clean_line(mark.file);
    let place = |column| format!("{file}:{}:{column}", mark.line);
    // The renderer counts columns in the excerpt, which of a very long line begins later than the line.
    let (shown, meant) = (place(excerpt.column()), place(mark.column));
    let annotation = AnnotationKind::Primary.span(excerpt.marked);
    let snippet = Snippet::source(excerpt.text).path(file.as_str()).line_start(mark.line);
    let drawn = render(group.element(snippet.annotation(annotation)), finding, words);
    if shown == meant { drawn } else { drawn.replacen(&shown, &meant, 1) }
}

fn render(mut group: Group<'_>, finding: &Diagnostic, words: Words) -> String {
    if let Some(help) = &finding.help {
        let help = clean_line(&words.of_finding(finding.code, help));
        let level = Level::HELP.with_name(words.text("help").into_owned());
        group = group.element(level.message(help));
    }
    let renderer = if is_coloured() { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(stderr_width()).render(&[group])
}
