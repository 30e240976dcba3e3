//! Sessions: conversations as trees of nodes with an active leaf.

mod node;
mod op;

use std::sync::Arc;

use indexmap::IndexMap;

use crate::persist::noun;

pub use node::{Node, NodeMetadata, StoredToolCall};
pub use op::{NodeEdit, NodePatch, Patch, SessionError, SessionOp};

/// The id of a node, unique within its session.
pub type NodeId = Arc<str>;

/// A conversation: a tree of nodes with an active leaf, in AIO Hub's form.
///
/// A linear conversation is a tree without branches. The tree changes only through [`SessionOp`]s, each of
/// which returns its exact inverse.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Everything beside the tree.
    pub header: SessionHeader,
    nodes: IndexMap<NodeId, Node>,
    root_id: NodeId,
    active_leaf_id: NodeId,
}

noun! {
    /// Everything of a session's file beside its tree.
    pub struct SessionHeader {
        /// The id of the session.
        id: Option<Arc<str>> => "id",
        /// The title shown to people.
        name: Option<Arc<str>> => "name",
    }
}
