//! Strangers' words in findings: short, and without characters that a terminal obeys.

/// How many characters of a name or an id a finding quotes.
const MAX_CHARS: usize = 64;

/// Returns the beginning of a text, with an ellipsis if it goes on, and control characters replaced.
pub(crate) fn excerpt(text: &str) -> String {
    let harmless = |char: char| if char.is_control() { char::REPLACEMENT_CHARACTER } else { char };
    let mut chars = text.chars();
    let mut shown: String = chars.by_ref().take(MAX_CHARS).map(harmless).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}
