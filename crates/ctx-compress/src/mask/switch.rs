//! Operations on summaries that are there: each is one step, with an exact inverse.

use ctx_types::{Change, Content, Node, NodeEdit, NodeId, Session, SessionOp, Text, TokenCounter};
use serde_json::{Value, json};

use crate::mask::accept::FRAME;
use crate::mask::appendix;

/// Why an operation on a summary makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// There is no such node.
    #[error("no node `{id}`")]
    UnknownNode {
        /// The id.
        id: NodeId,
    },
    /// The node is no summary.
    #[error("`{id}` is no summary")]
    NoSummary {
        /// The id.
        id: NodeId,
    },
    /// The new text is blank: what the summary stands for would be lost.
    #[error("a summary cannot be blank; switch it off or delete it to show its messages")]
    Blank,
}

/// Makes the operation that switches a summary on, so that it hides what it stands for, or off.
///
/// ```
/// use ctx_compress::mask::switch_summary;
/// use ctx_types::{Node, Role, Session, SessionOp};
///
/// let (session, _) = Session::linear("s1", [Node::new(Role::User, "hello")]);
/// let error = switch_summary(&session, "n1", false).unwrap_err();
/// assert_eq!(error.to_string(), "`n1` is no summary");
/// ```
pub fn switch_summary(session: &Session, id: &str, enabled: bool) -> Result<SessionOp, SummaryError> {
    let (id, _) = summary(session, id)?;
    Ok(SessionOp::Toggle { id, enabled })
}

/// Makes the operation that deletes a summary, so that what it stands for shows again.
pub fn delete_summary(session: &Session, id: &str) -> Result<SessionOp, SummaryError> {
    let (id, _) = summary(session, id)?;
    Ok(SessionOp::Remove { id })
}

/// Makes the operation that gives a summary other words; what it stands for stays.
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
    metadata.kept.set("tokenCount", json!(u64::from(counter.count_text(&text)) + FRAME));
    let mut details = metadata.kept.get("compressionDetails").cloned().unwrap_or_else(|| json!({}));
    if let Value::Object(details) = &mut details {
        details.insert("edited".to_owned(), json!(true));
    }
    metadata.kept.set("compressionDetails", details);
    let facts: Vec<_> = appendix::read(node).into_iter().filter(|fact| text.contains(&fact.text)).collect();
    appendix::write(&facts, &mut metadata.kept);
    let edit = NodeEdit {
        content: Change::Set(Content::Text(text)),
        metadata: Change::Set(metadata),
        ..NodeEdit::default()
    };
    Ok(SessionOp::Edit { id, edit: Box::new(edit) })
}

fn summary<'a>(session: &'a Session, id: &str) -> Result<(NodeId, &'a Node), SummaryError> {
    let node = session.node(id).ok_or_else(|| SummaryError::UnknownNode { id: id.into() })?;
    match node.is_summary() {
        true => Ok((node.id.clone().unwrap_or_else(|| id.into()), node)),
        false => Err(SummaryError::NoSummary { id: id.into() }),
    }
}
