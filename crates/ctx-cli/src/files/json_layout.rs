//! How a JSON file is laid out, so that it can be written again in the same way.

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

/// The byte order mark that some editors write.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// How deep a line may be indented to be taken for indentation.
const WIDEST: usize = 16;

/// Indentation, line ends, the byte order mark and the end of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonLayout {
    has_mark: bool,
    /// What each level is indented by; none for a file in one line.
    indent: Option<Vec<u8>>,
    is_crlf: bool,
    ends_with_line: bool,
}

impl Default for JsonLayout {
    /// Two blanks, and a line feed at the end.
    fn default() -> Self {
        Self { has_mark: false, indent: Some(b"  ".to_vec()), is_crlf: false, ends_with_line: true }
    }
}

impl JsonLayout {
    /// Finds the layout of a file; `None` if it is not one JSON value in UTF-8.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let (has_mark, json) = match bytes.strip_prefix(MARK) {
            Some(json) => (true, json),
            None => (false, bytes),
        };
        serde_json::from_slice::<serde::de::IgnoredAny>(json).ok()?;
        let first = json.trim_ascii_start();
        let mut lines = first.split(|byte| *byte == b'\n').skip(1);
        let indented = lines.next().filter(|line| !line.trim_ascii().is_empty());
        let indent = indented.map(|line| {
            let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).take(WIDEST);
            blanks.copied().collect()
        });
        Some(Self {
            has_mark,
            indent,
            is_crlf: first.windows(2).any(|pair| pair == b"\r\n"),
            ends_with_line: first.ends_with(b"\n"),
        })
    }

    /// Writes a value in this layout.
    pub(crate) fn write(&self, value: &Value) -> Result<Vec<u8>> {
        let mut json = Vec::new();
        match &self.indent {
            None => value.serialize(&mut Serializer::new(&mut json))?,
            Some(indent) => {
                let formatter = PrettyFormatter::with_indent(indent);
                value.serialize(&mut Serializer::with_formatter(&mut json, formatter))?;
            }
        }
        if self.ends_with_line {
            json.push(b'\n');
        }
        let mut bytes = if self.has_mark { MARK.to_vec() } else { Vec::new() };
        for byte in json {
            // Strings in JSON hold no line feeds, so that each of them ends a line.
            if byte == b'\n' && self.is_crlf {
                bytes.push(b'\r');
            }
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

/// Writes JSON as people read it: indented by two blanks, with the end of a line behind it.
///
/// The values are ours, with texts as keys, so that it cannot fail.
pub(crate) fn pretty_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let layout = JsonLayout::of(text.as_bytes()).unwrap();
        let json = text.trim_start_matches('\u{FEFF}');
        let written = layout.write(&serde_json::from_str(json).unwrap()).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
    }

    #[test]
    fn a_file_comes_back_as_it_is_laid_out() {
        check("{\"a\":[1,2],\"b\":{}}");
        check("{\"a\":[1,2]}\n");
        check("{\n  \"a\": [\n    1\n  ]\n}\n");
        check("{\n\t\"a\": 1\n}");
        check("{\r\n    \"a\": 1\r\n}\r\n");
        check("\u{FEFF}{\n  \"a\": \"x\\ny\"\n}\n");
    }

    #[test]
    fn what_is_no_json_has_no_layout() {
        assert_eq!(JsonLayout::of(b"a: 1"), None);
        assert_eq!(JsonLayout::of(b"{} {}"), None);
        assert_eq!(JsonLayout::of(b"{\"a\": 1,}"), None);
        assert_eq!(JsonLayout::of(b"\xFF\xFE{\0}\0"), None);
    }
}
