//! The plan of a pass, for people.

use ctx_compress::request::{CompressionPlan, PlanStep};
use ctx_language::Language;
use ctx_types::{count_of, phrase};

use crate::{lang, show};

/// How many rows of steps are shown before the rest is counted.
const MAX_ROWS: usize = 200;

/// Writes a plan for so many messages in the language of the run: what it comes to, and a row for each step.
pub(super) fn drawn(language: Language, plan: &CompressionPlan<'_>, given: usize) -> String {
    let head = format!("{}\n", lang::say(language, &plan.headline()));
    if !plan.changes() {
        return head;
    }
    let rows = rows(language, &plan.steps);
    if plan.messages().len() == given {
        return head + &rows;
    }
    let messages = count_of!(given, "message");
    let paired = phrase!("input: {messages}; tool calls and results are paired first", messages);
    format!("{head}  {}\n{rows}", lang::say(language, &paired))
}

/// Writes steps; neighbours with the same action and reason are one row.
fn rows(language: Language, steps: &[PlanStep]) -> String {
    let runs = steps.chunk_by(|a, b| a.action.as_str() == b.action.as_str() && a.reason == b.reason);
    let rows: Vec<[String; 4]> = runs.map(|run| row(language, run)).collect();
    let (shown, rest) = rows.split_at(rows.len().min(MAX_ROWS));
    let [actions, ids, tokens, _] =
        std::array::from_fn(|column| show::widest(shown.iter().filter_map(|row| row.get(column))));
    let line = |[action, id, figures, reason]: &[String; 4]| {
        let (action, id) = (show::left(action, actions), show::left(id, ids));
        format!("  {action}   {id}   {}   {reason}\n", show::left(figures, tokens))
    };
    let more =
        show::omitted(language, rest.len(), |more| phrase!("and {more}", more = count_of!(more, "more row")));
    shown.iter().map(line).chain(more.map(|more| format!("  {more}\n"))).collect()
}

/// Returns what is done, with which messages, what that makes of their tokens, and why.
fn row(language: Language, run: &[PlanStep]) -> [String; 4] {
    let [first, ..] = run else { return <[String; 4]>::default() };
    let messages: usize = run.iter().map(|step| step.range.len().max(1)).sum();
    let id = first.id.as_deref().unwrap_or("-");
    let more = if messages > 1 { format!(" +{}", messages - 1) } else { String::new() };
    let before: u64 = run.iter().map(|step| step.tokens_before).sum();
    let after: u64 = run.iter().map(|step| step.tokens_after).sum();
    let action = lang::word(language, first.action.label()).into_owned();
    [action, format!("{id}{more}"), format!("{before} → {after}"), lang::say(language, &first.reason)]
}

#[cfg(test)]
mod tests {
    use ctx_compress::request::{CompressionPipeline, Protection, RequestConfig, strategy};
    use ctx_types::{Message, Role, Source};

    use super::*;

    /// Checks that people read in English what the plan itself says.
    #[track_caller]
    fn check(budget: u64, messages: &[Message]) {
        let strategy = strategy("key-message").unwrap();
        let pipeline = CompressionPipeline::new(RequestConfig::to_fit(budget)).with_strategy(strategy);
        let plan = pipeline.plan(messages, Protection::PendingTurn);
        assert_eq!(drawn(Language::En, &plan, messages.len()), plan.to_string());
    }

    #[test]
    fn in_english_a_plan_says_what_it_says_itself() {
        let message = |(n, role)| {
            let text = "some words of 12 tokens, about, for each";
            Message::new(role, text, Source::history(format!("message{n}"), role))
        };
        let roles = [Role::User, Role::Assistant, Role::Assistant, Role::User];
        let messages: Vec<Message> = roles.into_iter().enumerate().map(message).collect();
        check(45, &messages);
        check(1_000, &messages);
        let alone = message((9, Role::Tool)).with(|message| message.tool_call_id = Some("c1".into()));
        check(45, &[messages, vec![alone]].concat());
    }
}
