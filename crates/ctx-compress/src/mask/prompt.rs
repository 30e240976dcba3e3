//! Prompts for a summarizer: the built-in prompt and custom prompts.

use ctx_types::{Diagnostic, Text, phrase};

use crate::codes;
use crate::mask::config::MaskConfig;
use crate::mask::kind::ConversationKind;
use crate::mask::language::Language;
use crate::mask::plan::SummaryTask;

/// Placeholders of the messages; AIO Hub uses the second one.
const CONTEXT: [&str; 2] = ["{context}", "{被压缩的消息内容}"];

/// Placeholder of the earlier summaries.
const PREVIOUS: &str = "{previous_summary}";

/// Values of the placeholders.
#[derive(Clone, Copy, Debug)]
pub(super) struct PromptValues<'a> {
    /// The messages, or the summaries of parts.
    pub(super) context: &'a str,
    /// The earlier summaries.
    pub(super) previous: &'a str,
    /// Limit of the summary in words or Chinese characters.
    pub(super) limit: u64,
}

/// Selects a prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct PromptChoice<'a> {
    pub(super) config: &'a MaskConfig,
    pub(super) task: SummaryTask,
    pub(super) kind: ConversationKind,
    pub(super) language: Language,
}

/// Writes a prompt. O(template + values).
///
/// Placeholders in values are not replaced. A custom prompt without `{context}` gets the messages at its end.
pub(super) fn write(choice: &PromptChoice<'_>, values: &PromptValues<'_>) -> Text {
    let texts = choice.language.texts();
    let limit = values.limit.to_string();
    let earlier = match values.previous {
        "" => String::new(),
        previous => fill(texts.earlier_summary_block, &[(PREVIOUS, previous)]),
    };
    let all = [
        (CONTEXT[0], values.context),
        (CONTEXT[1], values.context),
        (PREVIOUS, values.previous),
        ("{limit}", &limit),
        ("{focus}", texts.focus(choice.kind)),
        ("{task}", texts.task(choice.task)),
        ("{earlier}", &earlier),
        ("{block}", texts.block(choice.task)),
    ];
    let Some(custom) = custom_prompt(choice) else { return fill(texts.prompt.trim_end(), &all).into() };
    let mut prompt = fill(custom, &all[..5]);
    if lacks_context(custom) {
        prompt.push_str("\n\n");
        prompt.push_str(values.context);
    }
    prompt.into()
}

/// Adds the fault of the last answer to a prompt.
pub(super) fn retry(prompt: &str, fault: &str, language: Language) -> Text {
    format!("{prompt}\n\n{}", fill(language.texts().retry, &[("{fault}", fault)])).into()
}

/// Reports custom prompts without `{context}`.
pub(super) fn check(config: &MaskConfig) -> Vec<Diagnostic> {
    let prompts = [
        ("summaryPrompt", &config.summary_prompt),
        ("continueSummaryPrompt", &config.continue_summary_prompt),
    ];
    let incomplete = prompts.into_iter().filter(|(_, prompt)| !is_blank(prompt) && lacks_context(prompt));
    let found = incomplete.map(|(key, _)| {
        let message = phrase!("`{key}` has no `{{context}}`; the messages are appended", key);
        Diagnostic::warning(codes::PROMPT_WITHOUT_CONTEXT, message)
    });
    found.collect()
}

fn custom_prompt<'a>(choice: &PromptChoice<'a>) -> Option<&'a Text> {
    let prompt = match choice.task {
        SummaryTask::First => &choice.config.summary_prompt,
        SummaryTask::Append | SummaryTask::Merge => &choice.config.continue_summary_prompt,
        SummaryTask::Parts => return None,
    };
    Some(prompt).filter(|prompt| !is_blank(prompt))
}

fn is_blank(prompt: &str) -> bool {
    prompt.trim().is_empty()
}

fn lacks_context(prompt: &str) -> bool {
    !CONTEXT.iter().any(|placeholder| prompt.contains(placeholder))
}

/// Replaces placeholders in one pass, without those in values.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, from)) = rest.find('{').and_then(|at| rest.split_at_checked(at)) {
        filled.push_str(before);
        let found = values.iter().find_map(|(name, value)| Some((value, from.strip_prefix(name)?)));
        let (value, after) = found.unwrap_or((&"{", &from[1..]));
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_prompt(custom: &str, task: SummaryTask, expected: &str) {
        let config = MaskConfig {
            summary_prompt: custom.into(),
            continue_summary_prompt: custom.into(),
            ..MaskConfig::default()
        };
        let choice =
            PromptChoice { config: &config, task, kind: ConversationKind::Chat, language: Language::English };
        let values = PromptValues { context: "C {previous_summary} $1", previous: "P", limit: 9 };
        assert_eq!(write(&choice, &values).as_str(), expected);
    }

    #[test]
    fn inserts_messages_unchanged() {
        check_prompt(
            "<{context}|{context}>",
            SummaryTask::First,
            "<C {previous_summary} $1|C {previous_summary} $1>",
        );
        check_prompt("a {被压缩的消息内容}{task}{", SummaryTask::First, "a C {previous_summary} $1{task}{");
    }

    #[test]
    fn appends_messages_to_prompt_without_placeholder() {
        check_prompt("Short!", SummaryTask::First, "Short!\n\nC {previous_summary} $1");
    }

    #[test]
    fn inserts_earlier_summaries() {
        check_prompt("{previous_summary}+{context}", SummaryTask::Merge, "P+C {previous_summary} $1");
    }

    #[test]
    fn fills_built_in_prompts() {
        let config = MaskConfig::default();
        for task in [SummaryTask::First, SummaryTask::Append, SummaryTask::Merge, SummaryTask::Parts] {
            for language in [Language::English, Language::Chinese] {
                let choice = PromptChoice { config: &config, task, kind: ConversationKind::Tools, language };
                let previous = match task {
                    SummaryTask::Append | SummaryTask::Merge => "BEFORE",
                    SummaryTask::First | SummaryTask::Parts => "",
                };
                let prompt = write(&choice, &PromptValues { context: "CONTEXT", previous, limit: 123 });
                assert!(prompt.contains("CONTEXT") && prompt.contains("123"), "{prompt}");
                assert!(!prompt.contains('{'), "{prompt}");
                assert_eq!(prompt.matches("=== ").count(), 2 + usize::from(!previous.is_empty()), "{prompt}");
                assert_eq!(prompt.matches("## ").count(), 6, "{prompt}");
                assert!(
                    language.texts().headings.iter().all(|heading| prompt.contains(*heading)),
                    "{prompt}"
                );
                assert!(prompt.contains(previous));
            }
        }
    }
}
