use std::sync::Arc;

use ctx_macros::{Limits, State};
use ctx_types::report::Decision;
use ctx_types::session::SessionOp;
use ctx_types::{Injection, Message};

/// Result of a run so far. Copy-on-write: a clone is O(1), and a change copies only the list and the changed
/// messages.
///
/// ```
/// use ctx_pipeline::Draft;
/// use ctx_types::{Message, Role, Source};
///
/// let mut draft = Draft::default();
/// let saved = draft.clone();
/// draft.messages_mut().push(Message::new(Role::User, "Hello", Source::history("n1", Role::User)));
/// assert_eq!((saved.messages().len(), draft.messages().len()), (0, 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Draft {
    messages: Arc<Vec<Message>>,
    injections: Arc<Vec<Injection>>,
    macros: Option<Arc<State>>,
    effects: Arc<Vec<SessionOp>>,
    decisions: Arc<Vec<Decision>>,
    repaired: Option<Arc<Vec<Message>>>,
}

impl Draft {
    /// Returns the messages.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the mutable messages.
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.messages)
    }

    /// Takes the messages, to build a new list. O(1) unless they are shared.
    pub fn take_messages(&mut self) -> Vec<Message> {
        Arc::unwrap_or_clone(std::mem::take(&mut self.messages))
    }

    /// Sets the messages.
    pub fn set_messages(&mut self, messages: Vec<Message>) {
        self.messages = Arc::new(messages);
    }

    /// Sets messages with repaired tool calls and results.
    ///
    /// The check for message groups compares with these messages instead of the processor's input. Report
    /// everything removed or added here.
    pub fn repair_pairs(&mut self, messages: Vec<Message>) {
        self.set_messages(messages);
        self.repaired = Some(self.messages.clone());
    }

    pub(crate) fn take_repaired(&mut self) -> Option<Arc<Vec<Message>>> {
        self.repaired.take()
    }

    /// Returns injections that the assembler has not placed yet.
    pub fn injections(&self) -> &[Injection] {
        &self.injections
    }

    /// Adds an injection. Processors after the assembler cannot inject.
    pub fn inject(&mut self, injection: Injection) {
        Arc::make_mut(&mut self.injections).push(injection);
    }

    /// Takes the injections.
    pub fn take_injections(&mut self) -> Vec<Injection> {
        Arc::unwrap_or_clone(std::mem::take(&mut self.injections))
    }

    /// Returns the macro state of the run; `None` before the first expansion.
    pub fn macros(&self) -> Option<&State> {
        self.macros.as_deref()
    }

    /// Returns the mutable macro state; creates it with default limits.
    pub fn macros_mut(&mut self) -> &mut State {
        Arc::make_mut(self.macros.get_or_insert_with(|| Arc::new(State::new(Limits::default()))))
    }

    /// Sets the macro state, for hosts with custom variables or limits.
    pub fn set_macros(&mut self, macros: State) {
        self.macros = Some(Arc::new(macros));
    }

    /// Returns operations to apply when the context is sent.
    pub fn effects(&self) -> &[SessionOp] {
        &self.effects
    }

    /// Adds an operation to apply when the context is sent.
    pub fn effect(&mut self, op: SessionOp) {
        Arc::make_mut(&mut self.effects).push(op);
    }

    /// Returns the decisions so far.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Records a decision.
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

    pub(crate) fn shares_messages_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.messages, &other.messages)
    }
}
