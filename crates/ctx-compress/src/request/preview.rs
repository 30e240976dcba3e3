//! Previews of tool results, and the gist of long messages.

use std::ops::Range;

use ctx_types::{Message, Role};
use serde_json::Value;

use crate::request::excerpt::{Excerpt, byte_of};

/// Replaces a tool result by a preview: the tool, its status, and at most about `max_chars` characters of the result;
/// `None` if that is not shorter.
pub(crate) fn preview(result: &Message, tool: &str, max_chars: usize) -> Option<Message> {
    let text = result.text();
    let chars = text.chars().count();
    if chars <= max_chars {
        return None;
    }
    let status = if is_error(&text) { "error" } else { "ok" };
    let tool = if tool.is_empty() { "a tool" } else { tool };
    let mut preview = Excerpt::of(&text);
    let end = if max_chars > 0 { "\n" } else { "" };
    preview.write(&format!("[result of {tool}: {status}, {chars} characters, shortened]{end}"));
    if max_chars > 0 {
        preview.keep_ends(0..text.len(), max_chars);
    }
    preview.replace_in(result)
}

/// Replaces a long text by at most about `max_chars` characters: its first paragraph, list and conclusion, or its
/// beginning and end; `None` if that is not shorter.
pub(crate) fn gist(message: &Message, max_chars: usize) -> Option<Message> {
    let text = message.text();
    if text.chars().count() <= max_chars {
        return None;
    }
    match structured(&text, max_chars).filter(|_| message.role == Role::Assistant) {
        Some(gist) => gist.replace_in(message),
        None => without_middle(message, max_chars),
    }
}

/// Replaces a text by its beginning and end; `None` if that is not shorter.
pub(crate) fn without_middle(message: &Message, max_chars: usize) -> Option<Message> {
    let text = message.text();
    let mut excerpt = Excerpt::of(&text);
    excerpt.keep_ends(0..text.len(), max_chars);
    excerpt.replace_in(message)
}

/// Returns whether a result is an error.
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

/// First words of a conclusion.
const CONCLUSIONS: [&str; 9] =
    ["conclusion", "in conclusion", "summary", "in summary", "in short", "to sum up", "总之", "总结", "结论"];

/// Returns the first paragraph, the items of lists and the conclusion of a text; `None` if it has only one paragraph.
fn structured(text: &str, max_chars: usize) -> Option<Excerpt<'_>> {
    let mut lines = lines(text).skip_while(Range::is_empty);
    let first = lines.next()?;
    let end = lines.by_ref().take_while(|line| !line.is_empty()).last().map_or(first.end, |line| line.end);
    let is_gist = |line: &Range<usize>| {
        let line = text.get(line.clone()).unwrap_or_default();
        is_item(line) || is_conclusion(line)
    };
    let mut rest = lines.filter(is_gist).peekable();
    rest.peek()?;
    let mut gist = Excerpt::of(text);
    gist.keep_ends(first.start..end, max_chars / 2);
    let mut left = max_chars.saturating_sub(gist.text().chars().count());
    for line in rest {
        let shown = text.get(line.clone()).unwrap_or_default();
        let shown = shown.get(..byte_of(shown, LONGEST_LINE)).unwrap_or_default();
        let cost = shown.chars().count() + 1;
        if cost > left {
            break;
        }
        left -= cost;
        gist.write("\n");
        gist.keep(line.start..line.start + shown.len());
    }
    gist.write("\n[…]");
    Some(gist)
}

/// Limit of a line of a list in characters.
const LONGEST_LINE: usize = 120;

/// Returns the ranges of lines without surrounding white space.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = end + (line.len() - line.trim_start().len());
        end += line.len();
        start..start + line.trim().len()
    })
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
    fn a_preview_of_nothing_is_one_line() {
        let text = format!("Error: {}", "no key ".repeat(20));
        let short = preview(&message(Role::Tool, &text), "", 0).unwrap();
        assert_eq!(short.text(), "[result of a tool: error, 147 characters, shortened]");
    }

    #[test]
    fn errors_are_told_by_their_beginning_or_their_keys() {
        for text in [
            "Error: no such file",
            "{\"error\": \"x\"}",
            "{\"success\": false}",
            "失败：没有",
            "{\"status\":\"failed\"}",
            "{\"status\":\"error\"}",
            "{\"status\":\"failure\"}",
            "{\"isError\": true}",
            "{\"ok\": false}",
            "  ERROR",
            " {\"error\": {}} ",
            "[interrupted: no result]",
        ] {
            assert!(is_error(text), "{text}");
        }
        for text in [
            "no errors",
            "{\"error\": null}",
            "{\"error\": false}",
            "{\"errors\": 0}",
            "{\"isError\": false}",
            "{\"success\": true, \"ok\": true, \"status\": \"fine\"}",
            "{\"success\": null}",
            "{\"error\": 1",
            "[]",
            "",
        ] {
            assert!(!is_error(text), "{text}");
        }
    }

    #[test]
    fn a_long_answer_keeps_its_first_paragraph_its_list_and_its_conclusion() {
        let text = format!("We looked.\n\n{}\n- one thing\n1. first\n\nIn short: done.", "x ".repeat(500));
        let short = gist(&message(Role::Assistant, &text), 200).unwrap();
        assert_eq!(short.text(), "We looked.\n- one thing\n1. first\nIn short: done.\n[…]");
    }

    /// Takes so many characters of an answer that has a structure.
    #[track_caller]
    fn check_gist(text: &str, max_chars: usize, expected: &str) {
        let text = format!("{text}\n\n{}", "x ".repeat(500));
        let short = gist(&message(Role::Assistant, &text), max_chars).unwrap();
        assert_eq!(short.text(), format!("{expected}\n[…]"));
    }

    #[test]
    fn the_first_paragraph_has_half_of_the_room_and_lines_have_the_rest() {
        check_gist("\n \nWe looked.\nTwice.\n\nfill\n   - one", 60, "We looked.\nTwice.\n- one");
        check_gist("We looked at every room.\n\n- one", 40, "We looked at\n[…]\nroom.\n- one");
        // Twelve characters a line with its break; six are the first paragraph.
        let items = "Intro.\n\n- item 1234\n- item 5678\n- item 9012";
        check_gist(items, 30, "Intro.\n- item 1234\n- item 5678");
        check_gist(items, 29, "Intro.\n- item 1234");
        check_gist(items, 17, "Intro.");
        check_gist(
            &format!("Intro.\n\n- {}", "字".repeat(200)),
            300,
            &format!("Intro.\n- {}", "字".repeat(118)),
        );
    }

    #[test]
    fn items_and_conclusions_are_told_by_their_signs() {
        for line in ["1. x", "12) x", "3、x", "- x", "* x", "• x", "+ x"] {
            assert!(is_item(line), "{line}");
        }
        for line in ["1 x", ". x", ") x", "x 1. y", "-x", "x - y", "", "12"] {
            assert!(!is_item(line), "{line}");
        }
        for line in ["In short: x", "## Conclusion", "**SUMMARY** x", "总之，好"] {
            assert!(is_conclusion(line), "{line}");
        }
        for line in ["It is in short supply", "", "- In short"] {
            assert!(!is_conclusion(line), "{line}");
        }
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
