//! Diagnostics as people read them: with the line of the file that they are about.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ctx_types::{Diagnostic, Severity};

use crate::lang;
use crate::show::clean::{clean, clean_line};
use crate::show::excerpt::Excerpt;
use crate::show::sources::Mark;
use crate::show::{is_coloured, stderr_width, to_stderr};

/// An error that was drawn with its line already.
#[derive(Debug)]
pub(super) struct Explained(pub(super) String);

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Explained {}

/// Prints an error that ends the run.
pub(crate) fn failure(error: &anyhow::Error) {
    if let Some(Explained(drawn)) = error.downcast_ref() {
        return to_stderr(drawn);
    }
    let text = format!("{error:#}");
    // What was drawn already, for a result, says itself that it is an error.
    let name = lang::text("error");
    let is_drawn = text.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('['));
    let head = if is_drawn { String::new() } else { format!("{name}: ") };
    to_stderr(&clean(&format!("{head}{}", lang::text(&text))));
}

/// Writes an error without colours, for a result.
pub(crate) fn plain(error: &anyhow::Error) -> String {
    let drawn = format!("{error:#}");
    let mut parts = drawn.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    // What begins so is a colour, which ends with `m`.
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// Draws a finding, with the line of its mark.
pub(super) fn draw(finding: &Diagnostic, mark: Option<&Mark<'_>>) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let level = level.with_name(lang::text(&finding.severity.to_string()).into_owned());
    let message = lang::of_finding(finding.code, &finding.message);
    let title = level.primary_title(clean_line(&message)).id(finding.code.to_string());
    let group = Group::with_title(title);
    let excerpt = mark.and_then(|mark| Some((mark, Excerpt::of(mark.text, mark.line_start, &mark.range)?)));
    match excerpt {
        Some((mark, excerpt)) => draw_excerpt(group, finding, mark, excerpt),
        None if finding.location.is_empty() => render(group, finding),
        None => render(group.element(Origin::path(clean_line(&finding.location.to_string()))), finding),
    }
}

fn draw_excerpt(group: Group<'_>, finding: &Diagnostic, mark: &Mark<'_>, excerpt: Excerpt) -> String {
    let file = clean_line(mark.file);
    let place = |column| format!("{file}:{}:{column}", mark.line);
    // The renderer counts columns in the excerpt, which of a very long line begins later than the line.
    let (shown, meant) = (place(excerpt.column()), place(mark.column));
    let annotation = AnnotationKind::Primary.span(excerpt.marked);
    let snippet = Snippet::source(excerpt.text).path(file.as_str()).line_start(mark.line);
    let drawn = render(group.element(snippet.annotation(annotation)), finding);
    if shown == meant { drawn } else { drawn.replacen(&shown, &meant, 1) }
}

fn render(mut group: Group<'_>, finding: &Diagnostic) -> String {
    if let Some(help) = &finding.help {
        let help = clean_line(&lang::of_finding(finding.code, help));
        let level = Level::HELP.with_name(lang::text("help").into_owned());
        group = group.element(level.message(help));
    }
    let renderer = if is_coloured() { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(stderr_width()).render(&[group])
}
