//! The draft: what a run has made so far.

use std::sync::Arc;

use ctx_types::{Decision, Injection, Message, SessionOp};

/// What a run has made so far. Copy-on-write: a copy is O(1), and what is then changed is copied once.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    messages: Arc<Vec<Message>>,
    injections: Arc<Vec<Injection>>,
    effects: Arc<Vec<SessionOp>>,
    decisions: Arc<Vec<Decision>>,
}

impl Draft {
    /// Returns the messages.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the messages, to be changed.
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.messages)
    }

    /// Takes the messages out; for processors that make a new list of them. O(1) unless they are shared.
    pub fn take_messages(&mut self) -> Vec<Message> {
        Arc::unwrap_or_clone(std::mem::take(&mut self.messages))
    }

    /// Sets the messages.
    pub fn set_messages(&mut self, messages: Vec<Message>) {
        self.messages = Arc::new(messages);
    }

    /// Returns what waits to be placed by the assembler.
    pub fn injections(&self) -> &[Injection] {
        &self.injections
    }

    /// Hands the assembler something to place; later stages place nothing.
    pub fn inject(&mut self, injection: Injection) {
        Arc::make_mut(&mut self.injections).push(injection);
    }

    /// Takes the injections out, to be placed.
    pub fn take_injections(&mut self) -> Vec<Injection> {
        Arc::unwrap_or_clone(std::mem::take(&mut self.injections))
    }

    /// Returns what the host commits when it sends.
    pub fn effects(&self) -> &[SessionOp] {
        &self.effects
    }

    /// Adds something that the host commits when it sends.
    pub fn effect(&mut self, op: SessionOp) {
        Arc::make_mut(&mut self.effects).push(op);
    }

    /// Returns what was decided so far.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Records what became of something, and why.
    pub fn decide(&mut self, decision: Decision) {
        Arc::make_mut(&mut self.decisions).push(decision);
    }

    /// Records several decisions.
    pub fn decide_all(&mut self, decisions: impl IntoIterator<Item = Decision>) {
        let mut decisions = decisions.into_iter().peekable();
        if decisions.peek().is_some() {
            Arc::make_mut(&mut self.decisions).extend(decisions);
        }
    }

    /// Tells whether two drafts have the very same messages, without looking at them.
    pub(crate) fn shares_messages_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.messages, &other.messages)
    }
}
