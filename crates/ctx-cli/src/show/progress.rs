//! How far a long run is: one line on standard error that replaces itself, on a terminal only.

use std::io::{IsTerminal as _, Write as _};

use crate::show::clean::clean_line;
use crate::show::stderr_width;
use crate::show::table::cut;

/// A line of progress, which goes away in the end.
pub(crate) struct Progress {
    is_shown: bool,
}

impl Progress {
    /// Begins; nothing is shown where standard error is no terminal.
    pub(crate) fn new() -> Self {
        Self { is_shown: std::io::stderr().is_terminal() }
    }

    /// Replaces the line.
    pub(crate) fn show(&mut self, text: &str) {
        self.print(&cut(&clean_line(text), stderr_width().saturating_sub(1)));
    }

    fn print(&self, line: &str) {
        if self.is_shown {
            let mut stderr = std::io::stderr().lock();
            // If nobody listens, there is nobody to tell.
            write!(stderr, "\r\u{1b}[2K{line}").and_then(|()| stderr.flush()).unwrap_or_default();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.print("");
    }
}
