//! Lines of standard input. A thread reads them, so an interrupt can end the wait. At a terminal, the user edits them.

use std::io::IsTerminal as _;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::sync::oneshot;

use crate::show;

/// Lines of standard input. Clones take turns.
#[derive(Clone)]
pub(super) struct Lines(Sender<LineTask>);

enum LineTask {
    Read { prompt: String, reply: oneshot::Sender<Option<String>> },
    Remember(String),
}

/// Returns whether standard input and output are a terminal.
pub(super) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

impl Lines {
    /// Starts the thread. It reads a line on request, and keeps a line if the wait for it ended.
    pub(super) fn start() -> Self {
        let (sender, tasks) = channel();
        thread::spawn(move || {
            let mut editor = if is_interactive() { DefaultEditor::new().ok() } else { None };
            let mut kept = None;
            while let Ok(task) = tasks.recv() {
                match (task, &mut editor) {
                    (LineTask::Read { prompt, reply }, editor) => {
                        let line = kept.take().unwrap_or_else(|| read(editor.as_mut(), &prompt));
                        kept = reply.send(line).err();
                    }
                    (LineTask::Remember(text), Some(editor)) => {
                        // The history is in memory, so adding to it does not fail.
                        editor.add_history_entry(text).unwrap_or_default();
                    }
                    (LineTask::Remember(_), None) => {}
                }
            }
        });
        Self(sender)
    }

    /// Waits for a line. Returns `None` at the end of the input, and after Ctrl-C in a line editor.
    ///
    /// A pasted text is one line, with its line breaks.
    pub(super) async fn next(&self, prompt: &str) -> Option<String> {
        let (reply, line) = oneshot::channel();
        self.0.send(LineTask::Read { prompt: prompt.to_owned(), reply }).ok()?;
        line.await.ok()?
    }

    /// Adds a text to the history of the line editor.
    pub(super) fn remember(&self, text: &str) {
        let text = text.trim_end_matches(['\r', '\n']).replace("\r\n", "\n");
        if !text.trim().is_empty() {
            // The editor does not escape its history. After its end, the thread needs no history.
            self.0.send(LineTask::Remember(show::clean(&text).into_owned())).unwrap_or_default();
        }
    }
}

fn read(editor: Option<&mut DefaultEditor>, prompt: &str) -> Option<String> {
    if let Some(editor) = editor {
        let line = editor.readline(prompt);
        if let Err(ReadlineError::Interrupted) = line {
            interrupt();
        }
        return line.ok();
    }
    if std::io::stdin().is_terminal() {
        show::prompt(prompt);
    }
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line).unwrap_or(0);
    (read > 0).then_some(line)
}

/// Sends the signal of Ctrl-C, which the line editor takes as a key. It stops a turn that waits for the line.
fn interrupt() {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpid, kill_process};

        kill_process(getpid(), Signal::INT).unwrap_or_default();
    }
}

/// Mode of the terminal before lines are edited, restored on drop. A signal or an error ends the chat without ending
/// the line editor.
pub(super) struct TerminalMode {
    #[cfg(unix)]
    mode: Option<rustix::termios::Termios>,
}

impl TerminalMode {
    pub(super) fn save() -> Self {
        Self {
            #[cfg(unix)]
            mode: rustix::termios::tcgetattr(std::io::stdin()).ok().filter(|_| is_interactive()),
        }
    }
}

impl Drop for TerminalMode {
    /// Restores the mode, and disables bracketed paste.
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(mode) = &self.mode {
            use std::io::Write as _;

            use rustix::termios::{OptionalActions, tcsetattr};

            tcsetattr(std::io::stdin(), OptionalActions::Now, mode).unwrap_or_default();
            if std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb") {
                let mut out = std::io::stdout().lock();
                out.write_all(b"\x1b[?2004l").and_then(|()| out.flush()).unwrap_or_default();
            }
        }
    }
}
