//! Makes text of untrusted files and names safe for a terminal.

use std::borrow::Cow;

/// Replacement of an unsafe character.
const REPLACEMENT: char = '\u{fffd}';

/// First character of a control sequence.
const ESCAPE: char = '\u{1b}';

/// Replaces unsafe characters: all control characters except line feeds and tabs, marks that change the writing
/// direction, and invisible characters. The last two can make a line look like another.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let is_bad = |c| is_obeyed(c) && !matches!(c, '\n' | '\t');
    if text.contains(is_bad) {
        text.chars().map(|c| if is_bad(c) { REPLACEMENT } else { c }).collect()
    } else {
        Cow::Borrowed(text)
    }
}

/// Replaces the same characters in a colored text. Keeps the sequences that set colors.
///
/// This is the last step before a terminal. Clean the untrusted parts of a text before they get colors.
pub(crate) fn clean_colored(text: &str) -> Cow<'_, str> {
    if !text.contains(ESCAPE) {
        return clean(text);
    }
    let mut parts = text.split(ESCAPE);
    let mut cleaned = clean(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let color = part.strip_prefix('[').and_then(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            part[end..].starts_with('m').then(|| part.split_at(end + 1))
        });
        if let Some((color, rest)) = color {
            cleaned.extend([ESCAPE, '['].into_iter().chain(color.chars()).chain(clean(rest).chars()));
        } else {
            cleaned.extend(std::iter::once(REPLACEMENT).chain(clean(part).chars()));
        }
    }
    Cow::Owned(cleaned)
}

/// Makes a text one line: like [`clean`], but replaces line feeds and tabs with spaces.
pub(crate) fn clean_line(text: &str) -> String {
    clean(text).replace(['\n', '\t'], " ")
}

/// Escapes unsafe characters that JSON allows in strings. Works in one pass, and copies the text only if it contains
/// such a character.
pub(crate) fn clean_json(json: String) -> String {
    // In UTF-8, all of them start with one of these bytes.
    let may_begin = |byte: &u8| matches!(byte, 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf3);
    if !json.as_bytes().iter().any(may_begin) || !json.contains(is_escaped) {
        return json;
    }
    let mut cleaned = String::with_capacity(json.len() + json.len() / 16);
    let mut from = 0;
    for (at, c) in json.match_indices(is_escaped) {
        cleaned.push_str(json.get(from..at).unwrap_or_default());
        let mut units = [0; 2];
        cleaned.extend(c.chars().flat_map(|c| {
            c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>()
        }));
        from = at + c.len();
    }
    cleaned.push_str(json.get(from..).unwrap_or_default());
    cleaned
}

/// Returns whether a character is unsafe and JSON does not escape it.
fn is_escaped(c: char) -> bool {
    is_obeyed(c) && c >= '\u{7f}'
}

fn is_obeyed(c: char) -> bool {
    // Joiners (U+200C, U+200D) stay: Persian words and many emoji need them.
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180e}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_colored, clean_json, clean_line};

    #[test]
    fn controls_and_direction_marks_are_replaced() {
        assert_eq!(clean("a\u{1b}[31m\r\n\tb\u{9b}c\u{202e}"), "a\u{fffd}[31m\u{fffd}\n\tb\u{fffd}c\u{fffd}");
        assert_eq!(clean_line("a\n\tb"), "a  b");
        assert_eq!(clean("مرحبا 你好 👩‍🚀"), "مرحبا 你好 👩‍🚀");
        for hidden in
            "\u{ad}\u{34f}\u{3164}\u{2800}\u{61c}\u{200b}\u{200e}\u{2028}\u{2060}\u{feff}\u{e0041}".chars()
        {
            assert_eq!(clean(&format!("a{hidden}b")), "a\u{fffd}b", "{hidden:?}");
        }
    }

    #[test]
    fn keeps_colors_alone() {
        let colored = "\u{1b}[1m\u{1b}[38;5;9merror\u{1b}[0m: a\n\tb";
        assert_eq!(clean_colored(colored), colored);
        assert_eq!(clean_colored("a\u{1b}]52;c;eA==\u{7}b"), "a\u{fffd}]52;c;eA==\u{fffd}b");
        assert_eq!(
            clean_colored("\u{1b}[2J\u{1b}[1;1H\u{1b}[mx\u{1b}"),
            "\u{fffd}[2J\u{fffd}[1;1H\u{1b}[mx\u{fffd}"
        );
        assert_eq!(clean_colored("a\rb\u{202e}"), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn json_says_the_same_without_controls() {
        let json =
            format!("{:#}", serde_json::json!({ "a": "\u{7f}\u{9b}\u{1b}é\u{202e}\u{feff}\u{e0041}" }));
        let cleaned = clean_json(json.clone());
        assert_eq!(cleaned, "{\n  \"a\": \"\\u007f\\u009b\\u001bé\\u202e\\ufeff\\udb40\\udc41\"\n}");
        let value: serde_json::Value = serde_json::from_str(&cleaned).unwrap();
        assert_eq!(value, serde_json::from_str::<serde_json::Value>(&json).unwrap());
    }
}
