//! What a stranger's text must not do to a terminal.

use std::borrow::Cow;

/// What stands for a character that is not shown.
const REPLACEMENT: char = '\u{fffd}';

/// Replaces characters that a terminal would obey: all controls but line feeds and tabs, and the marks that
/// turn the direction of writing, with which a line can be made to look like another.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let is_bad = |c| is_obeyed(c) && !matches!(c, '\n' | '\t');
    match text.contains(is_bad) {
        true => text.chars().map(|c| if is_bad(c) { REPLACEMENT } else { c }).collect(),
        false => Cow::Borrowed(text),
    }
}

/// Makes one line of a text: as [`clean`], and line feeds and tabs become blanks.
pub(crate) fn clean_line(text: &str) -> String {
    clean(text).replace(['\n', '\t'], " ")
}

/// Escapes, in a JSON text, what a terminal would obey and JSON allows in strings as it is. One pass, and no copy
/// where there is none.
pub(crate) fn clean_json(json: String) -> String {
    // As UTF-8, all of them begin with one of these bytes.
    let may_begin = |byte: &u8| matches!(byte, 0x7f | 0xc2 | 0xe2);
    if !json.as_bytes().iter().any(may_begin) || !json.contains(is_escaped) {
        return json;
    }
    let mut cleaned = String::with_capacity(json.len() + json.len() / 16);
    let mut from = 0;
    for (at, c) in json.match_indices(is_escaped) {
        cleaned.push_str(json.get(from..at).unwrap_or_default());
        cleaned.extend(c.chars().map(|c| format!("\\u{:04x}", u32::from(c))));
        from = at + c.len();
    }
    cleaned.push_str(json.get(from..).unwrap_or_default());
    cleaned
}

/// Returns whether a character is obeyed that JSON does not escape by itself.
fn is_escaped(c: char) -> bool {
    is_obeyed(c) && c >= '\u{7f}'
}

fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_json, clean_line};

    #[test]
    fn controls_and_direction_marks_are_replaced() {
        assert_eq!(clean("a\u{1b}[31m\r\n\tb\u{9b}c\u{202e}"), "a\u{fffd}[31m\u{fffd}\n\tb\u{fffd}c\u{fffd}");
        assert_eq!(clean_line("a\n\tb"), "a  b");
        assert_eq!(clean("مرحبا 你好 👩‍🚀"), "مرحبا 你好 👩‍🚀");
    }

    #[test]
    fn json_says_the_same_without_controls() {
        let json = format!("{:#}", serde_json::json!({ "a": "\u{7f}\u{9b}\u{1b}é\u{202e}" }));
        let cleaned = clean_json(json.clone());
        assert_eq!(cleaned, "{\n  \"a\": \"\\u007f\\u009b\\u001bé\\u202e\"\n}");
        let value: serde_json::Value = serde_json::from_str(&cleaned).unwrap();
        assert_eq!(value, serde_json::from_str::<serde_json::Value>(&json).unwrap());
    }
}
