//! Diagnostics as people read them: with the line of the file that they are about.

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ctx_project::error::{Fault, ProjectError};
use ctx_project::sources::{Mark, Sources};
use ctx_types::codes::MORE_FINDINGS;
use ctx_types::{Diagnostic, Phrase, Severity, plural};

use crate::lang;
use crate::show::clean::{clean, clean_line};
use crate::show::excerpt::Excerpt;
use crate::show::{is_coloured, stderr_width, to_stderr};

/// How many findings of one file or run are shown before the rest is counted.
const MAX_SHOWN: usize = 100;

/// Writes findings to standard error, the first [`MAX_SHOWN`] with their lines.
///
/// Those that only say how many others there are, beyond what is kept of a file, are always written.
pub(crate) fn findings(sources: &Sources, findings: &[Diagnostic]) {
    let (counts, findings): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| finding.code == MORE_FINDINGS);
    let shown: Vec<&Diagnostic> = findings.iter().copied().take(MAX_SHOWN).collect();
    for (finding, mark) in shown.iter().zip(sources.marks(&shown)) {
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

/// Returns what makes a document useless, if that is the error.
fn fault(error: &anyhow::Error) -> Option<&Fault> {
    match error.downcast_ref() {
        Some(ProjectError::Fault(fault)) => Some(fault),
        _ => None,
    }
}

/// Prints an error that ends the run.
pub(crate) fn failure(error: &anyhow::Error) {
    if let Some(Fault { finding, mark, .. }) = fault(error) {
        return to_stderr(&draw(finding, mark.as_ref(), Words::OfRun));
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
    if let Some(error) = error.downcast_ref::<ProjectError>().filter(|error| error.to_string() == whole) {
        return lang::say(&error.phrase());
    }
    if let Cow::Owned(translated) = lang::text(&whole) {
        return translated;
    }
    let causes = error.chain().map(|cause| lang::text(&cause.to_string()).into_owned());
    causes.collect::<Vec<_>>().join(": ")
}

/// Writes an error without colours, for programs.
pub(crate) fn plain(error: &anyhow::Error) -> String {
    match fault(error) {
        Some(Fault { finding, mark, .. }) => without_colours(&draw(finding, mark.as_ref(), Words::English)),
        None => without_colours(&format!("{error:#}")),
    }
}

/// Writes an error without colours in the language of the run, for a result that people read.
pub(crate) fn plain_told(error: &anyhow::Error) -> String {
    match fault(error) {
        Some(Fault { finding, mark, .. }) => without_colours(&draw(finding, mark.as_ref(), Words::OfRun)),
        None => without_colours(&told(error)),
    }
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

    fn say(self, phrase: &Phrase) -> String {
        match self {
            Self::OfRun => lang::say(phrase),
            Self::English => phrase.to_string(),
        }
    }
}

/// Draws a finding, with the line of its mark.
pub(super) fn draw(finding: &Diagnostic, mark: Option<&Mark>, words: Words) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let level = level.with_name(words.text(&finding.severity.to_string()).into_owned());
    let message = words.say(&finding.message);
    let title = level.primary_title(clean_line(&message)).id(finding.code.to_string());
    let group = Group::with_title(title);
    let excerpt = mark.and_then(|mark| Some((mark, Excerpt::of(&mark.text, mark.line_start, &mark.range)?)));
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
    (mark, excerpt): (&Mark, Excerpt),
    words: Words,
) -> String {
    let file = clean_line(&mark.file);
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
        let help = clean_line(&words.say(help));
        let level = Level::HELP.with_name(words.text("help").into_owned());
        group = group.element(level.message(help));
    }
    let renderer = if is_coloured() { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(stderr_width()).render(&[group])
}

#[cfg(test)]
mod tests {
    use ctx_engine::ImportError;
    use ctx_types::Code;
    use ctx_types::Span;
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
            let mut finding = Diagnostic::warning(code, Phrase::verbatim(text.clone())).in_document("f").with_help(Phrase::verbatim(text));
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
            let error = sources.explain("f", &ImportError::NotText { offset }).into();
            prop_assert!(plain(&error).starts_with("error[CTX0601]: "));
        }
    }
}
