//! Less text in place of much: previews of tool results, the gist of long messages.

use ctx_types::{Content, ContentPart, Message, Role, Text};
use serde_json::Value;

/// Replaces a tool result by a preview: the tool, how it went, its first and last lines.
///
/// At most about `max_chars` characters of the result are shown. Role, ids and name stay. `None` if that would not be
/// shorter.
pub(crate) fn preview(result: &Message, tool: &str, max_chars: usize) -> Option<Message> {
    let text = result.text();
    let chars = text.chars().count();
    if chars <= max_chars {
        return None;
    }
    let status = if is_error(&text) { "error" } else { "ok" };
    let shown = ends(&text, max_chars);
    let tool = if tool.is_empty() { "a tool" } else { tool };
    let preview = format!("[result of {tool}: {status}, {chars} characters, shortened]\n{shown}");
    replaced(result, preview)
}

/// Replaces a long text by its first paragraph, its list and its conclusion, or by its beginning and end.
///
/// At most about `max_chars` characters stay. `None` if that would not be shorter.
pub(crate) fn gist(message: &Message, max_chars: usize) -> Option<Message> {
    let text = message.text();
    if text.chars().count() <= max_chars {
        return None;
    }
    let gist = match structured(&text, max_chars) {
        Some(gist) if message.role == Role::Assistant => gist,
        _ => ends(&text, max_chars),
    };
    replaced(message, gist)
}

/// Returns the message with this text if that is shorter than its own.
fn replaced(message: &Message, text: String) -> Option<Message> {
    (text.len() < message.content.len()).then(|| with_text(message, text))
}

/// Returns the message with this text; parts that are no text stay.
pub(crate) fn with_text(message: &Message, text: String) -> Message {
    let others = match &message.content {
        Content::Text(_) => Vec::new(),
        Content::Parts(parts) => parts.iter().filter(|part| part.as_text().is_none()).cloned().collect(),
    };
    let text = Text::from(text);
    let content = match others.is_empty() {
        true => Content::Text(text),
        false => Content::Parts([vec![ContentPart::Text(text)], others].concat()),
    };
    message.clone().with(|message| {
        message.content = content;
        if !message.written.is_empty() {
            message.written = Vec::new();
        }
    })
}

/// Tells whether a result says that something failed.
pub(crate) fn is_error(text: &str) -> bool {
    let text = text.trim_start();
    let begins = |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if ["error", "failed", "failure", "exception", "traceback", "[interrupted", "错误", "失败"]
        .into_iter()
        .any(begins)
    {
        return true;
    }
    if !text.starts_with('{') {
        return false;
    }
    let Ok(Value::Object(map)) = serde_json::from_str::<Value>(text) else { return false };
    let is_set =
        |key: &str| map.get(key).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)));
    let is_denied = |key: &str| map.get(key) == Some(&Value::Bool(false));
    let status = map.get("status").and_then(Value::as_str).unwrap_or_default();
    is_set("error")
        || is_set("isError")
        || is_denied("success")
        || is_denied("ok")
        || ["error", "failed", "failure"].contains(&status)
}

/// What stands where something was left out.
const GAP: &str = "\n[…]\n";

/// Cuts the middle out of a text: two thirds of what stays is the beginning, the rest the end, at line or word
/// borders where there are any near.
pub(crate) fn ends(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    let chars = text.chars().count();
    if chars <= max_chars {
        return text.to_owned();
    }
    let head = max_chars * 2 / 3;
    let tail = max_chars - head;
    let start = border(text, byte_of(text, head));
    let from = byte_of(text, chars - tail);
    let end = text.get(from..).unwrap_or_default();
    let end = end.find([' ', '\n']).filter(|at| *at * 2 < end.len()).map_or(end, |at| &end[at..]);
    format!("{}{GAP}{}", text.get(..start).unwrap_or_default().trim_end(), end.trim_start())
}

/// Returns the byte at which the n-th character begins.
fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(byte, _)| byte)
}

/// Moves a cut back to the white space before it, unless that is far.
fn border(text: &str, cut: usize) -> usize {
    let before = text.get(..cut).unwrap_or_default();
    before.rfind(char::is_whitespace).filter(|at| at * 2 > cut).unwrap_or(cut)
}

/// Words with which a conclusion begins.
const CONCLUSIONS: [&str; 9] =
    ["conclusion", "in conclusion", "summary", "in summary", "in short", "to sum up", "总之", "总结", "结论"];

/// Returns the first paragraph, the items of lists and the conclusion of a text; `None` if it has only one paragraph.
fn structured(text: &str, max_chars: usize) -> Option<String> {
    let mut lines = text.trim().lines();
    let first: Vec<&str> = lines.by_ref().take_while(|line| !line.trim().is_empty()).collect();
    let rest: Vec<&str> = lines.map(str::trim).filter(|line| is_item(line) || is_conclusion(line)).collect();
    if rest.is_empty() {
        return None;
    }
    let mut gist = ends(&first.join("\n"), max_chars / 2);
    let mut left = max_chars.saturating_sub(gist.chars().count());
    for line in rest {
        let line: String = line.chars().take(120).collect();
        let cost = line.chars().count() + 1;
        if cost > left {
            break;
        }
        left -= cost;
        gist.push('\n');
        gist.push_str(&line);
    }
    gist.push_str("\n[…]");
    Some(gist)
}

fn is_item(line: &str) -> bool {
    let after_number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = after_number.len() < line.len() && after_number.starts_with(['.', ')', '、']);
    is_numbered || ["- ", "* ", "• ", "+ "].iter().any(|mark| line.starts_with(mark))
}

fn is_conclusion(line: &str) -> bool {
    let line = line.trim_start_matches(['#', '*', ' ']).to_lowercase();
    CONCLUSIONS.iter().any(|word| line.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_types::Source;

    fn message(role: Role, text: &str) -> Message {
        Message::new(role, text, Source::history("n", role))
    }

    #[test]
    fn a_preview_names_the_tool_and_how_it_went() {
        let text = format!("first line\n{}\nlast line", "middle ".repeat(100));
        let short = preview(&message(Role::Tool, &text), "read", 60).unwrap();
        let shown = short.text().into_owned();
        assert!(
            shown.starts_with("[result of read: ok, 721 characters, shortened]\nfirst line\n"),
            "{shown}"
        );
        assert!(shown.contains("[…]") && shown.ends_with("last line"), "{shown}");
        assert!(preview(&message(Role::Tool, "short"), "read", 60).is_none());
    }

    #[test]
    fn errors_are_told_by_their_beginning_or_their_keys() {
        for text in [
            "Error: no such file",
            "{\"error\": \"x\"}",
            "{\"success\": false}",
            "失败：没有",
            "{\"status\":\"failed\"}",
        ] {
            assert!(is_error(text), "{text}");
        }
        for text in ["no errors", "{\"error\": null}", "{\"errors\": 0}", "[]"] {
            assert!(!is_error(text), "{text}");
        }
    }

    #[test]
    fn a_long_answer_keeps_its_first_paragraph_its_list_and_its_conclusion() {
        let text = format!("We looked.\n\n{}\n- one thing\n1. first\n\nIn short: done.", "x ".repeat(500));
        let short = gist(&message(Role::Assistant, &text), 200).unwrap();
        assert_eq!(short.text(), "We looked.\n- one thing\n1. first\nIn short: done.\n[…]");
    }

    #[test]
    fn without_structure_beginning_and_end_stay() {
        let text = format!("begin {}end", "word ".repeat(200));
        let short = gist(&message(Role::User, &text), 40).unwrap();
        assert!(
            short.text().starts_with("begin word") && short.text().ends_with("word end"),
            "{}",
            short.text()
        );
        let text = "字".repeat(300);
        let short = gist(&message(Role::User, &text), 30).unwrap();
        assert_eq!(short.text().chars().filter(|c| *c == '字').count(), 30);
    }
}
