//! Whether an answer is a summary.

use std::borrow::Cow;

use ctx_types::ports::{SummaryAnswer, SummaryFinish, TokenCounter};
use ctx_types::{Phrase, Text, phrase};
use serde_json::Value;

/// Why an answer is no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum SummaryFault {
    /// There is no text in it.
    Blank,
    /// It calls a tool.
    ToolCall,
    /// It ends in the middle.
    CutOff,
    /// The model or the provider refused.
    Refused,
    /// It is no shorter than what it stands for.
    TooLong {
        /// Its tokens.
        tokens: u64,
        /// The tokens that it would stand for.
        limit: u64,
    },
}

impl SummaryFault {
    /// Writes it in one phrase.
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

/// How large a summary may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// It must have fewer tokens than this.
    pub(super) below: u64,
    /// With about this many the summarizer has cut it off; 0 if that is not known.
    pub(super) asked: u64,
}

/// What a message costs beside its text.
pub(super) const FRAME: u64 = 3;

/// Returns the summary that an answer holds, reasoning before it and control characters left out. O(text).
pub(super) fn accept(
    answer: &SummaryAnswer,
    bounds: Bounds,
    counter: &dyn TokenCounter,
) -> Result<Text, SummaryFault> {
    match answer.finish {
        SummaryFinish::ToolCall => return Err(SummaryFault::ToolCall),
        SummaryFinish::Length => return Err(SummaryFault::CutOff),
        SummaryFinish::Refused => return Err(SummaryFault::Refused),
        SummaryFinish::Complete => {}
        // The port may learn of further ends: none of them is a good one.
        _ => return Err(SummaryFault::Refused),
    }
    let written = without_controls(&answer.text);
    let text = without_reasoning(written.trim()).ok_or(SummaryFault::CutOff)?;
    if !text.contains(char::is_alphanumeric) {
        return Err(SummaryFault::Blank);
    }
    if is_tool_call(text) {
        return Err(SummaryFault::ToolCall);
    }
    if is_refusal(text) {
        return Err(SummaryFault::Refused);
    }
    let summary = if text.len() == answer.text.len() { answer.text.clone() } else { Text::from(text) };
    let tokens = u64::from(counter.count_text(&summary));
    let is_full = bounds.asked > 0 && tokens.saturating_mul(10) >= bounds.asked.saturating_mul(9);
    if ends_in_the_middle(text) || (is_full && !ends_well(text)) {
        return Err(SummaryFault::CutOff);
    }
    if tokens + FRAME >= bounds.below {
        return Err(SummaryFault::TooLong { tokens: tokens + FRAME, limit: bounds.below });
    }
    Ok(summary)
}

/// Takes out control characters but line breaks and tabs: no store and no terminal is to be trusted with them.
fn without_controls(text: &str) -> Cow<'_, str> {
    let is_bad = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if text.contains(is_bad) { Cow::Owned(text.replace(is_bad, "")) } else { Cow::Borrowed(text) }
}

/// Takes leading blocks of reasoning off; `None` if one of them does not end.
fn without_reasoning(text: &str) -> Option<&str> {
    let mut text = text;
    loop {
        let end = ["<think>", "<thinking>"].iter().find(|tag| text.starts_with(**tag));
        let Some(end) = end.map(|tag| tag.replace('<', "</")) else { return Some(text) };
        text = text.split_once(end.as_str())?.1.trim_start();
    }
}

/// How many characters a refusal in words has at the most.
const LONGEST_REFUSAL: usize = 240;

/// Returns whether a short text, in English or Chinese, says no more than that there will be no help.
///
/// It begins as refusals begin and speaks of the task; a summary that tells of somebody's refusal begins with who
/// it was.
fn is_refusal(text: &str) -> bool {
    const BEGINS: [&str; 18] = [
        "i'm sorry",
        "i am sorry",
        "sorry",
        "i apologi",
        "i cannot",
        "i can't",
        "i can not",
        "i'm unable",
        "i am unable",
        "i'm not able",
        "i am not able",
        "i won't",
        "as an ai",
        "抱歉",
        "很抱歉",
        "对不起",
        "我无法",
        "我不能",
    ];
    const TASKS: [&str; 12] = [
        "help", "assist", "comply", "summar", "fulfil", "request", "协助", "帮助", "帮您", "总结", "摘要",
        "请求",
    ];
    if text.chars().count() > LONGEST_REFUSAL {
        return false;
    }
    let text = text.to_lowercase().replace('’', "'");
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    BEGINS.iter().any(|begin| text.starts_with(begin)) && has(&TASKS)
}

/// Returns whether a text is nothing but a call, in one of the forms in which models write calls as text.
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

/// Returns whether a text breaks off: in a block of code, after a mark that opens or joins, after a word that
/// needs another one.
fn ends_in_the_middle(text: &str) -> bool {
    const OPEN: [char; 12] = [',', '，', '、', '(', '（', '[', '「', '“', '《', '—', '-', '–'];
    const WORDS: [&str; 22] = [
        "the", "a", "an", "of", "to", "and", "or", "with", "for", "from", "by", "at", "in", "that", "which",
        "because", "is", "are", "was", "their", "its", "as",
    ];
    if text.matches("```").count() % 2 == 1 || text.ends_with(OPEN) {
        return true;
    }
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    text.contains(char::is_whitespace) && WORDS.contains(&last)
}

/// Returns whether a text ends as texts end.
fn ends_well(text: &str) -> bool {
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
