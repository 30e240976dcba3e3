//! Values as documents that are read back the same.

use serde_json::Value;

use super::Document;
use crate::limits::Limits;

/// Minimum bytes of a single-line text that is written as a block instead of with escapes.
const LONG: usize = 80;

/// Writes a value as YAML that people can edit; as JSON, which readers of YAML take too, where YAML would be larger
/// than is read or would not come back the same.
///
/// Multi-line texts are blocks (`|`). Texts that a block cannot hold, such as with control characters, are quoted.
///
/// ```
/// use ctx_preset_import::{Document, write_document};
///
/// let value = serde_json::json!({ "name": "Ada", "text": "two 🌱 \nlines\n" });
/// let text = write_document(&value);
/// assert_eq!(text, "name: Ada\ntext: |\n  two 🌱 \n  lines\n");
/// assert_eq!(Document::read(text.as_bytes(), "a.yaml").unwrap().value, value);
/// ```
pub fn write_document(value: &Value) -> String {
    let limits = Limits::default();
    let is_same = |yaml: &String| {
        !yaml.is_empty()
            && yaml.len() <= limits.yaml_bytes
            && Document::parse(yaml, "a.yaml", &limits)
                .is_ok_and(|read| read.value == *value && read.diagnostics.is_empty())
    };
    if let Some(yaml) = yaml_with_blocks(value).filter(is_same) {
        return yaml;
    }
    let mut json = serde_json::to_string_pretty(value).unwrap_or_default();
    json.push('\n');
    json
}

/// Writes YAML with blocks. `serde_yaml` escapes texts that have a line with a trailing space or a character above U+FFFF,
/// such as an emoji. So it writes a placeholder for each of these texts, which is then replaced with a block.
fn yaml_with_blocks(value: &Value) -> Option<String> {
    let mut name = "ctx-text-".to_owned();
    let all = value.to_string();
    while all.contains(&name) {
        name.push('-');
    }
    let mut named = value.clone();
    let mut texts = Vec::new();
    take_texts(&mut named, &name, &mut texts);
    let yaml = serde_yaml::to_string(&named).ok()?;
    let mut written = String::with_capacity(all.len());
    for line in yaml.split_inclusive('\n') {
        let text = line.trim_end().rsplit_once(&name).and_then(|(head, number)| {
            let number: usize = number.parse().ok()?;
            Some((head, texts.get(number)?))
        });
        match text {
            Some((head, text)) => {
                written.push_str(head);
                push_text(&mut written, text, content_indent(head));
            }
            None => written.push_str(line),
        }
    }
    Some(written)
}

/// Replaces texts that would be escaped with placeholders.
fn take_texts(value: &mut Value, name: &str, texts: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| take_texts(item, name, texts)),
        Value::Object(map) => map.values_mut().for_each(|value| take_texts(value, name, texts)),
        Value::String(text) if (is_block(text) || is_quoted(text)) && is_escaped(text) => {
            let named = format!("{name}{}", texts.len());
            texts.push(std::mem::replace(text, named));
        }
        _ => {}
    }
}

fn is_escaped(text: &str) -> bool {
    serde_yaml::to_string(text).is_ok_and(|yaml| yaml.starts_with('"'))
}

/// Returns whether a text is long, and can be written as a block.
fn is_block(text: &str) -> bool {
    let is_held = |c: char| matches!(c, '\n' | '\t') || (!c.is_control() && !is_special(c));
    let first = text.split('\n').find(|line| !line.is_empty());
    // Leading spaces would be read as indentation.
    first.is_some_and(|line| !line.starts_with([' ', '\t']))
        && (text.contains('\n') || text.len() > LONG)
        && text.chars().all(is_held)
}

/// Returns whether a text is written in JSON quotes, which keep emojis unescaped.
fn is_quoted(text: &str) -> bool {
    text.chars().any(|c| c > '\u{ffff}')
        && !text.contains(|c: char| is_special(c) || ('\u{7f}'..='\u{9f}').contains(&c))
}

/// Line ends of YAML 1.1, and characters that YAML does not allow.
const fn is_special(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn push_text(written: &mut String, text: &str, indent: usize) {
    if !is_block(text) {
        written.push_str(&Value::from(text).to_string());
        written.push('\n');
        return;
    }
    let (lines, sign) = match text.strip_suffix('\n') {
        None => (text, "|-\n"),
        Some(lines) if lines.ends_with('\n') => (lines, "|+\n"),
        Some(lines) => (lines, "|\n"),
    };
    written.push_str(sign);
    for line in lines.split('\n') {
        if !line.is_empty() {
            written.extend(std::iter::repeat_n(' ', indent));
            written.push_str(line);
        }
        written.push('\n');
    }
}

/// Returns the indentation of a block's lines, given the key or dashes before it.
fn content_indent(head: &str) -> usize {
    let mut rest = head.trim_start_matches(' ');
    while let Some(behind) = rest.strip_prefix("- ") {
        rest = behind;
    }
    let column = head.len() - rest.len();
    if rest.is_empty() { column.max(2) } else { column + 2 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &Value, expected: &str) {
        assert_eq!(write_document(value), expected);
        assert_eq!(Document::read(expected.as_bytes(), "a.yaml").unwrap().value, *value);
    }

    #[test]
    fn writes_long_texts_as_blocks() {
        check(
            &json!({ "a": ["x \ny", { "b": "\n🌱\n\n", "c": 1 }] }),
            "a:\n- |-\n  x \n  y\n- b: |2+\n\n    🌱\n\n  c: 1\n",
        );
        check(&json!({ "a": "x: \"# \n  y\ttab\n   \nz" }), "a: |-\n  x: \"# \n    y\ttab\n     \n  z\n");
        let long = "🌱".repeat(30);
        check(&json!({ "a": long }), &format!("a: {long}\n"));
    }

    #[test]
    fn quotes_what_a_block_cannot_hold() {
        check(&json!({ "a": "🌱 \"x\"\n\u{1b}" }), "a: \"🌱 \\\"x\\\"\\n\\u001b\"\n");
        check(&json!({ "a": "🌱" }), "a: 🌱\n");
        check(&json!({ "a": "  x \ny" }), "a: \"  x \\ny\"\n");
    }

    #[test]
    fn texts_that_look_like_names_stay() {
        check(&json!({ "a": "ctx-text-0", "b": "x \ny" }), "a: ctx-text-0\nb: |-\n  x \n  y\n");
    }
}
