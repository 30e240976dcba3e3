//! `cargo xtask tidy`: house rules that no compiler checks.
//!
//! Each rule is a pure function over paths and texts, in its own module; this one reads the tree and prints.

mod codes;
mod documents;
mod links;
mod names;
mod rust_text;
mod source;
mod tree;

use std::fmt;

use anyhow::{Result, bail};

use crate::workspace;
pub(crate) use rust_text::code_only;
pub(crate) use tree::files;

/// A file of the repository: its path from the root with `/`, and its text if a rule reads that.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// For example `crates/ctx-types/src/lib.rs`.
    pub(crate) path: String,
    /// Empty unless it is Rust source or a document: in the root folder, of the book, or of the fixtures.
    pub(crate) text: String,
}

impl File {
    /// Describes what follows the last dot of the path.
    pub(crate) fn extension(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    fn is_rust(&self) -> bool {
        self.extension() == "rs"
    }
}

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// Counted from 1; `None` when the whole file is meant.
    line: Option<usize>,
    message: String,
    weight: Weight,
}

/// Whether a finding fails the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Error,
    Warning,
}

impl Finding {
    fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), message: message.into(), weight: Weight::Error }
    }

    fn of(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into(), weight: Weight::Error }
    }

    fn warning(self) -> Self {
        Self { weight: Weight::Warning, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = match self.weight {
            Weight::Error => "error",
            Weight::Warning => "warning",
        };
        match self.line {
            Some(line) => write!(f, "{weight}: {}:{line}: {}", self.path, self.message),
            None => write!(f, "{weight}: {}: {}", self.path, self.message),
        }
    }
}

/// Checks the whole tree; warnings are printed and do not fail.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() {
        bail!("usage: cargo xtask tidy");
    }
    let files = tree::files(&workspace::root())?;
    let findings = check(&files);
    for finding in &findings {
        eprintln!("tidy: {finding}");
    }
    let errors = findings.iter().filter(|finding| finding.weight == Weight::Error).count();
    if errors > 0 {
        bail!("{errors} breach(es) of the house rules");
    }
    println!("tidy: {} files, no breach", files.len());
    Ok(())
}

fn check(files: &[File]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = files.iter().flat_map(source::check).collect();
    findings.extend(names::check(files));
    findings.extend(codes::check(files));
    findings.extend(documents::check(files));
    findings.extend(links::check(files));
    findings
}

#[cfg(test)]
mod tests {
    use super::{File, Finding};

    /// Checks what a rule finds in files, each a path and a text.
    #[track_caller]
    pub(super) fn check_rule(check: fn(&[File]) -> Vec<Finding>, files: &[(&str, &str)], expected: &[&str]) {
        let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
        let files: Vec<File> = files.iter().map(file).collect();
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }
}
