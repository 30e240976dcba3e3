//! The conversation as messages: what is hidden, switched off or blank stays out, with a reason.

use ctx_types::{
    Decision, DisplayState, GenerationKind, Message, Outcome, Role, Session, Source, SourceKind, Trust,
    TurnInput, display_path,
};

/// Reads the messages of the active path and of the turn's input, oldest first.
///
/// O(nodes of the path); texts are shared with the session.
pub(crate) fn load(session: &Session, turn: &TurnInput, decisions: &mut Vec<Decision>) -> Vec<Message> {
    let mut left_out = LeftOut::default();
    let mut messages = Vec::new();
    for shown in display_path(session, &[]) {
        let message = shown.node.to_message(shown.id);
        let reason = match &shown.state {
            DisplayState::Visible if message.is_blank() => (Outcome::Dropped, "it is blank".to_owned()),
            DisplayState::Visible => {
                messages.push(message);
                continue;
            }
            DisplayState::Hidden { by } => (Outcome::Hidden, format!("the summary `{by}` stands for it")),
            DisplayState::Disabled => (Outcome::Hidden, "it is switched off".to_owned()),
        };
        left_out.add(message, reason, decisions);
    }
    left_out.flush(decisions);
    continue_last(turn, &mut messages);
    messages.extend(pending_input(turn));
    messages
}

/// Neighbouring messages that are left out for the same reason, as one decision.
#[derive(Default)]
struct LeftOut(Option<Decision>);

impl LeftOut {
    fn add(&mut self, message: Message, (outcome, reason): (Outcome, String), decisions: &mut Vec<Decision>) {
        let bytes = message.content.len();
        if let Some(run) = &mut self.0
            && run.outcome == outcome
            && run.reason == reason
        {
            run.count += 1;
            run.bytes = run.bytes.map(|sum| sum + bytes);
            return;
        }
        self.flush(decisions);
        let mut run = Decision::new(outcome, message.source, reason);
        run.bytes = Some(bytes);
        self.0 = Some(run);
    }

    fn flush(&mut self, decisions: &mut Vec<Decision>) {
        decisions.extend(self.0.take());
    }
}

/// A turn that continues makes the last answer the prefix of the next one.
fn continue_last(turn: &TurnInput, messages: &mut [Message]) {
    if let (GenerationKind::Continue, None, Some(last)) = (turn.kind, &turn.input, messages.last_mut())
        && last.is_finished_answer()
    {
        last.is_continuation_prefix = true;
    }
}

fn pending_input(turn: &TurnInput) -> Option<Message> {
    let input = turn.input.clone().filter(|input| !input.trim().is_empty())?;
    Some(Message::new(Role::User, input, Source::new(SourceKind::Input, Trust::User)))
}
