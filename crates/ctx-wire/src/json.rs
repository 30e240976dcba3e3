//! JSON values and their bytes, made without detours: most of a body is text that somebody wrote already.

use std::io::Write as _;

use serde_json::{Map, Value};

/// Makes an object of fields in this order.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut map = Map::with_capacity(N);
    for (key, value) in fields {
        map.insert(key.to_owned(), value);
    }
    Value::Object(map)
}

/// Returns a value as compact JSON, byte for byte as `serde_json` writes it.
///
/// Texts are looked through a block at a time, and what has nothing to escape is copied as it is.
pub(crate) fn to_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(len(value));
    write(value, &mut out);
    out
}

/// About how many bytes a value takes: as many as it has, but for escapes and numbers.
pub(crate) fn len(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + text.len() / 32 + 2,
        Value::Array(list) => list.iter().map(|item| len(item) + 1).sum::<usize>() + 2,
        Value::Object(map) => map.iter().map(|(key, item)| key.len() + len(item) + 4).sum::<usize>() + 2,
    }
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        // Writing to memory never fails.
        Value::Number(number) => write!(out, "{number}").unwrap_or_default(),
        Value::String(text) => write_text(text, out),
        Value::Array(list) => {
            let mut separator = b'[';
            for item in list {
                out.push(std::mem::replace(&mut separator, b','));
                write(item, out);
            }
            close(separator, *b"[]", out);
        }
        Value::Object(map) => {
            let mut separator = b'{';
            for (key, item) in map {
                out.push(std::mem::replace(&mut separator, b','));
                write_text(key, out);
                out.push(b':');
                write(item, out);
            }
            close(separator, *b"{}", out);
        }
    }
}

/// Ends a list or an object; one that has not begun yet is empty.
fn close(separator: u8, brackets: [u8; 2], out: &mut Vec<u8>) {
    match separator {
        b',' => out.push(brackets[1]),
        _ => out.extend_from_slice(&brackets),
    }
}

/// How many bytes are looked at together; compilers make few instructions of it.
const BLOCK: usize = 16;

fn write_text(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.push(b'"');
    let mut from = 0;
    while let Some(at) = next_escaped(bytes, from) {
        out.extend_from_slice(&bytes[from..at]);
        write_escaped(bytes[at], out);
        from = at + 1;
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// Finds the next byte that cannot stand as it is.
fn next_escaped(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    // Every byte is looked at, so that a block takes no branches.
    let is_plain = |block: &[u8]| !block.iter().fold(false, |any, byte| any | is_escaped(*byte));
    while bytes.get(at..at + BLOCK).is_some_and(is_plain) {
        at += BLOCK;
    }
    Some(at + bytes[at..].iter().position(|byte| is_escaped(*byte))?)
}

#[expect(clippy::needless_bitwise_bool, reason = "without branches a block is looked at as a whole")]
const fn is_escaped(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

fn write_escaped(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        byte if byte < 0x20 => {
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xf)]]);
        }
        byte => byte,
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &Value) {
        assert_eq!(String::from_utf8(to_bytes(value)).unwrap(), value.to_string());
    }

    #[test]
    fn values_of_each_kind_are_written_as_serde_json_does() {
        check(&json!({ "a": [], "b": {}, "c": [1, -2, 0.5, 1e300, null, true, false], "d": { "e": [{}] } }));
        check(&json!((0..=0x7f_u8).map(char::from).collect::<String>()));
        check(&json!("雪🙂\u{e9}\u{7f}\u{80}".repeat(20)));
    }

    proptest! {
        #[test]
        fn texts_are_written_as_serde_json_does(text: String, times in 0_usize..8) {
            check(&json!({ &text: text.repeat(times) }));
        }
    }
}
