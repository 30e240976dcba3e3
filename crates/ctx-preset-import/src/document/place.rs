//! Places in a text, as people count them.

/// Returns the column in characters of a column in bytes of a line; both count from 1.
///
/// Anything outside the text is returned as it is.
pub(super) fn character_column(text: &str, line: usize, column: usize) -> usize {
    let line = line_at(text, line);
    match line.get(..column.saturating_sub(1)) {
        Some(before) => before.chars().count() + 1,
        None => column,
    }
}

/// Returns a line of a text, counted from 1, without its end; empty where there is none.
pub(super) fn line_at(text: &str, line: usize) -> &str {
    text.lines().nth(line.saturating_sub(1)).unwrap_or_default()
}

/// Takes the ` at line 1 column 2` out of a parser's message, and names the words that JSON allows.
pub(super) fn without_place(message: &str, line: usize, column: usize) -> String {
    let message = message.replacen(&format!(" at line {line} column {column}"), "", 1);
    if message == "expected ident" { "expected `true`, `false`, or `null`".to_owned() } else { message }
}
