//! The active path as a page shows it: by parts, with summaries as stacks.

use ctx_compress::mask::MaskDetails;
use ctx_language::Language;
use ctx_tokens::Counter;
use ctx_types::Attachment;
use ctx_types::internal::{DisplayNode, DisplayState, display_path};
use ctx_types::session::{HistoryEntry, Node, NodeId, Session};

use super::Known;
use super::inserted::inserted;
use crate::api_talk::{BranchView, ConversationView, FailureView, MessageState, MessageView, SummaryFigures};

/// How many messages are told at once, and how much of each.
const MAX_ROWS: usize = 200;
pub(super) const MAX_TEXT: usize = 32 << 10;

/// How many steps are named.
const MAX_STEPS: usize = 20;

/// What of a path is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// The first message; absent means the last ones.
    pub(crate) from: Option<usize>,
    /// A message around which they stand.
    pub(crate) at: Option<String>,
    /// A message that must be among them.
    pub(crate) about: Option<String>,
    /// The summaries whose messages are shown.
    pub(crate) open: Vec<NodeId>,
}

/// Shows a part of the active path.
pub(crate) fn view(known: &Known, asked: &Asked, language: Language) -> ConversationView {
    let session = &known.file.session;
    let all = display_path(session, &asked.open);
    let shown: Vec<(usize, &DisplayNode<'_>)> =
        all.iter().enumerate().filter(|(_, node)| node.is_shown).collect();
    let total = shown.len();
    let place = |id: &Option<String>| {
        let id = id.as_deref()?;
        let place = session.depth(id)?.checked_sub(1)?;
        all.get(place).filter(|node| **node.id == *id)?;
        shown.binary_search_by_key(&place, |(place, _)| *place).ok()
    };
    let around = |place: usize| place.saturating_sub(MAX_ROWS / 2).min(total.saturating_sub(MAX_ROWS));
    let from = match (place(&asked.at), asked.from) {
        (Some(at), _) => around(at),
        (None, Some(from)) => from.min(total),
        (None, None) => total.saturating_sub(MAX_ROWS),
    };
    let about = place(&asked.about).filter(|place| !(from..from + MAX_ROWS).contains(place));
    let from = about.map_or(from, around);
    let rows = shown.iter().skip(from).take(MAX_ROWS);
    let rows = rows.map(|(place, node)| row(session, place + 1, node)).collect();
    let next = |id: &Option<String>| {
        let place = id.as_deref().and_then(|id| session.depth(id)?.checked_sub(1)).unwrap_or(all.len());
        shown.partition_point(|(other, _)| *other < place)
    };
    let to = total.min(from + MAX_ROWS);
    let inserted = inserted(session).into_iter().filter_map(|mut text| {
        let next = next(&text.before);
        text.before = shown.get(next).map(|(_, node)| node.id.to_string());
        let is_here = (from..to).contains(&next) || next == total && to == total;
        is_here.then_some(text)
    });
    let fixed = known.file.refusal().map(|reason| language.say(&reason));
    let steps = |all: &[std::sync::Arc<HistoryEntry>]| {
        all.iter().rev().take(MAX_STEPS).map(|entry| entry.label.to_string()).collect()
    };
    ConversationView {
        hash: known.hash.clone(),
        total,
        from,
        rows,
        inserted: inserted.collect(),
        undo: steps(known.file.history.undoable()),
        redo: steps(known.file.history.redoable()),
        is_list: known.file.is_list(),
        fixed,
    }
}

fn row(session: &Session, place: usize, shown: &DisplayNode<'_>) -> MessageView {
    let (id, node) = (shown.id, shown.node);
    let message = node.to_message(id);
    let text = message.text();
    let (text, failure) = split_failure(node, &text);
    let cut = start(text, MAX_TEXT);
    let counter = Counter::estimate();
    MessageView {
        id: id.to_string(),
        place,
        role: node.role.unwrap_or_default().to_string(),
        name: node.name.as_deref().map(str::to_owned),
        is_cut: cut.len() < text.len(),
        tokens: ctx_types::ports::TokenCounter::count_text(&counter, &ctx_types::Text::from(text)).into(),
        text: cut.to_owned(),
        calls: message.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect(),
        attachments: message.attachments.iter().map(named).collect(),
        state: match &shown.state {
            DisplayState::Visible => MessageState::Sent,
            DisplayState::Hidden { .. } => MessageState::Hidden,
            DisplayState::Disabled => MessageState::Off,
        },
        hidden_by: match &shown.state {
            DisplayState::Hidden { by } => Some(by.to_string()),
            DisplayState::Visible | DisplayState::Disabled => None,
        },
        branch: branch(session, id),
        failure,
        summary: figures(session, id, counter),
    }
}

/// Splits the report of a failed turn into the partial reply and the error. Turns store both in one text.
fn split_failure<'a>(node: &Node, text: &'a str) -> (&'a str, Option<FailureView>) {
    if !node.is_error() {
        return (text, None);
    }
    let Some((partial, error)) = text.rsplit_once("LLM_ERROR\n- Code: ") else {
        return ("", Some(FailureView { code: None, message: text.to_owned() }));
    };
    let (code, message) = error.split_once("\n- Message: ").unwrap_or((error, ""));
    (partial.trim_end(), Some(FailureView { code: Some(code.to_owned()), message: message.to_owned() }))
}

/// Names an attached file, whatever of it is given.
fn named(file: &Attachment) -> String {
    let given = [Some(&file.name), file.path.as_ref(), Some(&file.id)];
    given.into_iter().flatten().find(|text| !text.is_empty()).map(ToString::to_string).unwrap_or_default()
}

fn branch(session: &Session, id: &NodeId) -> Option<BranchView> {
    let parent = session.node(id)?.parent_id.as_ref()?;
    let siblings = &session.node(parent)?.children_ids;
    let at = siblings.iter().position(|sibling| sibling == id).filter(|_| siblings.len() > 1)?;
    let name = |at: Option<usize>| at.and_then(|at| siblings.get(at)).map(ToString::to_string);
    let (before, after) = (name(at.checked_sub(1)), name(Some(at + 1)));
    Some(BranchView { at: at + 1, of: siblings.len(), before, after })
}

pub(super) fn figures(session: &Session, id: &str, counter: Counter) -> Option<SummaryFigures> {
    let details = MaskDetails::of(session, id, &counter)?;
    Some(SummaryFigures {
        messages: details.messages,
        original_tokens: details.original_tokens,
        tokens: details.summary_tokens,
        at_millis: details.at_millis,
    })
}

pub(super) fn start(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ctx_types::Role;

    use super::*;

    #[track_caller]
    fn check(text: &str, partial: &str, code: Option<&str>, message: &str) {
        let mut node = Node::new(Role::Assistant, text);
        assert_eq!(split_failure(&node, text), (text, None));
        node.kept.set("partType", serde_json::json!("error"));
        let failure = FailureView { code: code.map(str::to_owned), message: message.to_owned() };
        assert_eq!(split_failure(&node, text), (partial, Some(failure)));
    }

    #[test]
    fn splits_failure_from_partial_reply() {
        check("Half\n\nLLM_ERROR\n- Code: C\n- Message: two\nlines", "Half", Some("C"), "two\nlines");
        check("LLM_ERROR\n- Code: C\n- Message: m", "", Some("C"), "m");
        check("timeout", "", None, "timeout");
    }
}
