//! Summaries as people read them: plans, what was written, what it saves.

use std::fmt::Write as _;

use ctx_compress::mask::{MadeBy, MaskDraft, MaskPlan, MaskStatistics, MaskTarget, MaskTrigger, SummaryTask};
use ctx_types::{NodeId, Session, plural, thousands};

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::table::{fitted, summary as line};
use ctx_project::counting::TokenCounting;
use ctx_project::session_file::Target;

/// How many messages of a plan are listed at its beginning and at its end.
const LISTED: usize = 6;

/// Writes one line on a plan.
pub(crate) fn plan_line(plan: &MaskPlan) -> String {
    lang::say(&plan.phrase()) + "\n"
}

/// Writes a plan: what the summary will stand for, how it will be asked for, and what would trigger it.
pub(crate) fn plan(
    plan: &MaskPlan,
    session: &Session,
    counting: &TokenCounting,
    trigger: MaskTrigger,
) -> String {
    let mut ids: Vec<&NodeId> = plan.range.covered.iter().chain(&plan.range.messages).collect();
    ids.sort_by_key(|id| session.depth(id));
    let left_out = ids.len().saturating_sub(2 * LISTED + 1);
    let mut rows = Vec::new();
    for (at, id) in ids.iter().enumerate() {
        let is_shown = left_out == 0 || at < LISTED || at >= ids.len() - LISTED;
        match session.node(id).filter(|_| is_shown) {
            Some(node) => rows.push(super::conversation::row(session, id, node, counting)),
            None if at == LISTED => {
                let more = lang::text(&format!("… {} more", left_out + 1)).into_owned();
                rows.push([String::new(), String::new(), String::new(), String::new(), more]);
            }
            None => {}
        }
    }
    let table = fitted(super::conversation::HEADER, rows, &[0, 3]);
    let (stays, prompt) = (stays(plan, session), prompt(plan));
    let trigger = lang::text(&format!("trigger: {trigger}")).into_owned();
    format!("{}\n{table}\n{}\n{}\n{trigger}\n", plan_line(plan), lang::text(&stays), lang::text(&prompt))
}

fn stays(plan: &MaskPlan, session: &Session) -> String {
    let hidden = plan.range.messages.len() + plan.range.covered.len();
    let stays = plural(session.sent_len().saturating_sub(hidden), "message");
    format!(
        "stays: {stays}; the newest {} always do (`protectRecentCount`)",
        plan.config.protect_recent_count
    )
}

fn prompt(plan: &MaskPlan) -> String {
    let what = match plan.task {
        SummaryTask::First => "a first summary".to_owned(),
        SummaryTask::Append => {
            format!("what came after {}, which {}", earlier(plan.previous.len()), stay(plan.previous.len()))
        }
        SummaryTask::Merge => format!("one summary with {}", earlier(plan.previous.len())),
        SummaryTask::Parts => "one summary of several".to_owned(),
    };
    format!("prompt: {what}; profile `{}`, language `{}`", plan.kind.as_str(), plan.language.as_str())
}

fn earlier(count: usize) -> String {
    match count {
        1 => "1 earlier summary".to_owned(),
        _ => format!("{count} earlier summaries"),
    }
}

const fn stay(count: usize) -> &'static str {
    if count == 1 { "stays" } else { "stay" }
}

/// Writes a new summary: its node, who made it, its words.
pub(crate) fn summary(draft: &MaskDraft, id: &NodeId) -> String {
    let who = match draft.made_by {
        MadeBy::Summarizer => "written by the summarizer",
        MadeBy::Extract => "the messages' own sentences",
        MadeBy::Both => "written by the summarizer, in part the messages' own sentences",
    };
    let parts = if draft.parts > 1 { format!(", in {} parts", draft.parts) } else { String::new() };
    let role = match draft.plan.target {
        MaskTarget::New => format!("{}, ", draft.plan.config.summary_role),
        MaskTarget::Existing(_) => String::new(),
    };
    let tokens = thousands(draft.summary_tokens);
    let head = format!("`{}` ({role}{tokens} tokens; {who}{parts}):\n", clean_line(id));
    let mut text = lang::lines(&head).into_owned();
    for said in draft.sent_text().lines() {
        let said = said.trim_end();
        writeln!(text, "{}{said}", if said.is_empty() { "" } else { "  " }).unwrap_or_default();
    }
    text
}

/// Writes what summaries save.
pub(crate) fn statistics(statistics: &MaskStatistics) -> String {
    let (sent, full) = (thousands(statistics.sent_tokens), thousands(statistics.full_tokens));
    let hidden = plural(statistics.hidden_messages, "message");
    let told = match statistics.active {
        _ if statistics.hidden_messages == 0 => format!("sent now: {sent} tokens; no summary hides anything"),
        1 => format!("sent now: {sent} of {full} tokens; 1 summary hides {hidden}"),
        active => format!("sent now: {sent} of {full} tokens; {active} summaries hide {hidden}"),
    };
    lang::text(&told).into_owned()
}

/// Says where the changed conversation went, or how it would.
pub(crate) fn written(target: &Target, name: &str, is_written: bool) -> String {
    let told = match target {
        Target::InPlace if is_written => format!("written: `{name}`; `ctx session undo` takes it back\n"),
        Target::Other(path) if is_written => format!("written: `{}`\n", ctx_project::files::name(path)),
        _ => format!("nothing is written; `--write` changes `{name}`\n"),
    };
    lang::lines(&told).into_owned()
}

/// Writes the first line of a summary that says something.
pub(super) fn first_line(message: &ctx_types::Message, columns: usize) -> String {
    let text = message.text();
    let said = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let said = said.unwrap_or_default().trim_start_matches(['-', ' ']).to_owned();
    line(&message.clone().with(|message| message.content = ctx_types::Content::Text(said.into())), columns)
}
