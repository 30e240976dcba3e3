//! What a summarizer is asked: the built-in prompts and those of a host, and how they are filled.

mod chinese;
mod english;

use ctx_types::{Diagnostic, Text, phrase};

use crate::codes;
use crate::mask::config::MaskConfig;
use crate::mask::kind::ConversationKind;
use crate::mask::language::Language;
use crate::mask::plan::SummaryTask;

/// Where the messages go; the second spelling is that of the design of masks.
const CONTEXT: [&str; 2] = ["{context}", "{被压缩的消息内容}"];

/// Where earlier summaries go.
const PREVIOUS: &str = "{previous_summary}";

/// Where the number of words or characters goes that a summary may have; in built-in prompts.
const LIMIT: &str = "{limit}";

/// Where goes what the kind of conversation makes worth keeping; in built-in prompts.
const FOCUS: &str = "{focus}";

/// What a prompt is filled with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling<'a> {
    /// The messages, or the summaries of parts.
    pub(super) context: &'a str,
    /// The earlier summaries.
    pub(super) previous: &'a str,
    /// How many words, or Chinese characters, the summary may have.
    pub(super) limit: u64,
}

/// Which prompt is meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'a> {
    pub(super) config: &'a MaskConfig,
    pub(super) task: SummaryTask,
    pub(super) kind: ConversationKind,
    pub(super) language: Language,
}

/// Writes a prompt. O(template + what is filled in).
///
/// What is filled in is never looked at again, so that a message that speaks of placeholders stays as it is.
/// A host's prompt without a place for the messages gets them at its end.
pub(super) fn write(choice: &Choice<'_>, filling: &Filling<'_>) -> Text {
    let template = template(choice);
    let focus = match choice.language {
        Language::English => english::focus(choice.kind),
        Language::Chinese => chinese::focus(choice.kind),
    };
    let limit = filling.limit.to_string();
    let values = [
        (CONTEXT[0], filling.context),
        (CONTEXT[1], filling.context),
        (PREVIOUS, filling.previous),
        (LIMIT, &limit),
        (FOCUS, focus),
    ];
    let mut prompt = fill(template, &values);
    if !CONTEXT.iter().any(|place| template.contains(place)) {
        prompt.push_str("\n\n");
        prompt.push_str(filling.context);
    }
    prompt.into()
}

/// Adds to a prompt what was wrong with the last answer, so that no request is made twice.
pub(super) fn again(prompt: &str, fault: &str, language: Language) -> Text {
    let lead = match language {
        Language::English => english::AGAIN,
        Language::Chinese => chinese::AGAIN,
    };
    format!("{prompt}\n\n{}", lead.replace("{fault}", fault)).into()
}

/// Reports prompts of a host that have no place for the messages.
pub(super) fn check(config: &MaskConfig) -> Vec<Diagnostic> {
    let prompts = [
        ("summaryPrompt", &config.summary_prompt),
        ("continueSummaryPrompt", &config.continue_summary_prompt),
    ];
    let lacks = |prompt: &Text| !is_blank(prompt) && !CONTEXT.iter().any(|place| prompt.contains(place));
    let found = prompts.into_iter().filter(|(_, prompt)| lacks(prompt)).map(|(key, _)| {
        let message = phrase!("`{key}` has no `{{context}}`; the messages are appended", key);
        Diagnostic::warning(codes::PROMPT_WITHOUT_CONTEXT, message)
    });
    found.collect()
}

fn template<'a>(choice: &Choice<'a>) -> &'a str {
    let (task, config) = (choice.task, choice.config);
    let own: Option<&'a Text> = match task {
        SummaryTask::First => Some(&config.summary_prompt),
        SummaryTask::Append | SummaryTask::Merge => Some(&config.continue_summary_prompt),
        SummaryTask::Parts => None,
    };
    match (own.filter(|prompt| !is_blank(prompt)), choice.language) {
        (Some(own), _) => own,
        (None, Language::English) => english::template(task),
        (None, Language::Chinese) => chinese::template(task),
    }
}

fn is_blank(prompt: &str) -> bool {
    prompt.trim().is_empty()
}

/// Replaces names by values in one pass, the text of a value never being searched.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled =
        String::with_capacity(template.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, from)) = rest.find('{').and_then(|at| rest.split_at_checked(at)) {
        filled.push_str(before);
        let found = values.iter().find_map(|(name, value)| Some((value, from.strip_prefix(name)?)));
        let (value, after) = found.unwrap_or((&"{", from.strip_prefix('{').unwrap_or_default()));
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
    fn check_prompt(own: &str, task: SummaryTask, expected: &str) {
        let config = MaskConfig {
            summary_prompt: own.into(),
            continue_summary_prompt: own.into(),
            ..MaskConfig::default()
        };
        let choice =
            Choice { config: &config, task, kind: ConversationKind::Chat, language: Language::English };
        let filling = Filling { context: "C {previous_summary} $1", previous: "P", limit: 9 };
        assert_eq!(write(&choice, &filling).as_str(), expected);
    }

    #[test]
    fn messages_are_inserted_as_they_are() {
        check_prompt(
            "<{context}|{context}>",
            SummaryTask::First,
            "<C {previous_summary} $1|C {previous_summary} $1>",
        );
        check_prompt("a {被压缩的消息内容}{", SummaryTask::First, "a C {previous_summary} $1{");
    }

    #[test]
    fn a_prompt_without_a_place_gets_the_messages_at_its_end() {
        check_prompt("Short!", SummaryTask::First, "Short!\n\nC {previous_summary} $1");
    }

    #[test]
    fn a_continued_prompt_gets_the_earlier_summaries() {
        check_prompt("{previous_summary}+{context}", SummaryTask::Merge, "P+C {previous_summary} $1");
    }

    #[test]
    fn built_in_prompts_have_all_six_sections_and_no_open_place() {
        let config = MaskConfig::default();
        for task in [SummaryTask::First, SummaryTask::Append, SummaryTask::Merge, SummaryTask::Parts] {
            for language in [Language::English, Language::Chinese] {
                let choice = Choice { config: &config, task, kind: ConversationKind::Tools, language };
                let filling = Filling { context: "CONTEXT", previous: "BEFORE", limit: 123 };
                let prompt = write(&choice, &filling);
                assert!(prompt.contains("CONTEXT") && prompt.contains("123"), "{prompt}");
                assert!(!prompt.contains('{'), "{prompt}");
                assert_eq!(prompt.matches("## ").count(), 6, "{prompt}");
                let continues = matches!(task, SummaryTask::Append | SummaryTask::Merge);
                assert_eq!(prompt.contains("BEFORE"), continues);
            }
        }
    }
}
