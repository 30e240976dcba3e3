//! Operations on existing summaries, each with an exact inverse.

use ctx_types::internal::SummaryAppendix;
use ctx_types::ports::TokenCounter;
use ctx_types::session::{Change, Node, NodeEdit, NodeId, Session, SessionOp};
use ctx_types::{Content, Phrase, Text, phrase};
use serde_json::{Value, json};

use crate::mask::appendix::{body_of, tokens_with};

/// Why an operation on a summary is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum SummaryError {
    /// There is no such node.
    UnknownNode(NodeId),
    /// The node is not a summary.
    NoSummary(NodeId),
    /// The summary has no appendix.
    NoAppendix(NodeId),
    /// The new text is blank.
    Blank,
}

impl SummaryError {
    /// Returns the error as a phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::UnknownNode(id) => phrase!("no node `{id}`", id = id.to_string()),
            Self::NoSummary(id) => phrase!("`{id}` is not a summary", id = id.to_string()),
            Self::NoAppendix(id) => phrase!("`{id}` has no stored facts", id = id.to_string()),
            Self::Blank => {
                phrase!("the summary is blank; to show its messages, disable or delete it")
            }
        }
    }
}

/// Makes the operation that enables or disables a summary.
///
/// ```
/// use ctx_compress::mask::switch_summary;
/// use ctx_types::Role;
/// use ctx_types::session::{Node, Session, SessionOp};
///
/// let (session, _) = Session::linear("s1", [Node::new(Role::User, "hello")]);
/// let error = switch_summary(&session, "n1", false).unwrap_err();
/// assert_eq!(error.to_string(), "`n1` is not a summary");
/// ```
pub fn switch_summary(session: &Session, id: &str, enabled: bool) -> Result<SessionOp, SummaryError> {
    let (id, _) = summary(session, id)?;
    Ok(SessionOp::Toggle { id, enabled })
}

/// Makes the operation that deletes a summary; its messages are sent again.
pub fn delete_summary(session: &Session, id: &str) -> Result<SessionOp, SummaryError> {
    let (id, _) = summary(session, id)?;
    Ok(SessionOp::Remove { id })
}

/// Makes the operation that enables or disables the appendix of a summary.
pub fn switch_appendix(
    session: &Session,
    id: &str,
    is_sent: bool,
    counter: &dyn TokenCounter,
) -> Result<SessionOp, SummaryError> {
    let (id, node) = summary(session, id)?;
    let Some(appendix) = SummaryAppendix::from_node(node) else {
        return Err(SummaryError::NoAppendix(id));
    };
    let appendix = SummaryAppendix { is_sent, ..appendix };
    let mut metadata = node.metadata.clone().unwrap_or_default();
    appendix.write(&mut metadata);
    metadata.kept.set("tokenCount", json!(tokens_with(&body_of(node), Some(&appendix), counter)));
    let edit = NodeEdit { metadata: Change::Set(metadata), ..NodeEdit::default() };
    Ok(SessionOp::Edit { id, edit: Box::new(edit) })
}

/// Makes the operation that changes the text of a summary; its appendix stays.
pub fn edit_summary(
    session: &Session,
    id: &str,
    text: impl Into<Text>,
    counter: &dyn TokenCounter,
) -> Result<SessionOp, SummaryError> {
    let (text, (id, node)) = (text.into(), summary(session, id)?);
    if text.trim().is_empty() {
        return Err(SummaryError::Blank);
    }
    let mut metadata = node.metadata.clone().unwrap_or_default();
    let tokens = tokens_with(&text, SummaryAppendix::from_node(node).as_ref(), counter);
    metadata.kept.set("tokenCount", json!(tokens));
    let mut details = metadata.kept.get("compressionDetails").cloned().unwrap_or_else(|| json!({}));
    if let Value::Object(details) = &mut details {
        details.insert("edited".to_owned(), json!(true));
    }
    metadata.kept.set("compressionDetails", details);
    let edit = NodeEdit {
        content: Change::Set(Content::Text(text)),
        metadata: Change::Set(metadata),
        ..NodeEdit::default()
    };
    Ok(SessionOp::Edit { id, edit: Box::new(edit) })
}

fn summary<'a>(session: &'a Session, id: &str) -> Result<(NodeId, &'a Node), SummaryError> {
    let node = session.node(id).ok_or_else(|| SummaryError::UnknownNode(id.into()))?;
    if node.is_summary() {
        Ok((node.id.clone().unwrap_or_else(|| id.into()), node))
    } else {
        Err(SummaryError::NoSummary(id.into()))
    }
}
