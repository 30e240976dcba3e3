//! The active path of a conversation: what is sent, and what hides the rest.

use ctx_language::Language;
use std::collections::HashMap;
use std::sync::Arc;

use ctx_chat::StepLabel;
use ctx_compress::mask::MaskStatistics;
use ctx_types::internal::{Argument, DisplayNode, DisplayState, Divider, display_path, thousands};
use ctx_types::session::{HistoryEntry, Node, NodeId, Session};
use ctx_types::{Phrase, count_of, phrase};
use serde_json::{Value, json};

use crate::lang;
use crate::show::findings::colon;
use crate::show::masks;
use crate::show::table::{fitted, summary};
use crate::show::width;
use ctx_project::counting::TokenCounting;
use ctx_project::session_file::SessionFile;

/// The titles of a table of messages.
pub(super) const HEADER: [&str; 5] = ["#", "id", "role", "tokens", "text"];

/// Writes the active path; hidden messages are one line for each summary, unless all are wanted.
pub(crate) fn path(language: Language, file: &SessionFile, counting: &TokenCounting, all: bool) -> String {
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
                rows.push(hidden_run(language, &run, first.copied(), by.copied(), counting));
                run.len()
            }
            state => {
                let cells = row(language, session, first.id, first.node, counting);
                rows.push(state_row(language, cells, state, &places));
                1
            }
        };
        rest = rest.get(run..).unwrap_or_default();
    }
    let title = session.header.name.as_deref().map(|name| colon(language).to_owned() + name);
    let title = title.unwrap_or_default();
    let table = if rows.is_empty() {
        lang::lines(language, "no messages\n")
    } else {
        fitted(language, HEADER, rows, &[0, 3])
    };
    let statistics = masks::statistics(language, &MaskStatistics::of(session, &counting.counter));
    let counter = lang::say(language, &phrase!(" ({counter})", counter = counting.name()));
    format!("{}{title}\n\n{table}\n{statistics}{counter}\n{}", file.name, steps(language, file))
}

/// Writes a row for a message as it is.
pub(super) fn row(
    language: Language,
    session: &Session,
    id: &NodeId,
    node: &Node,
    counting: &TokenCounting,
) -> [String; 5] {
    let place = session.depth(id).unwrap_or_default();
    let tokens = thousands(counting.tokens(id, node));
    [place.to_string(), id.to_string(), role(node), tokens, text(language, session, id, node)]
}

fn role(node: &Node) -> String {
    node.role.unwrap_or_default().to_string()
}

/// Writes a message in one line; of a summary also what it stands for.
pub(super) fn text(language: Language, session: &Session, id: &NodeId, node: &Node) -> String {
    let message = node.to_message(id);
    if node.is_summary() {
        format!("{} {}", stands_for(language, session, id, node), masks::first_line(&message, width()))
    } else {
        summary(&message, width())
    }
}

fn state_row(
    language: Language,
    [place, id, role, tokens, text]: [String; 5],
    state: &DisplayState,
    places: &HashMap<&NodeId, usize>,
) -> [String; 5] {
    match state {
        DisplayState::Visible => [place, id, role, tokens, text],
        DisplayState::Disabled => {
            [place, id, role, format!("({tokens})"), format!("[{}] {text}", lang::word(language, "off"))]
        }
        DisplayState::Hidden { by } => {
            let by = places.get(by).copied().unwrap_or_default();
            let hidden = lang::say(language, &phrase!("hidden by #{by}", by));
            [place, id, role, format!("({tokens})"), format!("[{hidden}] {text}")]
        }
    }
}

/// Writes one row for messages that one summary hides.
fn hidden_run(
    language: Language,
    run: &[&DisplayNode<'_>],
    first: Option<usize>,
    by: Option<usize>,
    counting: &TokenCounting,
) -> [String; 5] {
    let places = first.map_or_else(String::new, |first| span(first, first + run.len() - 1));
    let tokens = run.iter().map(|one| counting.tokens(one.id, one.node)).sum();
    let summaries = run.iter().filter(|one| one.node.is_summary()).count();
    let messages = count_of!(run.iter().filter(|one| !one.node.is_summary()).count(), "message");
    let what = match summaries {
        0 => messages,
        count => phrase!("{messages} and {summaries}", messages, summaries = masks::summaries(count)),
    };
    let text = match by {
        Some(by) => phrase!("{what} hidden by #{by}", what, by),
        None => phrase!("{what} hidden", what),
    };
    let text = lang::say(language, &text);
    [places, String::new(), String::new(), format!("({})", thousands(tokens)), text]
}

/// Writes places from one to another.
fn span(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

/// Writes which messages a summary stands for: how many, and their places on the path that leads to it.
fn stands_for(language: Language, session: &Session, id: &NodeId, node: &Node) -> String {
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
    let more = (runs.len() > MOST).then_some("…");
    let named = runs.iter().take(MOST).map(String::as_str).chain(more);
    let messages = count_of!(messages.len(), "message");
    let told = if runs.is_empty() {
        phrase!("replaces {messages}", messages)
    } else {
        phrase!("replaces {messages}: {places}", messages, places = Argument::list(named, Divider::Comma))
    };
    format!("[{}]", lang::say(language, &told))
}

/// Names which steps can be taken back and done again.
pub(crate) fn steps(language: Language, file: &SessionFile) -> String {
    let line = |verb: &'static str, entries: &[Arc<HistoryEntry>]| {
        let Some(latest) = entries.last() else { return String::new() };
        let others = entries.len() - 1;
        let more = phrase!(", and {steps}", steps = count_of!(others, "more operation"));
        let more = (others > 0).then(|| lang::say(language, &more));
        let label = StepLabel::phrase(&super::clean::clean_line(&latest.label));
        let told = phrase!("{verb}: {label}", verb = Phrase::from(verb), label);
        format!("{}{}\n", lang::say(language, &told), more.unwrap_or_default())
    };
    line("undo", file.history.undoable()) + &line("redo", file.history.redoable())
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
