//! Differences between two texts, line by line.

use std::borrow::Cow;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::{is_stdout_coloured, plural};

/// How many equal lines are shown around a difference.
const CONTEXT: usize = 3;

/// How many lines are shown before the rest is counted.
const MAX_LINES: usize = 400;

/// How long the shortest difference is searched; then a longer one is taken.
const TIMEOUT: Duration = Duration::from_secs(1);

const RED: &str = "31";
const GREEN: &str = "32";
const CYAN: &str = "36";
const BOLD_RED: &str = "1;31";

/// Writes the lines that differ, with some around them: `-` is expected, `+` is what came instead.
pub(crate) fn diff(expected: &str, result: &str) -> String {
    lines(expected, result, colour, lang::text)
}

/// How what is said between the lines of two texts is put into words.
type Tell = fn(&str) -> Cow<'_, str>;

fn lines(expected: &str, result: &str, colour: fn(&str, &str) -> String, tell: Tell) -> String {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(expected, result);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        let first = group.first().map_or(0, |op| op.old_range().start) + 1;
        lines.push(colour(CYAN, &tell(&format!("@@ line {first} @@"))));
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let text = clean_line(change.value().trim_end_matches('\n'));
            lines.push(match change.tag() {
                ChangeTag::Equal => format!("  {text}").trim_end().to_owned(),
                ChangeTag::Delete => colour(RED, &format!("- {text}")),
                ChangeTag::Insert => colour(GREEN, &format!("+ {text}")),
            });
        }
    }
    if let Some(more) = lines.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
        lines.truncate(MAX_LINES);
        lines.push(tell(&format!("and {}", plural(more, "more line"))).into_owned());
    }
    lines.join("\n") + "\n"
}

/// Writes the lines that differ as [`diff`] does, without colours, for a file.
pub(crate) fn plain_diff(expected: &str, result: &str) -> String {
    lines(expected, result, |_, text| text.to_owned(), |text| Cow::Borrowed(text))
}

/// Writes the line that names something that failed, and below it what is wrong.
pub(crate) fn failed(text: &str, details: &str) -> String {
    format!("{} {}\n{details}\n", colour(BOLD_RED, &lang::text("FAILED")), clean_line(text))
}

/// Colours a text for standard output, if that is a terminal that wants it.
fn colour(code: &str, text: &str) -> String {
    match is_stdout_coloured() {
        true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        false => text.to_owned(),
    }
}
