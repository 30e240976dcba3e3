//! Comments and digits of YAML, which are lost where a file is written anew.

use std::ops::Range;

use ctx_types::{Diagnostic, Span, count_of, phrase};
use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::codes;
use crate::digits;
use crate::locate::{properties_length, quoted_length};
use crate::schemas;

/// Describes how many comments a file of YAML loses, at the first of them; none if it has none but the line that names
/// its schema, which is kept.
pub(super) fn lost(text: &str) -> Option<Diagnostic> {
    let comments = comments(text);
    let first = comments.first()?;
    let message = match comments.len() {
        1 => phrase!("rewriting the file removes this comment"),
        count => phrase!(
            "rewriting the file removes this comment and {comments}",
            comments = count_of!(count - 1, "more comment")
        ),
    };
    let found = Diagnostic::warning(codes::LOST_COMMENTS, message).at_span(Span::new(first.start, first.end));
    Some(found.with_help(phrase!("restore comments from the backup, which ends in `.bak`")))
}

/// Reports that a file of YAML loses digits of numbers, at the first of them.
pub(super) fn lost_digits(text: &str) -> Option<Diagnostic> {
    let (number, place) = digits::first(text)?;
    let message = phrase!(
        "rewriting the file truncates the digits of `{number}`",
        number = ctx_types::internal::excerpt(&number)
    );
    let found = Diagnostic::warning(codes::LOST_DIGITS, message).at_span(place);
    Some(
        found.with_help(phrase!("write it as a string, or restore it from the backup, which ends in `.bak`")),
    )
}

/// Returns the places of comments, in bytes. O(n).
pub(crate) fn comments(text: &str) -> Vec<Range<usize>> {
    let texts = texts(text);
    let mut texts = texts.iter().peekable();
    let (mut found, mut is_open, mut end) = (Vec::new(), true, 0);
    for (at, character) in text.char_indices() {
        while texts.next_if(|range| range.end <= at).is_some() {}
        let is_text = texts.peek().is_some_and(|range| range.contains(&at));
        if character == '#' && is_open && !is_text && at >= end {
            let line = text.get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default();
            end = at + line.len();
            if !schemas::is_line(line) {
                found.push(at..end);
            }
        }
        is_open = character.is_whitespace() || character == '\u{feff}';
    }
    found
}

/// Returns the places of quoted texts and blocks, in which `#` is a character like others; as far as the file can be
/// followed.
fn texts(text: &str) -> Vec<Range<usize>> {
    // This parser counts characters, and takes no tab between a key and its value.
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let byte = |index: usize| bytes.get(index).copied().unwrap_or(text.len());
    let spaced = text.replace('\t', " ");
    let mut texts = Vec::new();
    for event in Parser::new_from_str(&spaced) {
        let Ok((event, span)) = event else { break };
        let Event::Scalar(_, style, ..) = event else { continue };
        let (start, end) = (byte(span.start.index()), byte(span.end.index()));
        match style {
            ScalarStyle::Plain => {}
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => texts.push(quoted(text, start, end)),
            ScalarStyle::Literal | ScalarStyle::Folded => texts.push(start..end),
        }
    }
    texts
}

/// The parser counts what stands before and behind the quotes too.
fn quoted(text: &str, start: usize, end: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let before = properties_length(rest);
    let length = rest.get(before..).and_then(quoted_length);
    start..length.map_or(end, |length| start + before + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = comments(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn comments_are_told_from_texts() {
        check("a: 1\n", &[]);
        check("# é one\na: 1 # two\nb: x#y\n  # three", &["# é one", "# two", "# three"]);
        check("a: 'x # y' # z\nb: \"x # y\"\nc: \"x\n  # y\"\n", &["# z"]);
        check("a: |\n  # Title\n  text # more\nb: 1 # z\n", &["# z"]);
        check("a: >-\n  # Title\n\n  text # more\n# z\nb: 1\n", &["# z"]);
        check("a: | # head\n  # Title\nb: 1\n", &["# head"]);
        check("- |\n  # Title\n# z\n- x # y # z\n", &["# z", "# y # z"]);
        check("a: [1, # one\n  2]\n", &["# one"]);
        check("\u{feff}# z\r\na:\t1\t# y\r\n", &["# z", "# y"]);
        check("a: x\n  # z\nb: |\n  t\n\n  # u\n\n# v\n", &["# z", "# v"]);
        check("# yaml-language-server: $schema=.ctx/agent.schema.json\na: 1\n", &[]);
    }
}
