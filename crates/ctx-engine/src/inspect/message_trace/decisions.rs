use std::collections::{BTreeMap, BTreeSet};

use ctx_types::report::{Decision, Outcome};
use ctx_types::session::NodeId;
use ctx_types::{Role, Source, SourceKind, phrase};
use ctx_worldbook::Status;

use crate::inspect::message_trace::MessageTrace;
use crate::inspect::message_trace::event::{Event, EventKind};
use crate::trace::TracedStage;

/// If a dropped message has no decision, returns the decision about its run of messages.
pub(crate) fn stage_decisions(
    stage: TracedStage<'_>,
    events: &[Event],
    sources: &BTreeSet<String>,
) -> Vec<Decision> {
    let decided = stage.decisions();
    let is_own = |decision: &&Decision| sources.contains(&decision.source.to_string());
    let mut found: Vec<Decision> = decided.iter().filter(is_own).cloned().collect();
    if found.is_empty() {
        let gone = events.iter().filter(|event| event.kind == EventKind::Gone);
        found.extend(gone.filter_map(|event| run(stage, event).cloned()));
        found.dedup();
    }
    found
}

fn run<'a>(stage: TracedStage<'a>, gone: &Event) -> Option<&'a Decision> {
    let at = *gone.from.first()?;
    let before = stage.before?.messages();
    let places: BTreeMap<String, usize> = before
        .iter()
        .take(at + 1)
        .enumerate()
        .map(|(at, message)| (message.source.to_string(), at))
        .collect();
    let runs = stage.decisions().iter().filter(|decision| {
        decision.count > 1 && decision.source.kind.is_history() && decision.outcome != Outcome::Kept
    });
    let begin = |decision: &&Decision| places.get(&decision.source.to_string()).map_or(0, |at| at + 1);
    // Skips runs that begin later. A run may begin before the loaded messages.
    let later: BTreeSet<String> =
        before.iter().skip(at + 1).map(|message| message.source.to_string()).collect();
    runs.filter(|decision| !later.contains(&decision.source.to_string())).max_by_key(begin)
}

pub(crate) fn other_decisions(traces: &MessageTrace<'_>, wanted: &str) -> Vec<Decision> {
    let (kind, id) = wanted.split_once(':').unwrap_or((wanted, ""));
    match kind {
        "worldbook" => entry_decision(traces, id).into_iter().collect(),
        "history" | "summary" => node_decision(traces, id).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Splits the joint decision about several inactive entries.
fn entry_decision(traces: &MessageTrace<'_>, id: &str) -> Option<Decision> {
    let found = traces.trace.scan()?;
    let members = found.set.members().iter().zip(&found.scan.statuses);
    let (member, status) = members.into_iter().find(|(member, _)| &*member.id == id)?;
    let Status::NotActivated(reason) = status else { return None };
    let reason = found.set.describe_reason(reason, &|newest| found.message(newest));
    let mut source = Source::new(SourceKind::Worldbook, ctx_types::Trust::Import).with_id(member.id.clone());
    let listed = ctx_types::ListPosition { index: member.number, name: member.entry.title.clone() };
    source.listed = Some(listed.into());
    Some(Decision::new(Outcome::NotActivated, source, reason))
}

fn node_decision(traces: &MessageTrace<'_>, id: &str) -> Option<Decision> {
    let session = traces.session;
    let node = session.node(id)?;
    let source = node.to_message(&NodeId::from(id)).source.clone();
    let decisions = &traces.context.report.decisions;
    let path = session.path();
    let places = path.iter().enumerate().filter_map(|(at, node)| Some((node.id.as_deref()?, at)));
    let places: BTreeMap<&str, usize> = places.collect();
    let at = |wanted: &str| places.get(wanted).copied();
    let Some(place) = at(id) else {
        let reason = phrase!("on another branch");
        return Some(Decision::new(Outcome::NotLoaded, source, reason));
    };
    let is_run =
        |decision: &&Decision| decision.source.kind.is_history() && decision.outcome != Outcome::Kept;
    let runs = decisions.iter().filter(is_run).filter_map(|decision| {
        let begin = at(decision.source.id.as_deref()?).filter(|begin| *begin <= place)?;
        let end = begin + decision.count;
        (decision.count > 1).then_some((place < end, begin, decision))
    });
    let run = runs.max_by_key(|(is_inside, begin, _)| (*is_inside, *begin)).map(|(_, _, run)| run.clone());
    let is_blank = node.role.unwrap_or(Role::User) != Role::Tool && node.content.is_none();
    let unknown = if is_blank { phrase!("it has no content to send") } else { phrase!("not loaded") };
    Some(run.unwrap_or_else(|| Decision::new(Outcome::NotLoaded, source, unknown)))
}
