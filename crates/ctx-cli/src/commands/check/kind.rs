//! What a file is taken for, which decides how it is checked.

use std::fmt;

use ctx_engine::Format;

use crate::{lang, show};

/// What a file is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Something that is read.
    Format(Format),
    /// The body of a request, which is looked at as its provider does.
    RequestBody,
    /// `case.yaml`: the turn of a case of `ctx test`.
    Case,
    /// `ctx.toml`: defaults for the command line.
    Config,
}

impl Kind {
    /// Returns the name for programs.
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Format(format) => format.id(),
            Self::RequestBody => "request_body",
            Self::Case => "case",
            Self::Config => "config",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(format) => format.fmt(f),
            Self::RequestBody => f.write_str("a request body"),
            Self::Case => f.write_str("a case of `ctx test`"),
            Self::Config => f.write_str("defaults for the command line"),
        }
    }
}

/// How many files are named.
const MAX_NAMED: usize = 20;

/// Writes what each file was taken for, a line each; of many files the first.
pub(super) fn write(f: &mut fmt::Formatter<'_>, kinds: &[(String, Kind)]) -> fmt::Result {
    for (file, kind) in kinds.iter().take(MAX_NAMED) {
        let told = format!("`{}` is checked as {kind}", show::clean_line(file));
        writeln!(f, "{}", lang::text(&told))?;
    }
    let more = kinds.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        let told = format!("and {}; `--json` says of each what it is", show::plural(more, "more file"));
        writeln!(f, "{}", lang::text(&told))?;
    }
    Ok(())
}
