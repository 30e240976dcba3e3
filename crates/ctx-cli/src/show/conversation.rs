//! The active path of a conversation: what is sent, and what hides the rest.

use std::collections::HashMap;
use std::sync::Arc;

use ctx_compress::mask::MaskStatistics;
use ctx_types::{
    DisplayNode, DisplayState, HistoryEntry, Node, NodeId, Session, display_path, plural, thousands,
};
use serde_json::{Value, json};

use crate::lang;
use crate::show::masks;
use crate::show::table::{fitted, summary};
use crate::show::width;
use ctx_project::counting::TokenCounting;
use ctx_project::session_file::SessionFile;

/// The titles of a table of messages.
pub(super) const HEADER: [&str; 5] = ["#", "id", "role", "tokens", "text"];

/// Writes the active path; hidden messages are one line for each summary, unless all are wanted.
pub(crate) fn path(file: &SessionFile, counting: &TokenCounting, all: bool) -> String {
    let session = &file.session;
    let shown = display_path(session, &[]);
    let places: HashMap<&NodeId, usize> =
        shown.iter().enumerate().map(|(at, shown)| (shown.id, at + 1)).collect();
    let mut rows = Vec::new();
    let mut rest = shown.as_slice();
    while let Some(first) = rest.first() {
        let run = match &first.state {
            DisplayState::Hidden { by } if !all => {
                let is_same = |other: &&DisplayNode<'_>| matches!(&other.state, DisplayState::Hidden { by: other } if other == by);
                let run: Vec<&DisplayNode<'_>> = rest.iter().take_while(is_same).collect();
                let (first, by) = (places.get(first.id), places.get(by));
                rows.push(hidden_run(&run, first.copied(), by.copied(), counting));
                run.len()
            }
            state => {
                rows.push(state_row(session, first, state, &places, counting));
                1
            }
        };
        rest = rest.get(run..).unwrap_or_default();
    }
    let title = session.header.name.as_deref().map(|name| format!(": {name}")).unwrap_or_default();
    let table = match rows.is_empty() {
        true => lang::lines("no messages\n").into_owned(),
        false => fitted(HEADER, rows, &[0, 3]),
    };
    let statistics = masks::statistics(&MaskStatistics::of(session, &counting.counter));
    let counter = lang::phrase(&format!(" ({})", counting.name())).into_owned();
    format!("{}{title}\n\n{table}\n{statistics}{counter}\n{}", file.name, steps(file))
}

/// Writes a row for a message as it is.
pub(super) fn row(session: &Session, id: &NodeId, node: &Node, counting: &TokenCounting) -> [String; 5] {
    let place = session.depth(id).unwrap_or_default();
    let tokens = thousands(counting.tokens(id, node));
    [place.to_string(), id.to_string(), role(node), tokens, text(session, id, node)]
}

fn role(node: &Node) -> String {
    node.role.unwrap_or_default().to_string()
}

/// Writes a message in one line; of a summary also what it stands for.
pub(super) fn text(session: &Session, id: &NodeId, node: &Node) -> String {
    let message = node.to_message(id);
    match node.is_summary() {
        true => {
            format!("{} {}", stands_for(session, id, node), masks::first_line(&message, width()))
        }
        false => summary(&message, width()),
    }
}

fn state_row(
    session: &Session,
    shown: &DisplayNode<'_>,
    state: &DisplayState,
    places: &HashMap<&NodeId, usize>,
    counting: &TokenCounting,
) -> [String; 5] {
    let [place, id, role, tokens, text] = row(session, shown.id, shown.node, counting);
    match state {
        DisplayState::Visible => [place, id, role, tokens, text],
        DisplayState::Disabled => {
            [place, id, role, format!("({tokens})"), format!("[{}] {text}", lang::text("off"))]
        }
        DisplayState::Hidden { by } => {
            let by = places.get(by).copied().unwrap_or_default();
            let hidden = lang::text(&format!("hidden by #{by}")).into_owned();
            [place, id, role, format!("({tokens})"), format!("[{hidden}] {text}")]
        }
    }
}

/// Writes one row for messages that one summary hides.
fn hidden_run(
    run: &[&DisplayNode<'_>],
    first: Option<usize>,
    by: Option<usize>,
    counting: &TokenCounting,
) -> [String; 5] {
    let places = first.map_or_else(String::new, |first| span(first, first + run.len() - 1));
    let tokens = run.iter().map(|one| counting.tokens(one.id, one.node)).sum();
    let summaries = run.iter().filter(|one| one.node.is_summary()).count();
    let summaries = match summaries {
        0 => String::new(),
        1 => " and 1 summary".to_owned(),
        count => format!(" and {count} summaries"),
    };
    let messages = plural(run.iter().filter(|one| !one.node.is_summary()).count(), "message");
    let by = by.map(|by| format!(" by #{by}")).unwrap_or_default();
    let text = lang::phrase(&format!("{messages}{summaries} hidden{by}")).into_owned();
    [places, String::new(), String::new(), format!("({})", thousands(tokens)), text]
}

/// Writes places from one to another.
fn span(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

/// Writes which messages a summary stands for: how many, and their places on the path that leads to it.
fn stands_for(session: &Session, id: &NodeId, node: &Node) -> String {
    /// How many runs of neighbours are named.
    const MOST: usize = 3;
    let above: HashMap<&NodeId, usize> =
        session.ancestors(id).filter_map(|(above, _)| Some((above, session.depth(above)?))).collect();
    let is_message = |id: &&NodeId| session.node(id).is_some_and(|node| !node.is_summary());
    let messages: Vec<&NodeId> = node.summarized_ids().iter().filter(is_message).collect();
    let mut places: Vec<usize> = messages.iter().filter_map(|id| above.get(*id).copied()).collect();
    places.sort_unstable();
    places.dedup();
    let runs: Vec<String> = places
        .chunk_by(|a, b| a + 1 == *b)
        .filter_map(|run| Some(span(*run.first()?, *run.last()?)))
        .collect();
    let more = if runs.len() > MOST { ", …" } else { "" };
    let named: Vec<&str> = runs.iter().take(MOST).map(String::as_str).collect();
    let places = if named.is_empty() { String::new() } else { format!(": {}{more}", named.join(", ")) };
    let told = format!("stands for {}{places}", plural(messages.len(), "message"));
    format!("[{}]", lang::text(&told))
}

/// Says which steps can be taken back and done again.
pub(crate) fn steps(file: &SessionFile) -> String {
    let line = |verb: &str, order: &str, entries: &[Arc<HistoryEntry>]| {
        let Some(latest) = entries.last() else { return String::new() };
        let more = match entries.len() {
            1 => String::new(),
            count => format!(", and {} {order} it", plural(count - 1, "step")),
        };
        let label = super::clean::clean_line(&latest.label);
        format!("{}: {}{}\n", lang::text(verb), label, lang::text(&more))
    };
    line("undo", "before", file.history.undoable()) + &line("redo", "after", file.history.redoable())
}

/// Writes the active path for programs.
pub(crate) fn path_json(file: &SessionFile, counting: &TokenCounting) -> Value {
    let session = &file.session;
    let shown = display_path(session, &[]);
    let one = |(at, shown): (usize, &DisplayNode<'_>)| {
        let mut json = json!({
            "position": at + 1,
            "id": shown.id,
            "role": shown.node.role.unwrap_or_default(),
            "tokens": counting.tokens(shown.id, shown.node),
            "state": state_name(&shown.state),
            "text": shown.node.to_message(shown.id).text(),
        });
        if let DisplayState::Hidden { by } = &shown.state {
            json["hiddenBy"] = json!(by);
        }
        if shown.node.is_summary() {
            json["standsFor"] = json!(shown.node.summarized_ids());
        }
        json
    };
    json!({
        "file": file.name,
        "name": session.header.name,
        "path": shown.iter().enumerate().map(one).collect::<Value>(),
        "statistics": MaskStatistics::of(session, &counting.counter),
        "counter": counting.name(),
        "steps": file.steps_json(),
    })
}

/// Names a state for programs.
pub(super) const fn state_name(state: &DisplayState) -> &'static str {
    match state {
        DisplayState::Visible => "sent",
        DisplayState::Hidden { .. } => "hidden",
        DisplayState::Disabled => "off",
    }
}
