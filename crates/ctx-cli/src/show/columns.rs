//! Texts that stand below each other, by the columns that a terminal gives them.

use unicode_width::UnicodeWidthStr as _;

/// Puts a text at the left of so many columns.
pub(crate) fn left(text: &str, columns: usize) -> String {
    text.to_owned() + &blanks(text, columns)
}

/// Puts a text at the right of so many columns.
pub(crate) fn right(text: &str, columns: usize) -> String {
    blanks(text, columns) + text
}

/// Returns how many columns the widest of these texts takes.
pub(crate) fn widest<'t>(texts: impl IntoIterator<Item = &'t String>) -> usize {
    texts.into_iter().map(|text| text.width()).max().unwrap_or(0)
}

fn blanks(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(text.width()))
}
