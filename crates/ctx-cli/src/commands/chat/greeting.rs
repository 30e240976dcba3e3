//! The greetings of an agent, with which a new conversation may begin.

use ctx_project::error::{ProjectError, Result};
use ctx_types::session::{Node, NodeMetadata, Session};
use ctx_types::{Content, Role, Text, count_of, phrase};

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

/// Checks the number of a greeting. 0 means without a greeting. Returns a usage error if there are fewer greetings.
pub(super) fn check_number(number: usize, count: usize) -> Result<usize, ProjectError> {
    if number <= count {
        return Ok(number);
    }
    let greetings = count_of!(count, "greeting");
    Err(ProjectError::Usage(phrase!("no greeting {number}; the agent has {greetings}", number, greetings)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(number: usize, count: usize, expected: Result<usize, &str>) {
        let checked = check_number(number, count).map_err(|error| error.to_string());
        assert_eq!(checked, expected.map_err(str::to_owned));
    }

    #[test]
    fn rejects_missing_greeting() {
        check(0, 0, Ok(0));
        check(2, 2, Ok(2));
        check(3, 2, Err("no greeting 3; the agent has 2 greetings"));
        check(9, 1, Err("no greeting 9; the agent has 1 greeting"));
        check(1, 0, Err("no greeting 1; the agent has 0 greetings"));
    }
}
