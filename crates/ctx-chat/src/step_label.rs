//! How the log of a conversation names the steps of a turn.

use ctx_types::Role;

/// The names of steps that turns consist of, in the log of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct StepLabel;

impl StepLabel {
    /// Values of variables were stored.
    pub const KEEP_VARIABLES: &'static str = "keep variables";
    /// A call that has no result got one that says so.
    pub const NOTE_INTERRUPTION: &'static str = "note an interruption";

    const ADD: &'static str = "add ";

    /// Returns the name of the step that adds a message.
    pub fn add(role: Role) -> String {
        format!("{}{role}", Self::ADD)
    }

    /// Returns whether a step adds a message of a role.
    pub fn adds(label: &str, role: Role) -> bool {
        label.strip_prefix(Self::ADD) == Some(role.as_str())
    }

    /// Returns whether a step belongs to the turn that a message of the user began.
    pub fn follows_user(label: &str) -> bool {
        [Self::KEEP_VARIABLES, Self::NOTE_INTERRUPTION].contains(&label)
            || Self::adds(label, Role::Assistant)
            || Self::adds(label, Role::Tool)
    }
}
