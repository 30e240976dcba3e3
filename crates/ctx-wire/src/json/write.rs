//! The bytes of a value, byte for byte as `serde_json` writes them.

use std::fmt::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Json, Object};

/// Compact JSON.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl Json<'_> {
    /// Returns the value as compact JSON.
    ///
    /// Texts are looked through a block at a time, and what has nothing to escape is copied as it is.
    pub(crate) fn to_json(&self) -> String {
        let mut out = String::with_capacity(len(self));
        write(self, &mut out);
        out
    }
}

/// About how many bytes a value takes: as many as it has, but for escapes and numbers.
fn len(value: &Json<'_>) -> usize {
    let of_text = |text: &str| text.len() + text.len() / 16 + 2;
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => 8,
        Json::Text(text) => of_text(text),
        Json::File(file) => of_text(&file.head) + file.bytes.len().div_ceil(3) * 4,
        Json::List(list) => list.iter().map(|item| len(item) + 1).sum::<usize>() + 2,
        Json::Object(Object(fields)) => {
            fields.iter().map(|(key, item)| key.len() + len(item) + 4).sum::<usize>() + 2
        }
    }
}

fn write(value: &Json<'_>, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        // Writing to memory never fails.
        Json::Number(number) => write!(out, "{number}").unwrap_or_default(),
        Json::Text(text) => write_text(text, out),
        Json::File(file) => {
            out.push('"');
            write_escaped(&file.head, out);
            STANDARD.encode_string(&file.bytes, out);
            out.push('"');
        }
        Json::List(list) => {
            let mut separator = '[';
            for item in list {
                out.push(std::mem::replace(&mut separator, ','));
                write(item, out);
            }
            close(separator, ["]", "[]"], out);
        }
        Json::Object(Object(fields)) => {
            let mut separator = '{';
            for (key, item) in fields {
                out.push(std::mem::replace(&mut separator, ','));
                write_text(key, out);
                out.push(':');
                write(item, out);
            }
            close(separator, ["}", "{}"], out);
        }
    }
}

/// Ends a list or an object; one that has not begun yet is empty.
fn close(separator: char, [end, empty]: [&str; 2], out: &mut String) {
    out.push_str(if separator == ',' { end } else { empty });
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    write_escaped(text, out);
    out.push('"');
}

fn write_escaped(text: &str, out: &mut String) {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = next_escaped(bytes, from) {
        out.push_str(&text[from..at]);
        write_escape(bytes[at], out);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

/// How many bytes are looked at together: those of one word.
const BLOCK: usize = 8;

/// Finds the next byte that cannot stand as it is.
fn next_escaped(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
        let found = escaped(u64::from_le_bytes(*block));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    Some(at + rest.iter().position(|byte| matches!(byte, ..0x20 | b'"' | b'\\'))?)
}

/// Marks the bytes of a word that are escaped by their highest bits.
///
/// The lowest mark is right; above it one may stand too many, since a difference borrows from the next byte.
const fn escaped(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let is_less = word.wrapping_sub(ONES * 0x20);
    let is_quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let is_backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    // Bytes from 0x80 on are parts of longer characters.
    (is_less | is_quote | is_backslash) & !word & (ONES * 0x80)
}

fn write_escape(byte: u8, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push_str(match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        0x08 => "\\b",
        0x0c => "\\f",
        byte => {
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            return out.push(char::from(HEX[usize::from(byte & 0xf)]));
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(value: &Value) {
        assert_eq!(Json::from(value).to_json(), value.to_string());
    }

    #[test]
    fn values_of_each_kind_are_written_as_serde_json_does() {
        check(&json!({ "a": [], "b": {}, "c": [1, -2, 0.5, 1e300, null, true, false], "d": { "e": [{}] } }));
        check(&json!((0..=0x7f_u8).map(char::from).collect::<String>()));
        check(&json!("雪🙂\u{e9}\u{7f}\u{80}".repeat(20)));
    }

    #[test]
    fn what_is_escaped_is_found_at_every_place_of_a_block() {
        for byte in (0..=0x7f_u8).map(char::from) {
            for place in 0..24 {
                let before = "é".repeat(place / 2) + if place % 2 == 1 { "x" } else { "" };
                check(&json!(format!("{before}{byte}{byte}é\"{byte}########")));
            }
        }
    }

    proptest! {
        #[test]
        fn texts_are_written_as_serde_json_does(text: String, times in 0_usize..8) {
            check(&json!({ &text: text.repeat(times) }));
        }
    }
}
