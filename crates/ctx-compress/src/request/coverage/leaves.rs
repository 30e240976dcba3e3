//! Reads the values of JSON with their keys.

use std::borrow::Cow;

/// The maximum nesting depth; deeper text is not read as JSON.
const MAX_DEPTH: usize = 64;

/// A value other than a list or an object, with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf<'a> {
    /// The nearest key above it, or empty.
    pub(super) key: Cow<'a, str>,
    /// The value without quotes and escapes.
    pub(super) value: Cow<'a, str>,
    /// The run of single values in a list that it belongs to, counted from 1; 0 for none.
    pub(super) list: u16,
}

/// Reads the values of a JSON object or list; `None` for any other text.
///
/// Null, booleans and empty texts are left out. O(bytes).
pub(super) fn leaves(text: &str) -> Option<Vec<Leaf<'_>>> {
    let rest = text.trim();
    if !rest.starts_with(['{', '[']) {
        return None;
    }
    let mut reader = Reader { rest, depth: 0, lists: 0, leaves: Vec::new() };
    reader.value("", 0)?;
    reader.rest.is_empty().then_some(reader.leaves)
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    lists: u16,
    leaves: Vec<Leaf<'a>>,
}

impl<'a> Reader<'a> {
    fn value(&mut self, key: &'a str, list: u16) -> Option<()> {
        self.skip_space();
        match self.rest.as_bytes().first()? {
            b'{' => self.items('}', &mut |reader| {
                let key = reader.string()?;
                if reader.take(':') { reader.value(key, 0) } else { None }
            }),
            b'[' => {
                let mut list = self.next_list(key);
                self.items(']', &mut |reader| {
                    let before = reader.leaves.len();
                    reader.value(key, list)?;
                    // Values after a nested value begin a new run.
                    if reader.leaves[before..].iter().any(|leaf| leaf.list != list) {
                        list = reader.next_list(key);
                    }
                    Some(())
                })
            }
            b'"' => {
                let value = unescaped(self.string()?);
                self.push(key, value, list);
                Some(())
            }
            _ => {
                let word = self.word();
                if is_number(word) {
                    self.push(key, Cow::Borrowed(word), list);
                    return Some(());
                }
                matches!(word, "true" | "false" | "null").then_some(())
            }
        }
    }

    /// Reads items separated by commas, from the opening to the closing bracket.
    fn items(&mut self, close: char, read_item: &mut dyn FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        self.rest = &self.rest[1..];
        let mut is_closed = self.take(close);
        while !is_closed {
            read_item(self)?;
            is_closed = self.take(close);
            if !is_closed && !self.take(',') {
                return None;
            }
        }
        self.depth -= 1;
        Some(())
    }

    /// Returns the number of the next list; values without a key are written separately.
    fn next_list(&mut self, key: &str) -> u16 {
        self.lists = self.lists.saturating_add(1);
        if key.is_empty() { 0 } else { self.lists }
    }

    /// Reads a quoted text and returns its content.
    fn string(&mut self) -> Option<&'a str> {
        self.skip_space();
        let inner = self.rest.strip_prefix('"')?;
        let mut end = 0;
        loop {
            match inner.as_bytes().get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                0..=0x1F => return None,
                _ => end += 1,
            }
        }
        self.rest = &inner[end + 1..];
        Some(&inner[..end])
    }

    /// Reads a number or a name.
    fn word(&mut self) -> &'a str {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '+' | '.');
        let (word, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn push(&mut self, key: &'a str, value: Cow<'a, str>, list: u16) {
        if !value.trim().is_empty() {
            self.leaves.push(Leaf { key: unescaped(key), value, list });
        }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
    }

    fn take(&mut self, sign: char) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && word.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Resolves the escapes of a quoted text; if one is invalid, returns the text unchanged.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    serde_json::from_str(&format!("\"{text}\"")).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let shown = leaves(text).map(|leaves| {
            let show = |leaf: &Leaf<'_>| match leaf.list {
                0 => format!("{}:{}", leaf.key, leaf.value),
                list => format!("{}{list}:{}", leaf.key, leaf.value),
            };
            leaves.iter().map(show).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(shown.as_deref(), expected, "{text}");
    }

    #[test]
    fn every_value_has_the_nearest_key() {
        check(r#"{"a": {"b": 1, "c": "x y"}, "d": [{"e": -1.50}, {"e": 2}]}"#, Some("b:1 c:x y e:-1.50 e:2"));
        check(r#"{"ids": ["p", "q"], "more": ["r"]}"#, Some("ids1:p ids1:q more2:r"));
        check(r#"[1, "two", [3]]"#, Some(":1 :two :3"));
        check(&format!("[{}]", ["[1]"; 70].join(",")), Some(&[":1"; 70].join(" ")));
    }

    #[test]
    fn a_list_goes_on_behind_other_values_as_another() {
        check(r#"{"a": [1, {"b": 2}, 3, 4]}"#, Some("a1:1 b:2 a2:3 a2:4"));
        check(r#"{"a": [1, [2, 3], 4]}"#, Some("a1:1 a2:2 a2:3 a3:4"));
        check(r#"{"a": [1, {"b": null}, [], 2]}"#, Some("a1:1 a1:2"));
        check(r#"{"a": [[1], [2]], "b": [3]}"#, Some("a2:1 a4:2 b6:3"));
    }

    #[test]
    fn numbers_are_written_as_json_has_them() {
        check("[0, -7, 1e3, -2.5E-7]", Some(":0 :-7 :1e3 :-2.5E-7"));
        for text in ["[1x]", "[.5]", "[+1]", "[1e999]", "[-]", "[-inf]", "[1 2]", "[\"a\" \"b\"]", "[tru]"] {
            check(text, None);
        }
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        check(r#"{"a": null, "b": true, "c": "", "d": " ", "e": [], "f": {}}"#, Some(""));
    }

    #[test]
    fn escapes_are_read() {
        check(r#"{"a\"b": "line\nbreak \u4f60"}"#, Some("a\"b:line\nbreak 你"));
    }

    #[test]
    fn what_is_no_json_is_none() {
        for text in [
            "[8 May] hello",
            "{",
            "{\"a\"}",
            "[1,]",
            "{\"a\":1} more",
            "text",
            "",
            "[nan]",
            "[\"\\",
            "[\"a\nb\"]",
        ] {
            check(text, None);
        }
        check(&"[".repeat(100_000), None);
        check(&format!("{}1{}", "[".repeat(64), "]".repeat(64)), Some(":1"));
        check(&format!("{}1{}", "[".repeat(65), "]".repeat(65)), None);
    }
}
