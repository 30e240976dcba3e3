//! Greetings of an agent, with which a new conversation may start.

use ctx_types::session::{Node, NodeMetadata, Session};
use ctx_types::{Content, Role, Text};

use super::ChatSetup;

/// A greeting with expanded macros.
#[derive(Clone, Debug)]
pub struct Greeting {
    /// Title in the agent.
    pub name: Option<String>,
    /// The expanded text.
    pub text: Text,
    /// Role of the message.
    pub role: Role,
}

impl ChatSetup {
    /// Returns the greetings of the agent that have a text.
    pub fn greetings(&self) -> Vec<Greeting> {
        let greetings = self.agent.agent().greetings.iter();
        let greetings = greetings.map(|greeting| {
            let text = greeting.content.as_ref().map(Content::text).unwrap_or_default();
            // The conversation has no messages yet that macros could use.
            let turn = self.request("").turn.with(|turn| turn.input = Some(text.as_ref().into()));
            let prepared = self.agent.prepare_input(&Session::new("greeting"), &turn);
            let name = greeting.name.as_deref().map(str::to_owned);
            Greeting { name, text: prepared.text, role: greeting.role.unwrap_or(Role::Assistant) }
        });
        greetings.filter(|greeting| !greeting.text.trim().is_empty()).collect()
    }
}

impl Greeting {
    /// Returns the title, or the first line of the text.
    pub fn title(&self) -> &str {
        let first = self.text.trim().lines().next().unwrap_or_default();
        self.name.as_deref().unwrap_or(first)
    }

    /// Builds the first message of a conversation.
    pub fn into_node(self) -> Node {
        let metadata = NodeMetadata { is_greeting: Some(true), ..NodeMetadata::default() };
        let mut node = Node::new(self.role, self.text);
        node.metadata = Some(Box::new(metadata));
        node
    }
}
