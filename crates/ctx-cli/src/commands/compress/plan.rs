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
    use ctx_compress::request::{
        CompressionPipeline, Fate, Material, Protection, RequestConfig, Selection, Strategy,
    };
    use ctx_types::{Message, Phrase, Role, Source};

    use super::*;

    type Script = Vec<(&'static str, &'static str)>;

    /// Has an action and a reason for each group.
    #[derive(Debug)]
    struct ScriptedStrategy(Script);

    impl Strategy for ScriptedStrategy {
        fn name(&self) -> &'static str {
            "script"
        }

        fn choose(&self, _: &Material<'_>) -> Selection {
            let fate = |(action, reason): &(&str, &'static str)| match *action {
                "keep" => Fate::Keep(Phrase::verbatim(*reason)),
                "digest" => Fate::Summarise(Phrase::verbatim(*reason)),
                _ => Fate::Drop(Phrase::verbatim(*reason)),
            };
            Selection { fates: self.0.iter().map(fate).collect(), notes: Vec::new() }
        }
    }

    /// Makes messages of 20 tokens each.
    fn messages(ids: &str) -> Vec<Message> {
        let role = |id: &str| if id.starts_with('u') { Role::User } else { Role::Assistant };
        let message = |id: &str| Message::new(role(id), "w".repeat(40), Source::history(id, role(id)));
        ids.split_whitespace().map(message).collect()
    }

    fn draw(given: &[Message], budget: u64, script: Script) -> String {
        let strategy = Box::new(ScriptedStrategy(script));
        let pipeline = CompressionPipeline::new(RequestConfig::to_fit(budget)).with_strategy(strategy);
        drawn(Language::En, &pipeline.plan(given, Protection::PendingTurn), given.len())
    }

    #[test]
    fn joins_neighbors_with_equal_action_and_reason() {
        let script = vec![
            ("keep", "x"),
            ("keep", "x"),
            ("keep", "y"),
            ("drop", "y"),
            ("digest", "long reason"),
            ("digest", "long reason"),
        ];
        assert_eq!(
            draw(&messages("a1 a2 a3 a4 a55 a6 u7"), 139, script),
            "compacted by `script`: 140 → 80 of 139 tokens, 7 → 4 messages
  keep     a1 +1    40 → 40   x
  keep     a3       20 → 20   y
  drop     a4       20 → 0    y
  digest   a55 +1   40 → 0    long reason
  keep     u7       20 → 20   current turn
"
        );
    }

    #[test]
    fn shows_one_line_without_changes() {
        let shown = draw(&messages("a1 u2"), 40, Vec::new());
        assert_eq!(shown, "not needed (40 of 40 tokens, 2 messages)\n");
    }

    #[test]
    fn names_repairs() {
        let mut given = messages("a1 a2 u3");
        given.insert(1, Message::new(Role::Tool, "nothing", Source::history("r", Role::Tool)));
        assert_eq!(
            draw(&given, 59, vec![("drop", "x"), ("keep", "x")]),
            "compacted by `script`: 60 → 40 of 59 tokens, 3 → 2 messages
  input: 4 messages; tool calls and results are paired first
  drop   a1   20 → 0    x
  keep   a2   20 → 20   x
  keep   u3   20 → 20   current turn
"
        );
    }

    #[test]
    fn counts_rows_beyond_limit() {
        let check = |groups: usize, end: &str| {
            let given = messages(&format!("{} u2", "a1 ".repeat(groups)));
            let script = (0..groups).map(|at| (["drop", "keep"][at % 2], "x")).collect();
            let shown = draw(&given, 20 * groups as u64, script);
            assert!(shown.ends_with(end), "{shown}");
            let rows = (groups + 1).min(MAX_ROWS) + usize::from(groups >= MAX_ROWS);
            assert_eq!(shown.lines().count(), 1 + rows);
        };
        check(199, "current turn\n");
        check(200, "  and 1 more row\n");
        check(207, "  and 8 more rows\n");
    }
}
