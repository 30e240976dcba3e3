use ctx_types::{Message, Place, Role, SourceKind};

#[derive(Debug, Default)]
pub(crate) struct Question {
    /// The last user message, and the newest results of a running tool loop.
    now: Vec<String>,
    /// The 2 messages before.
    before: Vec<String>,
}

impl Question {
    /// Weight of earlier messages in percent.
    const BEFORE: u64 = 33;

    /// Weight of tool results in percent. Their many words must not displace the user's.
    const RESULT: u64 = 90;

    pub(crate) fn from_messages(messages: &[Message]) -> Self {
        let said: Vec<&Message> = messages.iter().filter(|message| is_said(message)).collect();
        let Some(last) = said.iter().rposition(|message| message.role == Role::User) else {
            return Self::default();
        };
        let text = |message: &&&Message| message.text().into_owned();
        let (before, now) = said.split_at(last);
        let results = now.iter().rev().take_while(|message| message.role == Role::Tool);
        let mut asked: Vec<String> = now.first().iter().map(&text).collect();
        asked.extend(results.map(|message| text(&message)));
        Self { now: asked, before: before.iter().rev().take(2).map(|message| text(&message)).collect() }
    }

    pub(crate) fn now(&self) -> String {
        self.now.join("\n")
    }

    /// Returns the search texts with weights in percent; empty without a question.
    pub(crate) fn parts(&self) -> Vec<(&str, u64)> {
        let weights = std::iter::once(100).chain(std::iter::repeat(Self::RESULT));
        let now = self.now.iter().map(String::as_str).zip(weights);
        let before = self.before.iter().map(|text| (text.as_str(), Self::BEFORE));
        if self.now.iter().all(|text| text.trim().is_empty()) {
            Vec::new()
        } else {
            now.chain(before).collect()
        }
    }
}

/// Checks for a conversation message or the input, excluding summaries.
pub(crate) fn is_said(message: &Message) -> bool {
    message.place == Place::History
        && (message.source.kind.is_history() || message.source.kind == SourceKind::Input)
        && message.source.kind != SourceKind::Summary
}

#[cfg(test)]
mod tests {
    use ctx_types::Source;

    use super::*;

    #[test]
    fn weights_user_then_results_then_older_messages() {
        let said = |(role, text): (Role, &str)| Message::new(role, text, Source::history("n", role));
        let messages = [
            (Role::User, "older"),
            (Role::Assistant, "an answer"),
            (Role::User, "a question"),
            (Role::Assistant, "a call"),
            (Role::Tool, "a result"),
            (Role::Tool, "another"),
        ];
        let question = Question::from_messages(&messages.map(said));
        let expected =
            [("a question", 100), ("another", 90), ("a result", 90), ("an answer", 33), ("older", 33)];
        assert_eq!(question.parts(), expected);
    }
}
