//! Slash commands of a chat.

use ctx_chat::Mode;
use ctx_types::{Phrase, phrase};

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    /// Lists the commands.
    Help,
    /// Ends the chat.
    Quit,
    /// Undoes the latest turn or change.
    Undo,
    /// Redoes the latest undone turn or change.
    Redo,
    /// Replaces the last user message on a new branch.
    Edit(String),
    /// Continues from an earlier message by its number. Without a number, lists the messages.
    Branch(Option<usize>),
    /// Switches to another branch by its number. Without a number, lists the branches.
    Switch(Option<usize>),
    /// Generates another reply.
    Regenerate,
    /// Retries a failed turn.
    Retry,
    /// Continues the last reply.
    Continue,
    /// Compacts older messages.
    Compress,
    /// Shows the context of the next request.
    Context,
    /// Lists the allowed tools.
    Tools,
    /// Sets the mode. Without a mode, shows it.
    Mode(Option<Mode>),
}

impl Slash {
    /// Returns whether the command can change the conversation.
    pub(super) const fn is_change(&self) -> bool {
        match self {
            Self::Help | Self::Quit | Self::Context | Self::Tools | Self::Mode(_) => false,
            Self::Branch(number) | Self::Switch(number) => number.is_some(),
            Self::Undo | Self::Redo | Self::Edit(_) | Self::Regenerate | Self::Retry => true,
            Self::Continue | Self::Compress => true,
        }
    }
}

/// Commands with their help.
pub(super) const HELP: &[(&str, &str)] = &[
    ("/undo", "undo the last turn or change"),
    ("/redo", "redo the last undone turn or change"),
    ("/edit TEXT", "replace your last message with TEXT, on a new branch"),
    ("/branch [N]", "continue from message N on a new branch; without N, list the messages"),
    ("/switch [N]", "switch to branch N; without N, list the branches"),
    ("/regenerate", "generate another reply, on a new branch"),
    ("/retry", "retry the failed request"),
    ("/continue", "continue the last reply"),
    ("/compress", "summarize older messages with the model"),
    ("/context", "show the messages of the next request, with reasons"),
    ("/tools", "list the tools that the model can call"),
    ("/mode [MODE]", "set the mode (chat, agent, or run); without MODE, show it"),
    ("/help", "show this list"),
    ("/quit", "quit; end of input also quits"),
];

/// Parses a line. Returns `None` for a message. A message that starts with `/` is written with `//`. A pasted text with
/// several lines is a message, except for `/edit`.
pub(super) fn parse(line: &str) -> Option<Result<Slash, Phrase>> {
    let command = line.trim().strip_prefix('/').filter(|rest| !rest.starts_with('/'))?;
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    if command.contains('\n') && name != "edit" {
        return None;
    }
    Some(read(name, rest.trim()))
}

/// Removes the escape of a message that starts with `/`.
pub(super) fn message(line: &str) -> &str {
    let line = line.trim_end_matches(['\r', '\n']);
    if line.starts_with("//") { &line[1..] } else { line }
}

fn read(name: &str, rest: &str) -> Result<Slash, Phrase> {
    let plain =
        |slash| if rest.is_empty() { Ok(slash) } else { Err(phrase!("`/{name}` takes no arguments", name)) };
    let number = || match rest {
        "" => Ok(None),
        rest => rest
            .parse()
            .map(Some)
            .map_err(|_| phrase!("`/{name}` takes a number from the list, not `{rest}`", name, rest)),
    };
    match name {
        "help" => plain(Slash::Help),
        "quit" | "exit" => plain(Slash::Quit),
        "undo" => plain(Slash::Undo),
        "redo" => plain(Slash::Redo),
        "edit" if rest.is_empty() => Err(phrase!("`/edit` needs the new text")),
        "edit" => Ok(Slash::Edit(rest.to_owned())),
        "branch" => number().map(Slash::Branch),
        "switch" => number().map(Slash::Switch),
        "regenerate" => plain(Slash::Regenerate),
        "retry" => plain(Slash::Retry),
        "continue" => plain(Slash::Continue),
        "compress" => plain(Slash::Compress),
        "context" => plain(Slash::Context),
        "tools" => plain(Slash::Tools),
        "mode" if rest.is_empty() => Ok(Slash::Mode(None)),
        "mode" => match Mode::parse(rest) {
            Some(mode) => Ok(Slash::Mode(Some(mode))),
            None => Err(match ctx_types::internal::closest(rest, ["chat", "agent", "run"]) {
                Some(near) => phrase!("unknown mode `{rest}`; did you mean `{near}`?", rest, near),
                None => phrase!("unknown mode `{rest}`; use chat, agent, or run", rest),
            }),
        },
        _ => {
            let names = HELP.iter().filter_map(|(usage, _)| usage.split(' ').next()?.strip_prefix('/'));
            Err(match ctx_types::internal::closest(name, names) {
                Some(near) => phrase!("unknown command `/{name}`; did you mean `/{near}`?", name, near),
                None => phrase!("unknown command `/{name}`; type `/help` for a list", name),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<Result<Slash, &str>>) {
        let read = parse(line).map(|read| read.map_err(|wrong| wrong.to_string()));
        assert_eq!(read, expected.map(|read| read.map_err(str::to_owned)), "{line}");
    }

    #[test]
    fn what_begins_with_a_slash_is_a_command() {
        check("/undo", Some(Ok(Slash::Undo)));
        check("  /branch 3 ", Some(Ok(Slash::Branch(Some(3)))));
        check("/edit  two words", Some(Ok(Slash::Edit("two words".to_owned()))));
    }

    #[test]
    fn anything_else_is_a_message() {
        check("hello /undo", None);
        check("//etc/hosts", None);
        assert_eq!(message("//etc/hosts\n"), "/etc/hosts");
        assert_eq!(message("hello\r\n"), "hello");
        check("/usr/lib/a.py\nline 1", None);
        check("/edit one\ntwo", Some(Ok(Slash::Edit("one\ntwo".to_owned()))));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        check("/undoo", Some(Err("unknown command `/undoo`; did you mean `/undo`?")));
        check("/undo 2", Some(Err("`/undo` takes no arguments")));
        check("/switch x", Some(Err("`/switch` takes a number from the list, not `x`")));
        check("/edit", Some(Err("`/edit` needs the new text")));
    }

    #[test]
    fn every_command_of_the_list_is_read() {
        for (usage, _) in HELP {
            let line = usage.replace("[N]", "1").replace("TEXT", "x").replace("[MODE]", "run");
            assert!(parse(&line).unwrap().is_ok(), "{line}");
        }
    }
}
