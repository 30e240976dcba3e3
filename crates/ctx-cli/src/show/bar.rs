//! Progress of a run over many files or folders: a bar on standard error, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};

use crate::show::clean::clean_line;

/// A bar, which goes away in the end.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Starts a bar for a number of items. It is hidden if standard error is not a terminal.
    pub(crate) fn new(count: usize) -> Self {
        let bar = ProgressBar::new(count as u64);
        // The template is fixed: that it cannot be read would only leave the usual one.
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos} of {len}: {wide_msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Starts a bar for a number of bytes.
    pub(crate) fn bytes(count: u64) -> Self {
        let bar = ProgressBar::new(count);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {bytes} of {total_bytes}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Sets the number of bytes that are done.
    pub(crate) fn set(&self, done: u64) {
        self.0.set_position(done);
    }

    /// Names the current item.
    pub(crate) fn show(&self, name: &str) {
        self.0.set_message(clean_line(name));
    }

    /// Counts an item.
    pub(crate) fn done(&self) {
        self.0.inc(1);
    }

    /// Prints something where the bar stands.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
