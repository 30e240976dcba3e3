//! Diagnostics as people read them: with the line of the file that they are about.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ctx_chat::TurnFailure;
use ctx_compress::request::Overflow;
use ctx_engine::AssembleError;
use ctx_language::Language;
use ctx_processors::{Cause, Infeasible};
use ctx_project::codes::UNREADABLE_FILE;
use ctx_project::error::ProjectError;
use ctx_project::sources::{Mark, Sources};
use ctx_tokens::BudgetError;
use ctx_tokens::codes::{NO_WINDOW, UNKNOWN_MODEL};
use ctx_types::codes::MORE_FINDINGS;
use ctx_types::{Diagnostic, Phrase, Severity, count_of, phrase};

use crate::lang;
use crate::show::clean::{clean, clean_line};
use crate::show::excerpt::Excerpt;
use crate::show::{is_coloured, stderr_width, to_stderr};

/// How many findings of one file or run are shown before the rest is counted.
const MAX_SHOWN: usize = 100;

/// Whether an error was reported.
static HAS_ERRORS: AtomicBool = AtomicBool::new(false);

/// Returns whether an error was reported.
pub(crate) fn has_errors() -> bool {
    HAS_ERRORS.load(Ordering::Relaxed)
}

/// Writes findings to standard error, the first [`MAX_SHOWN`] with their lines.
///
/// Those that only say how many others there are, beyond what is kept of a file, are always written.
pub(crate) fn findings(language: Language, sources: &Sources, findings: &[Diagnostic]) {
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        HAS_ERRORS.store(true, Ordering::Relaxed);
    }
    let findings: Vec<Diagnostic> = findings.iter().cloned().map(with_options).collect();
    let (counts, findings): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| finding.code == MORE_FINDINGS);
    let shown: Vec<&Diagnostic> = findings.iter().copied().take(MAX_SHOWN).collect();
    for (finding, mark) in shown.iter().zip(sources.marks(&shown)) {
        to_stderr(&(draw(language, finding, mark.as_ref()) + "\n"));
    }
    for count in counts {
        to_stderr(&(draw(language, count, None) + "\n"));
    }
    let more = findings.len() - shown.len();
    if more > 0 {
        let told = phrase!(
            "and {more}; use `--json` with `check`, `assemble`, or `explain` to list all",
            more = count_of!(more, "more diagnostic")
        );
        to_stderr(&lang::say(language, &told));
    }
}

/// Prints an error that ends the run.
pub(crate) fn failure(language: Language, error: &ProjectError) {
    if let ProjectError::Fault(fault) = error {
        return to_stderr(&draw(language, &fault.finding, fault.mark.as_ref()));
    }
    let text = lang::say(language, &error.phrase());
    // What was drawn already, for a result, says itself that it is an error.
    let name = lang::word(language, "error");
    let is_drawn = text.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('['));
    let head = if is_drawn { String::new() } else { format!("{name}{}", colon(language)) };
    let remedy = remedy(error).map(|remedy| lang::say(language, &phrase!("; {remedy}", remedy)));
    to_stderr(&clean(&format!("{head}{text}{}", remedy.unwrap_or_default())));
}

/// Names the options that can help against an error of a library.
fn remedy(error: &ProjectError) -> Option<Phrase> {
    match error {
        ProjectError::Overflow(Overflow { needed, .. }) => {
            Some(phrase!("raise `--budget` to at least {needed}", needed))
        }
        ProjectError::Assemble(error) => remedy_of_assembly(error),
        _ => None,
    }
}

/// Prints the error that ended a turn.
pub(crate) fn turn_failure(language: Language, error: &TurnFailure) {
    let remedy = match error {
        TurnFailure::Context(error) => remedy_of_assembly(error),
        TurnFailure::Model(error) if error.is_overflow() => {
            Some(phrase!("shorten the message, or use a model with a larger context window"))
        }
        _ => None,
    };
    let error = error.phrase();
    let told = match remedy {
        Some(remedy) => phrase!("{error}; {remedy}", error, remedy),
        None => error,
    };
    failure(language, &ProjectError::Unusable(told));
}

fn remedy_of_assembly(error: &AssembleError) -> Option<Phrase> {
    let is_too_large =
        |infeasible: &Infeasible| matches!(infeasible.cause, Cause::Undroppable | Cause::Overgrown);
    match error {
        AssembleError::Budget(BudgetError::NothingLeft { .. }) => {
            Some(phrase!("lower `--reserve`, or raise `--context-tokens`"))
        }
        AssembleError::Infeasible(infeasible) if is_too_large(infeasible) => {
            Some(phrase!("raise `--context-tokens`, or lower `--reserve`"))
        }
        _ => None,
    }
}

/// Names the options that a library cannot know in the help of a diagnostic.
fn with_options(mut finding: Diagnostic) -> Diagnostic {
    if finding.code == NO_WINDOW {
        finding.help = Some(if finding.message.template().contains("{model}") {
            phrase!("add the model to a table for `--models FILE`, or assemble with `--context-tokens N`")
        } else {
            phrase!("choose a model with `--model NAME`, or assemble with `--context-tokens N`")
        });
    } else if finding.code == UNKNOWN_MODEL && finding.help.is_some() && !finding.has_suggestion() {
        finding.help = Some(phrase!("add the model to a table for `--models FILE`"));
    }
    finding
}

/// Writes an error without colours, for programs.
pub(crate) fn plain(error: &ProjectError) -> String {
    plain_told(Language::En, error)
}

/// Writes an error without colours in the language of the run, for a result that people read.
pub(crate) fn plain_told(language: Language, error: &ProjectError) -> String {
    without_colours(&match error {
        ProjectError::Fault(fault) => draw(language, &fault.finding, fault.mark.as_ref()),
        error => lang::say(language, &error.phrase()),
    })
}

fn without_colours(drawn: &str) -> String {
    let mut parts = drawn.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    // What begins so is a colour, which ends with `m`.
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// Draws a finding, with the line of its mark.
pub(super) fn draw(language: Language, finding: &Diagnostic, mark: Option<&Mark>) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let level = level.with_name(lang::word(language, &finding.severity.to_string()).into_owned());
    let message = lang::say(language, &finding.message);
    let title = level.primary_title(clean_line(&message)).id(finding.code.to_string());
    let group = Group::with_title(title);
    let excerpt = mark.and_then(|mark| Some((mark, Excerpt::of(&mark.text, mark.line_start, &mark.range)?)));
    match excerpt {
        Some((mark, excerpt)) => draw_excerpt(language, group, finding, (mark, excerpt)),
        None if finding.location.is_empty() => without_bar(render(language, group, finding)),
        None => {
            let place = finding.location.to_string();
            let place = match finding.location.document.as_deref() {
                Some(document) => place.replacen(document, &document_name(language, document), 1),
                None => place,
            };
            render(language, group.element(Origin::path(clean_line(&place))), finding)
        }
    }
}

/// Removes the bar that the renderer draws below a title without a place.
fn without_bar(drawn: String) -> String {
    let is_bar = |line: &str| without_colours(line).trim() == "|";
    match drawn.split_once('\n').and_then(|(title, rest)| Some((title, rest.split_once('\n')?))) {
        Some((title, (bar, rest))) if is_bar(bar) => format!("{title}\n{rest}"),
        _ => drawn,
    }
}

/// Translates the name of a document that is not a file.
fn document_name(language: Language, name: &str) -> Cow<'_, str> {
    if matches!(name, "request body" | "standard input" | "the text") {
        lang::word(language, name)
    } else {
        Cow::Borrowed(name)
    }
}

fn draw_excerpt(
    language: Language,
    group: Group<'_>,
    finding: &Diagnostic,
    (mark, excerpt): (&Mark, Excerpt),
) -> String {
    let file = clean_line(&document_name(language, &mark.file));
    let place = |column| format!("{file}:{}:{column}", mark.line);
    // The renderer counts columns in the excerpt, which of a very long line begins later than the line.
    let (shown, meant) = (place(excerpt.column()), place(mark.column));
    let annotation = AnnotationKind::Primary.span(excerpt.marked);
    let snippet = Snippet::source(excerpt.text).path(file.as_str()).line_start(mark.line);
    let drawn = render(language, group.element(snippet.annotation(annotation)), finding);
    if shown == meant { drawn } else { drawn.replacen(&shown, &meant, 1) }
}

/// Returns the help of a diagnostic; without its own, the first sentence of the fix of its code.
fn help(language: Language, finding: &Diagnostic) -> Option<String> {
    if let Some(help) = &finding.help {
        return Some(lang::say(language, help));
    }
    // The message about an unreadable file says why.
    let has_fix = finding.severity != Severity::Info && finding.code != UNREADABLE_FILE;
    let fix = language.explanation(&finding.code.to_string()).filter(|_| has_fix)?.way_out;
    let first = fix.split_inclusive("。").next()?.split(". ").next()?;
    let first = first.trim_end_matches(['.', '。']);
    (!first.starts_with("no action needed") && !first.starts_with("无需")).then(|| first.to_owned())
}

fn render(language: Language, mut group: Group<'_>, finding: &Diagnostic) -> String {
    let help = help(language, finding);
    let has_help = help.is_some();
    if let Some(help) = help {
        let help = clean_line(&help);
        let level = Level::HELP.with_name(lang::word(language, "help").into_owned());
        group = group.element(level.message(help));
    }
    let renderer = if is_coloured() { Renderer::styled() } else { Renderer::plain() };
    let mut drawn = renderer.term_width(stderr_width()).render(&[group]);
    if language != Language::En {
        // The renderer writes the colons behind the severity and the last label.
        let help = lang::word(language, "help");
        let label = has_help.then(|| drawn.rfind(&*help)).flatten();
        for start in label.into_iter().chain([0]) {
            let after = drawn.split_off(start);
            drawn += &after.replacen(": ", colon(language), 1);
        }
    }
    drawn
}

/// Returns the colon of a language, with the space behind it.
pub(crate) const fn colon(language: Language) -> &'static str {
    match language {
        Language::Zh => "：",
        _ => ": ",
    }
}

/// Puts a text that follows another one in the brackets of a language.
pub(crate) fn bracketed(language: Language, text: &str) -> String {
    match language {
        Language::Zh => format!("（{text}）"),
        _ => format!(" ({text})"),
    }
}

#[cfg(test)]
mod tests {
    use ctx_engine::ImportError;
    use ctx_types::{Code, Span};
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
            let drawn = draw(Language::En, &finding, mark.as_ref());
            prop_assert!(drawn.starts_with("warning[CTX0001]: "));
            prop_assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'));
        }

        #[test]
        fn any_bytes_can_be_shown(bytes in prop::collection::vec(any::<u8>(), 0..40), offset in 0_usize..60) {
            let mut sources = Sources::default();
            sources.add("f", &bytes);
            let error = sources.explain("f", &ImportError::NotText { offset });
            prop_assert!(plain(&error).starts_with("error[CTX0601]: "));
        }
    }
}
