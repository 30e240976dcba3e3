//! The draft: what a run has made so far.

use std::sync::Arc;

use ctx_macros::{Limits, State};
use ctx_types::{Decision, Injection, Message, SessionOp};

/// What a run has made so far. Copy-on-write: a copy is O(1), and what is then changed is copied once: a list of
/// messages takes 8 bytes for each, and of the messages only those are copied in which something changes.
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
    /// What a stage began from, if it put calls and results right first.
    repaired: Option<Arc<Vec<Message>>>,
}

impl Draft {
    /// Begins with messages; for those that are appended after an assembly.
    pub fn of_messages(messages: Vec<Message>) -> Self {
        Self { messages: Arc::new(messages), ..Self::default() }
    }

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

    /// Sets messages whose calls and results were put right; for processors that repair what providers refuse.
    ///
    /// The check that no stage separates a group takes these for what the stage began with: a second result that
    /// is left out on purpose is no loss. Everything that is left out or added here has to be reported.
    pub fn repair_pairs(&mut self, messages: Vec<Message>) {
        self.set_messages(messages);
        self.repaired = Some(self.messages.clone());
    }

    /// Takes what a stage began from, if it put calls and results right first.
    pub(crate) fn take_repaired(&mut self) -> Option<Arc<Vec<Message>>> {
        self.repaired.take()
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

    /// Returns the macro state of the run, if any macro was expanded yet.
    pub fn macros(&self) -> Option<&State> {
        self.macros.as_deref()
    }

    /// Returns the one macro state of the run, to expand with; it begins with the default limits.
    pub fn macros_mut(&mut self) -> &mut State {
        Arc::make_mut(self.macros.get_or_insert_with(|| Arc::new(State::new(Limits::default()))))
    }

    /// Sets the macro state; for hosts that begin with variables or limits of their own.
    pub fn set_macros(&mut self, macros: State) {
        self.macros = Some(Arc::new(macros));
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
        let decisions: Vec<Decision> = decisions.into_iter().collect();
        if decisions.is_empty() {
            return;
        }
        if Arc::get_mut(&mut self.decisions).is_none() {
            // Copied with room for all, so that nothing is copied twice.
            let mut copy = Vec::with_capacity(self.decisions.len() + decisions.len());
            copy.extend_from_slice(&self.decisions);
            self.decisions = Arc::new(copy);
        }
        Arc::make_mut(&mut self.decisions).extend(decisions);
    }

    /// Returns whether two drafts have the very same messages, without looking at them.
    pub(crate) fn shares_messages_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.messages, &other.messages)
    }
}
