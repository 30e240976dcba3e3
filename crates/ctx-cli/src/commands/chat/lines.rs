//! The lines of standard input, read by a thread of their own so that waiting for one can be given up.

use std::io::IsTerminal as _;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tokio::sync::oneshot;

use crate::show;

/// The lines of standard input; clones take turns.
#[derive(Clone)]
pub(super) struct Lines(Sender<oneshot::Sender<Option<String>>>);

impl Lines {
    /// Starts the thread. It reads a line when somebody wants one, and keeps one that nobody waited for.
    pub(super) fn start() -> Self {
        let (sender, wanted) = channel::<oneshot::Sender<Option<String>>>();
        thread::spawn(move || {
            let mut kept = None;
            while let Ok(reply) = wanted.recv() {
                let line = kept.take().unwrap_or_else(read);
                if let Err(line) = reply.send(line) {
                    kept = Some(line);
                }
            }
        });
        Self(sender)
    }

    /// Waits for a line; nothing at the end of input.
    pub(super) async fn next(&self, prompt: &str) -> Option<String> {
        if std::io::stdin().is_terminal() {
            show::prompt(prompt);
        }
        let (reply, line) = oneshot::channel();
        self.0.send(reply).ok()?;
        line.await.ok()?
    }
}

fn read() -> Option<String> {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line).unwrap_or(0);
    (read > 0).then_some(line)
}
