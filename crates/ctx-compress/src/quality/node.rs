//! Reports on the summaries of a session.

use std::collections::HashSet;

use ctx_types::Message;
use ctx_types::session::{Node, NodeId, Session};

use crate::quality::report::QualityReport;

impl QualityReport {
    /// Compares a summary of a session with the messages that it stands for, also through other summaries; `None`
    /// for any other node. O(nodes above it + bytes).
    ///
    /// ```
    /// use ctx_compress::quality::QualityReport;
    /// use ctx_types::Role;
    /// use ctx_types::session::{Node, NodeMetadata, Session};
    ///
    /// let mut summary = Node::new(Role::System, "Ada comes on 6 May.");
    /// summary.metadata = Some(Box::new(NodeMetadata {
    ///     is_compression_node: Some(true),
    ///     compressed_node_ids: vec!["n1".into()],
    ///     ..NodeMetadata::default()
    /// }));
    /// let (session, _) = Session::linear("s1", [Node::new(Role::User, "Our guest Ada comes on 5 May."), summary]);
    /// let report = QualityReport::of_node(&session, "n2").unwrap();
    /// assert_eq!((&*report.lost[0].text, &*report.invented[0].text), ("5 May", "6 May"));
    /// assert!(QualityReport::of_node(&session, "n1").is_none());
    /// ```
    pub fn of_node(session: &Session, id: &str) -> Option<Self> {
        let node = session.node(id).filter(|node| node.is_summary())?;
        let id = node.id.clone()?;
        let message = |id: &NodeId| session.node(id).map(|node: &Node| node.to_message(id));
        let originals: Vec<Message> = original_ids(session, &id).into_iter().filter_map(message).collect();
        Some(Self::of(&originals, &[node.to_message(&id)]))
    }
}

/// Returns the ids of the messages that a summary replaces, also through other summaries, oldest first.
///
/// Ids that are not above the summary are ignored.
pub(crate) fn original_ids<'a>(session: &'a Session, summary: &'a NodeId) -> Vec<&'a NodeId> {
    let above: HashSet<&NodeId> = session.ancestors(summary).map(|(id, _)| id).collect();
    let mut seen: HashSet<&NodeId> = HashSet::from([summary]);
    let mut open = vec![summary];
    let mut found = Vec::new();
    while let Some(node) = open.pop().and_then(|id| session.node(id)) {
        for id in node.summarized_ids().iter().filter(|id| above.contains(id)) {
            if seen.insert(id) {
                match session.node(id).filter(|node| node.is_summary()) {
                    Some(_) => open.push(id),
                    None => found.push(id),
                }
            }
        }
    }
    found.sort_by_key(|id| session.depth(id));
    found
}
