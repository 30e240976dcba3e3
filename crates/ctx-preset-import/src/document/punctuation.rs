//! Full-width punctuation where JSON and YAML need ASCII: Chinese keyboards type it.

use ctx_types::{Phrase, phrase};

/// Full-width characters, each with the ASCII character that is meant.
const PAIRS: [(char, char); 8] =
    [('，', ','), ('：', ':'), ('“', '"'), ('”', '"'), ('｛', '{'), ('｝', '}'), ('［', '['), ('］', ']')];

/// Returns the fix of a full-width character.
pub(super) fn help(wrong: char) -> Option<Phrase> {
    let (_, right) = PAIRS.into_iter().find(|(known, _)| *known == wrong)?;
    let (wrong, right) = (wrong.to_string(), right.to_string());
    Some(phrase!("use ASCII punctuation: write `{right}` instead of `{wrong}`", right, wrong))
}

/// Returns the fix of the first line of a text if the line has a full-width colon after a key, or begins with a
/// full-width bracket.
pub(crate) fn help_for_text(text: &str) -> Option<Phrase> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let bracket = line.chars().next().filter(|first| matches!(first, '｛' | '［'));
    bracket.and_then(help).or_else(|| help_for_key(line))
}

/// Returns the fix of a line of YAML with a full-width colon after a key.
pub(super) fn help_for_key(line: &str) -> Option<Phrase> {
    let (key, _) = line.split_once('：')?;
    let key = key.trim_start_matches([' ', '-', '"', '“']).trim_end_matches([' ', '"', '”']);
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_key.then(|| help('：')).flatten()
}
