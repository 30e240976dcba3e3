//! Summaries as people read them: plans, what was written, what it saves.

use ctx_language::Language;

use ctx_compress::mask::{MadeBy, MaskDraft, MaskPlan, MaskStatistics, MaskTarget, MaskTrigger, SummaryTask};
use ctx_types::internal::thousands;
use ctx_types::session::{NodeId, Session};
use ctx_types::{Phrase, count_of, phrase};

use crate::lang;
use crate::show::clean::clean_line;
use crate::show::table::{fitted, summary as line};
use ctx_project::counting::TokenCounting;
use ctx_project::session_file::Target;

/// How many messages of a plan are listed at its beginning and at its end.
const LISTED: usize = 6;

/// Writes one line on a plan.
pub(crate) fn plan_line(language: Language, plan: &MaskPlan) -> String {
    lang::say(language, &plan.phrase()) + "\n"
}

/// Writes a plan: what the summary will stand for, how it will be asked for, and what would trigger it.
pub(crate) fn plan(
    language: Language,
    plan: &MaskPlan,
    session: &Session,
    counting: &TokenCounting,
    trigger: &MaskTrigger,
) -> String {
    let mut ids: Vec<&NodeId> = plan.range.covered.iter().chain(&plan.range.messages).collect();
    ids.sort_by_key(|id| session.depth(id));
    let omitted = ids.len().saturating_sub(2 * LISTED + 1);
    let mut rows = Vec::new();
    for (at, id) in ids.iter().enumerate() {
        let is_shown = omitted == 0 || at < LISTED || at >= ids.len() - LISTED;
        match session.node(id).filter(|_| is_shown) {
            Some(node) => rows.push(super::conversation::row(language, session, id, node, counting)),
            None if at == LISTED => {
                let more = lang::say(language, &phrase!("… {more} more", more = omitted + 1));
                rows.push([String::new(), String::new(), String::new(), String::new(), more]);
            }
            None => {}
        }
    }
    let table = fitted(language, super::conversation::HEADER, rows, &[0, 3]);
    let trigger = phrase!("trigger: {trigger}", trigger = trigger.phrase());
    let below = [stays(plan, session), prompt(plan), trigger].map(|line| lang::say(language, &line));
    format!("{}\n{table}\n{}\n", plan_line(language, plan), below.join("\n"))
}

fn stays(plan: &MaskPlan, session: &Session) -> Phrase {
    let hidden = plan.range.messages.len() + plan.range.covered.len();
    phrase!(
        "kept: {messages}, always including the newest {newest} (`protectRecentCount`)",
        messages = count_of!(session.sent_len().saturating_sub(hidden), "message"),
        newest = plan.config.protect_recent_count
    )
}

fn prompt(plan: &MaskPlan) -> Phrase {
    let what = match (plan.task, plan.previous.len()) {
        (SummaryTask::First, _) => phrase!("first summary"),
        (SummaryTask::Append, 1) => phrase!("append to 1 earlier summary"),
        (SummaryTask::Append, count) => {
            phrase!("append to {count} earlier summaries", count)
        }
        (SummaryTask::Merge, 1) => phrase!("merge with 1 earlier summary"),
        (SummaryTask::Merge, count) => phrase!("merge with {count} earlier summaries", count),
        (SummaryTask::Parts, _) => phrase!("merge of several partial summaries"),
    };
    phrase!(
        "prompt: {what}; profile `{profile}`, language `{language}`",
        what,
        profile = plan.kind.as_str(),
        language = plan.language.as_str()
    )
}

/// Counts summaries.
pub(super) fn summaries(count: usize) -> Phrase {
    match count {
        1 => phrase!("1 summary"),
        _ => phrase!("{count} summaries", count),
    }
}

/// Writes a new summary: its node, who made it, its words.
pub(crate) fn summary(language: Language, draft: &MaskDraft, id: &NodeId) -> String {
    let who = match draft.made_by {
        MadeBy::Summarizer => phrase!("written by the summarizer"),
        MadeBy::Extract => phrase!("extracted from the messages"),
    };
    let who = match draft.parts {
        0 | 1 => who,
        parts => phrase!("{who}, in {parts} parts", who, parts),
    };
    let (id, tokens) = (clean_line(id), super::tokens(draft.summary_tokens));
    let head = match draft.plan.target {
        MaskTarget::New => {
            let role = draft.plan.config.summary_role.to_string();
            phrase!("`{id}` ({role}, {tokens}; {who}):", id, role, tokens, who)
        }
        MaskTarget::Existing(_) => phrase!("`{id}` ({tokens}; {who}):", id, tokens, who),
    };
    let text = draft.sent_text();
    let said = text
        .lines()
        .map(str::trim_end)
        .map(|said| if said.is_empty() { "\n".to_owned() } else { format!("  {said}\n") });
    format!("{}\n{}", lang::say(language, &head), said.collect::<String>())
}

/// Writes what summaries save.
pub(crate) fn statistics(language: Language, statistics: &MaskStatistics) -> String {
    let (sent, full) = (thousands(statistics.sent_tokens), thousands(statistics.full_tokens));
    let hidden = count_of!(statistics.hidden_messages, "message");
    let told = match statistics.active {
        _ if statistics.hidden_messages == 0 => {
            phrase!("sent now: {sent} tokens; no messages are hidden", sent)
        }
        1 => phrase!("sent now: {sent} of {full} tokens; 1 summary hides {hidden}", sent, full, hidden),
        active => phrase!(
            "sent now: {sent} of {full} tokens; {active} summaries hide {hidden}",
            sent,
            full,
            active,
            hidden
        ),
    };
    lang::say(language, &told)
}

/// Describes where the changed conversation went, or how it would.
pub(crate) fn written(language: Language, target: &Target, name: &str, is_written: bool) -> String {
    let told = match target {
        Target::InPlace if is_written => phrase!("wrote `{name}`; undo this with `ctx session undo`", name),
        Target::Other(path) if is_written => {
            phrase!("wrote `{name}`", name = ctx_project::files::name(path))
        }
        _ => phrase!("nothing written; add `--write` to change `{name}`", name),
    };
    lang::say(language, &told) + "\n"
}

/// Writes the first line of a summary that says something.
pub(super) fn first_line(message: &ctx_types::Message, columns: usize) -> String {
    let text = message.text();
    let said = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let said = said.unwrap_or_default().trim_start_matches(['-', ' ']).to_owned();
    line(&message.clone().with(|message| message.content = ctx_types::Content::Text(said.into())), columns)
}
