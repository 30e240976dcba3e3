//! How the log of a conversation names the steps of a turn.

use ctx_types::session::History;
use ctx_types::{Phrase, Role, count_of, phrase};

/// The names of steps that turns consist of, in the log of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct StepLabel;

impl StepLabel {
    /// Values of variables were stored.
    pub const KEEP_VARIABLES: &'static str = "keep variables";
    /// A call that has no result got one that says so.
    pub const NOTE_INTERRUPTION: &'static str = "note an interruption";

    /// Another branch becomes the active one.
    pub const SWITCH_BRANCH: &'static str = "switch the branch";
    /// A summary replaces messages.
    pub const SUMMARIZE: &'static str = "summarise";
    /// The last reply grows.
    pub const CONTINUE: &'static str = "continue the reply";

    const ADD: &'static str = "add ";

    /// Returns the name of the step that adds a message.
    pub fn add(role: Role) -> String {
        format!("{}{role}", Self::ADD)
    }

    /// Returns the name of the step that makes a summary of so many messages and summaries.
    pub fn compress(messages: usize, summaries: usize) -> String {
        Self::compressing(messages, summaries).to_string()
    }

    fn compressing(messages: usize, summaries: usize) -> Phrase {
        let named = match summaries {
            1 => phrase!("1 summary"),
            count => phrase!("{count} summaries", count),
        };
        let counted = count_of!(messages, "message");
        match (messages, summaries) {
            (_, 0) => phrase!("compress {messages}", messages = counted),
            (0, _) => phrase!("join {summaries}", summaries = named),
            _ => phrase!("compress {messages} and {summaries}", messages = counted, summaries = named),
        }
    }

    /// Reads a name from a log. It becomes a phrase that has a translation, if a step of this workspace has it.
    pub fn phrase(label: &str) -> Phrase {
        match label {
            Self::KEEP_VARIABLES => return Phrase::from(Self::KEEP_VARIABLES),
            Self::NOTE_INTERRUPTION => return Phrase::from(Self::NOTE_INTERRUPTION),
            Self::SWITCH_BRANCH => return Phrase::from(Self::SWITCH_BRANCH),
            Self::SUMMARIZE => return Phrase::from(Self::SUMMARIZE),
            Self::CONTINUE => return Phrase::from(Self::CONTINUE),
            _ => {}
        }
        let (verb, rest) = label.split_once(' ').unwrap_or_default();
        let numbers = rest.split(' ').filter_map(|word| word.parse().ok()).collect::<Vec<usize>>();
        let compressed = match numbers.as_slice() {
            [count] => [(*count, 0), (0, *count)].into(),
            [messages, summaries] => vec![(*messages, *summaries)],
            _ => Vec::new(),
        };
        let compressed =
            compressed.into_iter().map(|(messages, summaries)| Self::compressing(messages, summaries));
        if let Some(phrase) = compressed.into_iter().find(|phrase| *phrase == label) {
            return phrase;
        }
        let facts = rest.strip_prefix("facts of ");
        match (verb, facts) {
            ("add", _) if Role::parse(rest).is_some() => phrase!("add {role}", role = rest),
            ("enable", Some(id)) => phrase!("enable facts of {id}", id),
            ("disable", Some(id)) => phrase!("disable facts of {id}", id),
            ("enable", None) => phrase!("enable {id}", id = rest),
            ("disable", None) => phrase!("disable {id}", id = rest),
            ("delete", _) => phrase!("delete {id}", id = rest),
            ("edit", _) => phrase!("edit {id}", id = rest),
            ("write", _) if rest.ends_with(" again") => {
                phrase!("write {id} again", id = rest.trim_end_matches(" again"))
            }
            _ => Phrase::verbatim(label),
        }
    }

    /// Returns whether a step adds a message of a role.
    fn adds(label: &str, role: Role) -> bool {
        label.strip_prefix(Self::ADD) == Some(role.as_str())
    }

    /// Counts the steps to undo together: a turn with the step to its branch, or one change.
    pub fn count_undo(history: &History) -> usize {
        let mut labels = history.undoable().iter().rev().map(|entry| &*entry.label).peekable();
        let mut steps = 0;
        while labels.next_if(|label| Self::follows_user(label)).is_some() {
            steps += 1;
        }
        let is_asked = labels.next_if(|label| Self::adds(label, Role::User)).is_some();
        steps += usize::from(is_asked);
        let is_branch = steps > 0 && labels.next_if_eq(&Self::SWITCH_BRANCH).is_some();
        steps += usize::from(is_branch);
        if steps == 0 { usize::from(labels.peek().is_some()) } else { steps }
    }

    /// Counts the steps to redo together.
    pub fn count_redo(history: &History) -> usize {
        let mut labels = history.redoable().iter().rev().map(|entry| &*entry.label).peekable();
        let is_branch = labels.next_if_eq(&Self::SWITCH_BRANCH).is_some();
        let is_asked = labels.next_if(|label| Self::adds(label, Role::User)).is_some();
        let mut steps = usize::from(is_branch) + usize::from(is_asked);
        while labels.next_if(|label| Self::follows_user(label)).is_some() {
            steps += 1;
        }
        if steps == 0 { usize::from(labels.peek().is_some()) } else { steps }
    }

    /// Returns whether a step belongs to the turn that a message of the user began.
    fn follows_user(label: &str) -> bool {
        [Self::KEEP_VARIABLES, Self::NOTE_INTERRUPTION].contains(&label)
            || Self::adds(label, Role::Assistant)
            || Self::adds(label, Role::Tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_of_steps_back() {
        let made = [StepLabel::add(Role::User), StepLabel::compress(1, 0), StepLabel::compress(0, 2)];
        let made = made.into_iter().chain([StepLabel::compress(3, 1), StepLabel::SWITCH_BRANCH.to_owned()]);
        let others =
            ["enable s1", "disable facts of s 1", "delete s1", "edit agent", "write s1 again", "summarise"];
        for label in made.chain(others.map(str::to_owned)) {
            let phrase = StepLabel::phrase(&label);
            assert_eq!(phrase, label);
            assert!(!phrase.is_verbatim(), "{label}");
        }
    }

    #[test]
    fn leaves_names_of_other_programs() {
        for label in ["", "add", "add agent", "compress 3 files", "write s1", "error", "输入 文字"] {
            let phrase = StepLabel::phrase(label);
            assert!(phrase == label && phrase.is_verbatim(), "{label}");
        }
    }
}
