//! The greetings of an agent, with which a new conversation may begin.

use ctx_types::{Content, Node, NodeMetadata, Role, Session, Text};

use crate::commands::chat::setup::Setup;

/// A greeting, its macros expanded.
pub(super) struct Greeting {
    name: Option<String>,
    text: Text,
    role: Role,
}

/// Returns the greetings of the agent that say anything.
pub(super) fn all(setup: &Setup) -> Vec<Greeting> {
    let greetings = setup.chat.agent.agent().greetings.iter();
    let greetings = greetings.map(|greeting| {
        let text = greeting.content.as_ref().map(Content::text).unwrap_or_default();
        // Nothing was said yet that macros could speak of.
        let turn = setup.chat.request("").turn.with(|turn| turn.input = Some(text.as_ref().into()));
        let prepared = setup.chat.agent.prepare_input(&Session::new("greeting"), &turn);
        let name = greeting.name.as_deref().map(str::to_owned);
        Greeting { name, text: prepared.text, role: greeting.role.unwrap_or(Role::Assistant) }
    });
    greetings.filter(|greeting| !greeting.text.trim().is_empty()).collect()
}

impl Greeting {
    /// Returns what is said.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns what it is called, else how it begins.
    pub(super) fn title(&self) -> &str {
        let first = self.text.trim().lines().next().unwrap_or_default();
        self.name.as_deref().unwrap_or(first)
    }

    /// Makes the message with which the conversation begins.
    pub(super) fn into_node(self) -> Node {
        let metadata = NodeMetadata { is_greeting: Some(true), ..NodeMetadata::default() };
        let mut node = Node::new(self.role, self.text);
        node.metadata = Some(Box::new(metadata));
        node
    }
}
