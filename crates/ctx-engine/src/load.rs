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
        if let Some(reason) = reason_against(&shown.state, &message) {
            left_out.add(message, reason, decisions);
        } else {
            left_out.flush(decisions);
            messages.push(message);
        }
    }
    left_out.flush(decisions);
    messages.extend(pending_input(turn));
    settle_prefix(turn, &mut messages);
    messages
}

/// Tells why a message of the path is not sent, if it is not. A blank result of a tool is a result.
fn reason_against(state: &DisplayState, message: &Message) -> Option<(Outcome, String)> {
    match state {
        DisplayState::Visible if message.is_blank() && message.role != Role::Tool => {
            Some((Outcome::Dropped, "it is blank".to_owned()))
        }
        DisplayState::Visible => None,
        DisplayState::Hidden { by } => Some((Outcome::Hidden, format!("the summary `{by}` stands for it"))),
        DisplayState::Disabled => Some((Outcome::Hidden, "it is switched off".to_owned())),
    }
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

/// Only the last message can be the prefix of the next answer: one that was left unfinished, or any answer
/// where the turn continues it.
fn settle_prefix(turn: &TurnInput, messages: &mut [Message]) {
    let Some((last, earlier)) = messages.split_last_mut() else { return };
    for message in earlier {
        message.is_continuation_prefix = false;
    }
    let is_answer =
        last.role == Role::Assistant && last.tool_calls.is_empty() && last.source.kind == SourceKind::History;
    let continues = turn.kind == GenerationKind::Continue || last.is_continuation_prefix;
    last.is_continuation_prefix = is_answer && continues;
}

fn pending_input(turn: &TurnInput) -> Option<Message> {
    let input = turn.input.clone().filter(|input| !input.trim().is_empty())?;
    Some(Message::new(Role::User, input, Source::new(SourceKind::Input, Trust::User)))
}
