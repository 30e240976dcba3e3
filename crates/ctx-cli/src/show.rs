//! Output: results on standard output, everything else on standard error.

mod bar;
mod clean;
mod columns;
mod comparison;
pub(crate) mod conversation;
mod diff;
pub(crate) mod entries;
mod excerpt;
mod explanation;
mod findings;
mod life;
pub(crate) mod masks;
pub(crate) mod requests;
mod table;
pub(crate) mod tree;
mod usage_bar;

use ctx_language::Language;
use std::io::{IsTerminal as _, Write as _};

use ctx_project::error::{ProjectError, Result};
use ctx_project::sources::Sources;
use ctx_project::unusable;
use ctx_types::{Phrase, phrase};
use serde::Serialize;

use crate::exit::Exit;
use crate::lang;
use ctx_project::files;

pub(crate) use bar::Bar;
pub(crate) use clean::{clean, clean_line};
pub(crate) use columns::{cut_middle, left, right, widest};
pub(crate) use comparison::comparison;
pub(crate) use diff::{diff, failed, plain_diff};
pub(crate) use explanation::{explanation, log_lines, repeated_part, size, timings};
pub(crate) use findings::{bracketed, colon, failure, findings, has_errors, plain, plain_told, turn_failure};
pub(crate) use life::{life, source_name, via, what};
pub(crate) use table::{context, fitted, listing, messages};
pub(crate) use usage_bar::usage_bar;

/// Creates the sources of a run, which report a wait for standard input.
pub(crate) fn sources(language: Language) -> Sources {
    Sources::telling_stdin(move || waiting(language))
}

/// Width of a result that does not go to a terminal.
const WIDTH: usize = 120;

/// Writes a result to standard output. Ignores a closed pipe.
///
/// Replaces control characters if standard output is a terminal.
pub(crate) fn result(text: &str) -> Result<()> {
    if std::io::stdout().is_terminal() {
        write_result(&clean::clean(&text.replace("\r\n", "\n")))
    } else {
        write_result(text)
    }
}

/// Writes a result to standard output. The result may have colors, and its untrusted parts must be clean.
pub(crate) fn drawn(text: &str) -> Result<()> {
    if std::io::stdout().is_terminal() {
        write_result(&clean::clean_colored(text))
    } else {
        write_result(text)
    }
}

fn write_result(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| unwritten(&error)),
    }
}

/// Writes bytes to standard output. For a terminal, cleans them and ends the last line.
pub(crate) fn bytes(bytes: &[u8]) -> Result<()> {
    if std::io::stdout().is_terminal() {
        return result(&lines_of(bytes));
    }
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| unwritten(&error)),
    }
}

/// Decodes a text, and ends its last line.
fn lines_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
}

fn unwritten(error: &std::io::Error) -> ProjectError {
    unusable!("cannot write to standard output: {reason}", reason = files::reason(error))
}

/// Writes a part of a result to standard output immediately. Ignores errors such as a closed pipe.
pub(crate) fn piece(text: &str) {
    let mut out = std::io::stdout().lock();
    // A closed pipe needs no further output.
    out.write_all(clean::clean(text).as_bytes()).and_then(|()| out.flush()).unwrap_or_default();
}

/// Writes help to standard output, or a command-line error to standard error.
///
/// Cleans the text, because errors repeat arguments, such as file names from a shell pattern.
pub(crate) fn usage(text: &str, is_error: bool) -> std::io::Result<()> {
    let text = clean::clean_colored(text);
    if is_error {
        std::io::stderr().lock().write_all(text.as_bytes())
    } else {
        std::io::stdout().lock().write_all(text.as_bytes())
    }
}

/// Prints a progress line to standard error, cut to the width of the terminal.
pub(crate) fn note(language: Language, text: &Phrase) {
    to_stderr(&table::cut(&clean::clean_line(&lang::say(language, text)), stderr_width().saturating_sub(1)));
}

/// Prints a complete line to standard error.
pub(crate) fn remark(language: Language, text: &Phrase) {
    to_stderr(&clean::clean_line(&lang::say(language, text)));
}

/// Prints a prompt without a line break to standard error.
pub(crate) fn prompt(text: &str) {
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "{}", clean::clean_line(text)).and_then(|()| stderr.flush()).unwrap_or_default();
}

/// Formats the line that names a written file.
pub(crate) fn wrote(language: Language, path: &str) -> String {
    clean::clean_line(&lang::say(language, &phrase!("wrote {path}", path))) + "\n"
}

/// Formats the number of items that a list omits. Returns `None` if it omits none.
pub(crate) fn omitted(language: Language, count: usize, told: fn(usize) -> Phrase) -> Option<String> {
    (count > 0).then(|| lang::say(language, &told(count)))
}

/// Formats a number of tokens with thousands separators.
pub(crate) fn tokens(count: u64) -> Phrase {
    match count {
        1 => phrase!("1 token"),
        count => phrase!("{count} tokens", count = ctx_types::internal::thousands(count)),
    }
}

/// Formats a text as one line with at most `columns` columns.
pub(crate) fn cut_line(text: &str, columns: usize) -> String {
    table::cut(&clean::clean_line(text), columns)
}

/// Writes a value to standard output as indented JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let text = String::from_utf8(files::pretty_json(value)).expect("JSON is UTF-8");
    result(&clean::clean_json(text))
}

/// Writes a result to standard output: as JSON for programs, or as text for people. Returns success.
pub(crate) fn output<T: Serialize>(
    is_json: bool,
    json: impl FnOnce() -> T,
    text: impl FnOnce() -> String,
) -> Result<Exit> {
    if is_json {
        self::json(&json())?;
    } else {
        result(&text())?;
    }
    Ok(Exit::Success)
}

/// Writes a value to standard output as JSON in one line.
pub(crate) fn json_line(value: &serde_json::Value) -> Result<()> {
    result(&clean::clean_json(format!("{value}\n")))
}

/// Reports that the command waits for standard input, if that is a terminal.
pub(crate) fn waiting(language: Language) {
    if std::io::stdin().is_terminal() {
        let text = if cfg!(windows) {
            phrase!("reading standard input; press Ctrl-Z, then Enter to finish")
        } else {
            phrase!("reading standard input; press Ctrl-D to finish")
        };
        to_stderr(&lang::say(language, &text));
    }
}

/// Prints a line to standard error. All output there except prompts and progress uses this function.
fn to_stderr(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // If standard error is closed, the error cannot be reported.
    writeln!(stderr, "{}", clean::clean_colored(text)).unwrap_or_default();
}

/// Returns whether standard error uses colors.
pub(crate) fn is_coloured() -> bool {
    std::io::stderr().is_terminal() && wants_colours()
}

/// Returns whether standard output uses colors.
fn is_stdout_coloured() -> bool {
    std::io::stdout().is_terminal() && wants_colours()
}

fn wants_colours() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !is_set("NO_COLOR") && !is_dumb
}

/// Returns the width of standard output in columns.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(WIDTH, |(width, _)| usize::from(width.0))
}

/// Returns the width of standard error in columns.
fn stderr_width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(WIDTH, |(width, _)| usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_last_line_for_terminal() {
        assert_eq!([lines_of(b"{}"), lines_of(b"{}\n"), lines_of(b"")], ["{}\n", "{}\n", ""]);
    }
}
