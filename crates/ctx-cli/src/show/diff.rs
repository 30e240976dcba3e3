//! Differences between two texts, line by line.

use ctx_language::Language;
use std::time::Duration;

use ctx_types::{Phrase, count_of, phrase};
use similar::{ChangeTag, TextDiff};

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::{is_stdout_coloured, omitted};

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
pub(crate) fn diff(language: Language, expected: &str, result: &str) -> String {
    lines(language, expected, result, colour)
}

fn lines(language: Language, expected: &str, result: &str, colour: fn(&str, &str) -> String) -> String {
    let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(expected, result);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        let first = group.first().map_or(0, |op| op.old_range().start) + 1;
        lines.push(colour(CYAN, &lang::say(language, &phrase!("@@ line {first} @@", first))));
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let text = clean_line(change.value().trim_end_matches('\n'));
            lines.push(match change.tag() {
                ChangeTag::Equal => format!("  {text}").trim_end().to_owned(),
                ChangeTag::Delete => colour(RED, &format!("- {text}")),
                ChangeTag::Insert => colour(GREEN, &format!("+ {text}")),
            });
        }
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    lines.extend(omitted(language, more, |more| phrase!("and {more}", more = count_of!(more, "more line"))));
    lines.join("\n") + "\n"
}

/// Writes the lines that differ as [`diff`] does, without colours, for a file.
pub(crate) fn plain_diff(expected: &str, result: &str) -> String {
    lines(Language::En, expected, result, |_, text| text.to_owned())
}

/// Writes the line that names something that failed, and below it what is wrong.
pub(crate) fn failed(language: Language, text: &Phrase, details: &str) -> String {
    let (mark, text) = (lang::word(language, "FAILED"), lang::say(language, text));
    format!("{} {}\n{details}\n", colour(BOLD_RED, &mark), clean_line(&text))
}

/// Colours a text for standard output, if that is a terminal that wants it.
fn colour(code: &str, text: &str) -> String {
    if is_stdout_coloured() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}
