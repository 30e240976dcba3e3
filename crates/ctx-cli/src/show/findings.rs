//! Diagnostics as people read them: with the line of the file that they are about.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ctx_types::{Diagnostic, Severity};

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
    match error.downcast_ref::<Explained>() {
        Some(Explained(drawn)) => to_stderr(drawn),
        None => to_stderr(&clean(&format!("error: {error:#}"))),
    }
}

/// Draws a finding, with the line of its mark.
pub(super) fn draw(finding: &Diagnostic, mark: Option<&Mark<'_>>) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = level.primary_title(clean_line(&finding.message)).id(finding.code.to_string());
    let mut group = Group::with_title(title);
    let mut columns = None;
    let excerpt = mark.and_then(|mark| Some((mark, Excerpt::of(mark.text, mark.line_start, &mark.range)?)));
    if let Some((mark, excerpt)) = excerpt {
        columns = Some((excerpt.column(), mark.position().column));
        let annotation = AnnotationKind::Primary.span(excerpt.marked);
        let snippet = Snippet::source(excerpt.text).path(clean_line(mark.file)).line_start(mark.line);
        group = group.element(snippet.annotation(annotation));
    } else if !finding.location.is_empty() {
        group = group.element(Origin::path(clean_line(&finding.location.to_string())));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(clean_line(help)));
    }
    let renderer = if is_coloured() { Renderer::styled() } else { Renderer::plain() };
    let drawn = renderer.term_width(stderr_width()).render(&[group]);
    match (mark, columns) {
        (Some(mark), Some((shown, column))) if shown != column => {
            // The renderer counts from the start of the excerpt, which of a very long line is not its start.
            let origin = |column| format!("{}:{}:{column}", clean_line(mark.file), mark.line);
            drawn.replacen(&origin(shown), &origin(column), 1)
        }
        _ => drawn,
    }
}
