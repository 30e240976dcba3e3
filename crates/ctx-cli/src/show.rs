//! What people read on the terminal.

mod findings;
mod table;

use std::io::{IsTerminal as _, Write as _};

use anyhow::{Context as _, Result};

pub(crate) use findings::{Sources, failure};
pub(crate) use table::{empty, table, text};

/// Writes a result to standard output; a reader that went away is no error.
pub(crate) fn result(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Writes a value to standard output as indented JSON.
pub(crate) fn json(value: &serde_json::Value) -> Result<()> {
    result(&format!("{value:#}\n"))
}

/// Tells whether colours are wanted on standard error.
pub(crate) fn is_coloured() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::io::stderr().is_terminal()
}
