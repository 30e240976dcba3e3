//! Checks the responses of a summarizer.

use std::borrow::Cow;
use std::sync::LazyLock;

use ctx_types::ports::{SummaryAnswer, SummaryFinish, TokenCounter};
use ctx_types::{Phrase, Text, phrase};
use regex::Regex;
use serde_json::Value;

/// Why a response is not a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum SummaryFault {
    /// It has no text.
    Blank,
    /// It calls a tool.
    ToolCall,
    /// It is truncated.
    CutOff,
    /// The model or the provider refused.
    Refused,
    /// It is not shorter than the original.
    TooLong {
        /// Its tokens.
        tokens: u64,
        /// Tokens of the original.
        limit: u64,
    },
}

impl SummaryFault {
    /// Returns the fault as a phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Blank => phrase!("the reply is empty"),
            Self::ToolCall => phrase!("the reply is a tool call"),
            Self::CutOff => phrase!("the reply is truncated"),
            Self::Refused => phrase!("the model refused"),
            Self::TooLong { tokens, limit } => {
                phrase!("the reply has {tokens} tokens; it must have fewer than {limit}", tokens, limit)
            }
        }
    }
}

/// Limits of a summary in tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The summary must have fewer tokens.
    pub(super) below: u64,
    /// The limit of the request, at which a summary is truncated; 0 if unknown.
    pub(super) asked: u64,
}

/// Tokens of a message without text.
pub(super) const FRAME: u64 = 3;

/// Returns the summary in a response, without leading reasoning and control characters. O(text).
pub(super) fn accept(
    answer: &SummaryAnswer,
    bounds: Bounds,
    counter: &dyn TokenCounter,
) -> Result<Text, SummaryFault> {
    match answer.finish {
        SummaryFinish::ToolCall => return Err(SummaryFault::ToolCall),
        SummaryFinish::Length => return Err(SummaryFault::CutOff),
        SummaryFinish::Complete => {}
        _ => return Err(SummaryFault::Refused),
    }
    let written = without_controls(&answer.text);
    let text = without_reasoning(written.trim()).ok_or(SummaryFault::CutOff)?;
    let is_full = || u64::from(counter.count(text)).saturating_mul(10) >= bounds.asked.saturating_mul(9);
    let is_cut_off =
        || ends_in_the_middle(text) || (bounds.asked > 0 && !ends_with_sentence(text) && is_full());
    if is_blank(text) {
        Err(SummaryFault::Blank)
    } else if is_tool_call(text) {
        Err(SummaryFault::ToolCall)
    } else if REFUSAL.is_match(text) && text.chars().count() <= LONGEST_REFUSAL {
        Err(SummaryFault::Refused)
    } else if is_cut_off() {
        Err(SummaryFault::CutOff)
    } else {
        accept_extract(text, bounds.below, counter)
    }
}

/// Accepts a text that is not blank and has fewer tokens than `below`.
pub(super) fn accept_extract(
    text: &str,
    below: u64,
    counter: &dyn TokenCounter,
) -> Result<Text, SummaryFault> {
    let text = without_controls(text);
    let tokens = u64::from(counter.count(&text)) + FRAME;
    if is_blank(&text) {
        Err(SummaryFault::Blank)
    } else if tokens >= below {
        Err(SummaryFault::TooLong { tokens, limit: below })
    } else {
        Ok(text.into_owned().into())
    }
}

fn is_blank(text: &str) -> bool {
    !text.contains(char::is_alphanumeric)
}

/// Removes control characters except line breaks and tabs, which terminals could execute.
fn without_controls(text: &str) -> Cow<'_, str> {
    let is_bad = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if text.contains(is_bad) { Cow::Owned(text.replace(is_bad, "")) } else { Cow::Borrowed(text) }
}

/// Removes leading blocks of reasoning; `None` if one of them does not end.
fn without_reasoning(text: &str) -> Option<&str> {
    let mut text = text;
    loop {
        let end = ["<think>", "<thinking>"].iter().find(|tag| text.starts_with(**tag));
        let Some(end) = end.map(|tag| tag.replace('<', "</")) else { return Some(text) };
        text = text.split_once(end.as_str())?.1.trim_start();
    }
}

/// Limit of a refusal in characters.
const LONGEST_REFUSAL: usize = 240;

/// A refusal in words: it begins like one and names the task. A summary of a refusal begins with the person.
static REFUSAL: LazyLock<Regex> = LazyLock::new(|| {
    let begin = "i(?:['’]| a)m (?:sorry|unable|not able)|i (?:cannot|can['’]t|can not|won['’]t)|i apologi|sorry|as an ai";
    let task = "help|assist|comply|summar|fulfil|request|协助|帮助|帮您|总结|摘要|请求";
    Regex::new(&format!("(?is)^(?:{begin}|很?抱歉|对不起|我无法|我不能).*(?:{task})"))
        .expect("a valid pattern")
});

/// Returns whether a text is only a tool call, in a form in which models write calls as text.
fn is_tool_call(text: &str) -> bool {
    const TAGS: [&str; 6] =
        ["<tool_call", "<function_call", "<function=", "<invoke", "<|tool_call", "[TOOL_CALLS]"];
    let fenced = text.strip_prefix("```").and_then(|text| text.split_once('\n'));
    let inner = fenced.map_or(text, |(_, text)| text.trim_end().trim_end_matches('`').trim());
    if TAGS.iter().any(|tag| inner.starts_with(tag)) {
        return true;
    }
    let is_call = |value: &Value| {
        let has = |key: &str| value.get(key).is_some();
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        has("tool_calls")
            || has("function_call")
            || matches!(kind, "tool_use" | "function" | "function_call" | "tool_call")
            || (has("name") && (has("arguments") || has("input") || has("parameters")))
    };
    match serde_json::from_str::<Value>(inner) {
        Ok(Value::Array(items)) => !items.is_empty() && items.iter().all(is_call),
        Ok(value) => is_call(&value),
        Err(_) => false,
    }
}

/// Returns whether a text ends in a code block, or with a sign or a word that needs a continuation.
fn ends_in_the_middle(text: &str) -> bool {
    const OPEN: [char; 12] = [',', '，', '、', '(', '（', '[', '「', '“', '《', '—', '-', '–'];
    const WORDS: [&str; 22] = [
        "the", "a", "an", "of", "to", "and", "or", "with", "for", "from", "by", "at", "in", "that", "which",
        "because", "is", "are", "was", "their", "its", "as",
    ];
    let last = text.rsplit_once(char::is_whitespace).map(|(_, last)| last);
    text.matches("```").count() % 2 == 1
        || text.ends_with(OPEN)
        || last.is_some_and(|last| WORDS.contains(&last))
}

fn ends_with_sentence(text: &str) -> bool {
    let text = text.trim_end_matches(['*', '_', '`', '"', '”', '’', ')', '）', '」', '』', '》', ']', '|']);
    text.ends_with(['.', '!', '?', '。', '！', '？', '…', ';', '；'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_tokens::Counter;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, SummaryFault>) {
        let bounds = Bounds { below: 30, asked: 20 };
        let found = accept(&SummaryAnswer::from(text), bounds, &Counter::estimate());
        assert_eq!(found.as_deref(), expected.as_deref(), "{text}");
    }

    #[test]
    fn a_short_text_is_a_summary() {
        check("The user likes tea.\n", Ok("The user likes tea."));
        check("- tea\n- no sugar", Ok("- tea\n- no sugar"));
        check("用户喜欢茶", Ok("用户喜欢茶"));
    }

    #[test]
    fn nothing_said_is_no_summary() {
        for text in ["", " \n\t", "…", "---", "<think>hm</think>  "] {
            check(text, Err(SummaryFault::Blank));
        }
    }

    #[test]
    fn a_refusal_in_words_is_no_summary() {
        for text in [
            "I am sorry, but I cannot help with that.",
            "I can’t assist with this request.",
            "抱歉，我无法协助完成该请求。",
            "我不能总结这段对话。",
        ] {
            check(text, Err(SummaryFault::Refused));
        }
        check("Ada was sorry that nobody could help.", Ok("Ada was sorry that nobody could help."));
    }

    #[test]
    fn control_characters_go() {
        check("Te\u{0}a\u{7},\tno\r\nsu\u{9b}gar\u{7f}.", Ok("Tea,\tno\nsugar."));
        check("\u{0}\u{1b}", Err(SummaryFault::Blank));
    }

    #[test]
    fn reasoning_before_it_goes() {
        check("<think>hm</think>\nTea.", Ok("Tea."));
        check("<thinking>hm", Err(SummaryFault::CutOff));
    }

    #[test]
    fn a_call_is_no_summary() {
        check(r#"{"tool_calls": []}"#, Err(SummaryFault::ToolCall));
        check(r#"{"name": "save", "arguments": {}}"#, Err(SummaryFault::ToolCall));
        check("```json\n[{\"type\": \"tool_use\"}]\n```", Err(SummaryFault::ToolCall));
        check("<tool_call>save</tool_call>", Err(SummaryFault::ToolCall));
        check("It wrote <tool_call> as text.", Ok("It wrote <tool_call> as text."));
    }

    #[test]
    fn a_text_that_breaks_off_is_no_summary() {
        for text in ["The user wants to", "Tea, milk,", "用户喜欢茶、", "```\ncode", "He said (", "a list of"]
        {
            check(text, Err(SummaryFault::CutOff));
        }
    }

    #[test]
    fn a_text_of_all_tokens_must_end_well() {
        let full = "word ".repeat(15);
        check(&format!("{full}wo"), Err(SummaryFault::CutOff));
        check(&format!("{full}end."), Ok(&format!("{full}end.")));
    }

    #[test]
    fn a_text_as_long_as_what_it_stands_for_is_none() {
        let text = format!("{}.", "x".repeat(107));
        check(&text, Err(SummaryFault::TooLong { tokens: 30, limit: 30 }));
    }

    #[test]
    fn the_end_that_a_provider_tells_counts() {
        let bounds = Bounds { below: 30, asked: 0 };
        let of = |finish| {
            let answer = SummaryAnswer { text: "Tea.".into(), finish };
            accept(&answer, bounds, &Counter::estimate()).unwrap_err()
        };
        assert_eq!(of(SummaryFinish::Length), SummaryFault::CutOff);
        assert_eq!(of(SummaryFinish::ToolCall), SummaryFault::ToolCall);
        assert_eq!(of(SummaryFinish::Refused), SummaryFault::Refused);
    }
}
