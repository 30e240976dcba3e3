//! A conversation that grows: its messages cross the border to another language once.

use std::collections::HashMap;

use ctx_engine::{TurnCache, read_conversation};
use ctx_preset_import::{Document, Limits, conversation_of};
use ctx_types::session::{Node, NodeId, Session, SessionOp};
use ctx_types::{Content, Diagnostic, Persist as _, Reader, Role, Text};
use serde_json::{Value, json};

use crate::error::OperationError;
use crate::fit::Fitters;
use crate::given::Given;

/// A conversation, and what its turns keep for each other.
#[derive(Debug)]
pub struct Conversation {
    pub(crate) session: Session,
    pub(crate) memory: TurnCache,
    pub(crate) found: Vec<Diagnostic>,
    pub(crate) fitters: Fitters,
    count: usize,
    /// How long the branch was when the file was read, and how many messages the file had on all of them.
    read: (usize, usize),
}

impl Default for Conversation {
    fn default() -> Self {
        Self::of(Session::new("session"), Vec::new())
    }
}

impl Conversation {
    /// Reads a conversation in any form of files: a list of messages, a session, a chat.
    ///
    /// Errors: it is none, or it cannot be read.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self, OperationError> {
        let read = read_conversation(bytes, name);
        let read = read.map_err(|error| OperationError::of_document(&error, name, bytes))?;
        Ok(Self::of(read.value, read.diagnostics))
    }

    /// As [`read`](Self::read), of what an operation is given.
    pub fn of_given(value: &Value) -> Result<Self, OperationError> {
        let Given { name, bytes } = Given::read(value, "session")?;
        Self::read(&bytes, &name)
    }

    fn of(session: Session, found: Vec<Diagnostic>) -> Self {
        let count = session.nodes().filter(|(id, _)| *id != session.root_id()).count();
        let (memory, fitters) = (TurnCache::default(), Fitters::default());
        let read = (session.depth(session.active_leaf_id()).unwrap_or(0), count);
        Self { session, memory, found, fitters, count, read }
    }

    /// Adds messages, a list as chat completions have it, behind the last one; returns how many there are now.
    ///
    /// Those without an id get the one that they would have had if all messages had been given at once.
    pub fn extend(&mut self, messages: Value) -> Result<usize, OperationError> {
        let name = if self.is_empty() { "session.json" } else { "messages.json" };
        let document = Document::of_value(messages);
        let read = document.and_then(|document| conversation_of(document, name));
        let read = read.map_err(|error| OperationError::of_document(&error, name, &[]))?;
        self.join(read.value, read.diagnostics)
    }

    /// Adds messages that have a role and a text and nothing else, as [`extend`](Self::extend) does, without JSON in
    /// between.
    ///
    /// Errors: more messages than a document may have, or a result of a tool, which names the call that it answers.
    pub fn extend_texts(&mut self, messages: Vec<(Role, Text)>) -> Result<usize, OperationError> {
        // An object, and two texts in it.
        if messages.len() > Limits::default().json_nodes / 3 {
            return Err(OperationError::usage(format_args!("{} messages exceed the limit", messages.len())));
        }
        if messages.iter().any(|(role, _)| *role == Role::Tool) {
            return Err(OperationError::usage("cannot add a tool result without its tool call id"));
        }
        // What is written of a message is what would be if it had been read.
        let read =
            |role: Role| Node::read(json!({ "role": role.as_str(), "content": "" }), &mut Reader::new());
        let mut read_nodes = HashMap::new();
        let node = |(role, text)| {
            let node = read_nodes.entry(role).or_insert_with(|| read(role)).clone();
            Node { content: Some(Content::Text(text)), ..node }
        };
        let (session, found) = Session::linear("session", messages.into_iter().map(node));
        self.join(session, found)
    }

    /// Adds the messages of a session without branches.
    fn join(&mut self, read: Session, found: Vec<Diagnostic>) -> Result<usize, OperationError> {
        if self.is_empty() {
            *self = Self::of(read, found);
            return Ok(self.count);
        }
        self.found.extend(found);
        let root = read.root_id().clone();
        let new = read.nodes().filter(|(id, _)| **id != root);
        for (place, (id, node)) in new.enumerate() {
            let is_ours = **id == *format!("n{}", place + 1);
            let id = if is_ours { self.free_id() } else { self.unused(id) };
            let mut node = node.clone().with_id(id);
            (node.parent_id, node.children_ids, node.last_selected_child_id) = (None, Vec::new(), None);
            let parent = self.session.active_leaf_id().clone();
            let added = self.session.apply(&SessionOp::Append { parent, node: Box::new(node) });
            added.map_err(|error| OperationError::usage(error.phrase()))?;
            self.count += 1;
        }
        Ok(self.count)
    }

    /// Applies the `effects` of a turn whose request was sent: variables, timed effects, and the record of an append-only
    /// request.
    ///
    /// Errors: the value is not a list of operations, or one of them does not fit the conversation. Then nothing changes.
    pub fn apply(&mut self, effects: Value) -> Result<(), OperationError> {
        let effects: Vec<SessionOp> = serde_json::from_value(effects).map_err(OperationError::usage)?;
        let mut session = self.session.clone();
        for effect in &effects {
            session.apply(effect).map_err(|error| OperationError::usage(error.phrase()))?;
        }
        self.count = session.nodes().filter(|(id, _)| *id != session.root_id()).count();
        self.session = session;
        Ok(())
    }

    fn free_id(&self) -> NodeId {
        let numbered = (self.count + 1..).map(|number| NodeId::from(format!("n{number}")));
        let mut free = numbered.filter(|id| self.session.node(id).is_none());
        free.next().unwrap_or_else(|| NodeId::from(""))
    }

    fn unused(&self, id: &NodeId) -> NodeId {
        if self.session.node(id).is_some() { self.free_id() } else { id.clone() }
    }

    /// Returns how many messages there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of a message, from 0: its place in the list that was given, or on its branch; one that was added
    /// later has that behind all messages of the file.
    pub fn number(&self, id: &str) -> Option<usize> {
        let (depth, (length, count)) = (self.session.depth(id)?, self.read);
        let added = depth.saturating_sub(length);
        if added == 0 { depth.checked_sub(1) } else { (count + added).checked_sub(1) }
    }

    /// Writes the conversation as a session file holds it, and what was found while reading it.
    pub fn to_json(&self) -> Value {
        json!({ "session": self.session.write(), "findings": self.found })
    }
}
