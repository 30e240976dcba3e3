//! Comments and digits of YAML, which are lost where a file is written anew.

use std::ops::Range;

use ctx_types::{Diagnostic, Span, count_of, phrase};
use yaml_edit::YamlFile;

use crate::codes;
use crate::digits;
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

/// Returns the places of comments, in bytes, except for the line that names a schema.
pub(crate) fn comments(text: &str) -> Vec<Range<usize>> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = text.len() - body.len();
    let file = YamlFile::parse(body).tree();
    let places = file.comments().filter(|comment| !schemas::is_line(comment.text())).map(|comment| {
        let range = comment.text_range();
        mark + usize::from(range.start())..mark + usize::from(range.end())
    });
    places.collect()
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
