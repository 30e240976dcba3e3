//! The tree of a conversation, as commands of a chat speak of it: numbered messages and branches.

use ctx_chat::StepLabel;
use ctx_language::Language;
use ctx_types::session::{Node, NodeId, Session};
use ctx_types::{Content, Role, count_of};

use crate::{lang, show};

/// How much of a message stands in a list, in columns.
const WIDTH: usize = 72;

/// Returns the messages of the active path, oldest first: what is numbered from 1.
pub(super) fn messages(session: &Session) -> Vec<(NodeId, &Node)> {
    let path = session.path().into_iter();
    path.filter_map(|node| Some((node.id.clone()?, node))).collect()
}

/// Lists the messages of the active path.
pub(super) fn list(language: Language, session: &Session) -> String {
    let lines = messages(session).into_iter().enumerate();
    let lines = lines.map(|(index, (_, node))| format!("{:>4}  {}", index + 1, outline(language, node)));
    ended(lines.collect())
}

/// Returns the last messages of all branches, in the order of the file: what is numbered from 1.
pub(super) fn branches(session: &Session) -> Vec<NodeId> {
    let is_leaf = |(id, node): &(&NodeId, &Node)| node.children_ids.is_empty() && *id != session.root_id();
    session.nodes().filter(is_leaf).map(|(id, _)| id.clone()).collect()
}

/// Lists the branches; the active one is marked.
pub(super) fn list_branches(language: Language, session: &Session) -> String {
    let lines = branches(session).into_iter().enumerate().map(|(index, id)| {
        let mark = if id == *session.active_leaf_id() { '*' } else { ' ' };
        let node = session.node(&id);
        format!("{:>4}{mark} {}", index + 1, node.map(|node| outline(language, node)).unwrap_or_default())
    });
    ended(lines.collect())
}

/// Joins lines, each with its end.
fn ended(mut lines: Vec<String>) -> String {
    lines.push(String::new());
    lines.join("\n")
}

/// A message on a line: who speaks it, and how it begins.
pub(super) fn outline(language: Language, node: &Node) -> String {
    let text = node.content.as_ref().map(Content::text).unwrap_or_default();
    let calls = match node.tool_calls.len() {
        0 => String::new(),
        calls => format!("[{}] ", lang::say(language, &count_of!(calls, "call"))),
    };
    show::cut_line(&format!("{:<9} {calls}{}", node.role.unwrap_or_default().as_str(), text.trim()), WIDTH)
}

/// Returns the last message of the user on the active path.
pub(super) fn last_user(session: &Session) -> Option<NodeId> {
    let mut ancestors = session.ancestors(session.active_leaf_id());
    ancestors.find(|(_, node)| node.role == Some(Role::User) && !node.is_summary()).map(|(id, _)| id.clone())
}

/// Returns the node above another one.
pub(super) fn parent(session: &Session, id: &str) -> Option<NodeId> {
    session.node(id)?.parent_id.clone()
}

/// Returns whether the last message says that something failed.
pub(super) fn ends_in_error(session: &Session) -> bool {
    session.node(session.active_leaf_id()).is_some_and(Node::is_error)
}

/// Returns whether the last message is an answer that could go on.
pub(super) fn ends_in_answer(session: &Session) -> bool {
    let node = session.node(session.active_leaf_id());
    node.is_some_and(|node| node.role == Some(Role::Assistant) && node.tool_calls.is_empty())
}

/// The label of the step by which another branch becomes the active one.
pub(super) const SWITCH: &str = StepLabel::SWITCH_BRANCH;
