//! `cargo xtask readmes`: the README of each published crate, written from the words at the top of its main file.
//!
//! So the page of a crate in the registry says what its documentation says, and its examples are those that tests
//! run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::workspace;

/// The end of every README.
const FOOT: &str = "\
Part of [`ctx`](../../README.md), which builds the messages that an application sends to a language model and shows the source of each.

## License

MIT or Apache-2.0, at your option.
";

/// Writes the READMEs; `--check` only compares.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_check = workspace::has_flag(arguments, "--check", "readmes")?;
    for folder in crates(&workspace::root())? {
        let path = folder.strip_prefix(workspace::root()).unwrap_or(&folder).join("README.md");
        workspace::generated(&path.to_string_lossy(), &readme(&folder)?, is_check, "readmes")?;
    }
    Ok(())
}

/// Lists the folders of the crates, in order.
pub(crate) fn crates(root: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(root.join("crates"))?.map(|entry| Ok(entry?.path()));
    let mut folders: Vec<PathBuf> = entries.collect::<Result<_>>()?;
    folders.retain(|folder| folder.join("Cargo.toml").is_file());
    folders.sort();
    Ok(folders)
}

fn readme(folder: &Path) -> Result<String> {
    let read = |path: &str| {
        let path = folder.join(path);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let main = if folder.join("src/lib.rs").is_file() { "src/lib.rs" } else { "src/main.rs" };
    let name = folder.file_name().context("a crate has a folder")?.to_string_lossy();
    let mut readme = format!("# {name}\n\n{}\n", words(&read(main)?));
    let features = features(&read("Cargo.toml")?);
    if !features.is_empty() {
        readme.push_str("## Features\n\n| feature | effect |\n|---|---|\n");
        for (name, purpose) in features {
            writeln!(readme, "| `{name}` | {purpose} |")?;
        }
        readme.push('\n');
    }
    readme.push_str(FOOT);
    Ok(readme)
}

/// Returns the documentation at the top of a file as plain Markdown.
///
/// Links to items become their names, and what examples hide is left out.
fn words(source: &str) -> String {
    let mut words = String::new();
    let mut is_code = false;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if let Some(language) = line.strip_prefix("```") {
            is_code = !is_code;
            let language = if is_code && matches!(language, "" | "no_run") { "rust" } else { language };
            words.push_str("```");
            words.push_str(language);
        } else if is_code && (line == "#" || line.starts_with("# ")) {
            continue;
        } else if is_code {
            words.push_str(line);
        } else {
            words.push_str(&without_links(line));
        }
        words.push('\n');
    }
    words
}

/// Turns each link to an item into the item's name.
fn without_links(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, behind)) = link.split_once("`]") else { break };
        let target = behind.strip_prefix('(').and_then(|target| target.split_once(')'));
        plain.push_str(before);
        match target {
            Some((address, _)) if address.starts_with("http") => {
                plain.push_str("[`");
                plain.push_str(name);
                plain.push_str("`]");
                rest = behind;
            }
            _ => {
                plain.push('`');
                plain.push_str(name);
                plain.push('`');
                rest = target.map_or(behind, |(_, behind)| behind);
            }
        }
    }
    plain + rest
}

/// Reads the features of a manifest. The comment above a feature describes it; without one, the list of features that it
/// enables does.
fn features(manifest: &str) -> Vec<(String, String)> {
    let mut features = Vec::new();
    let mut comment = String::new();
    let lines = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    for line in lines.take_while(|line| !line.starts_with('[')) {
        if let Some(words) = line.strip_prefix("# ") {
            comment.push_str(if comment.is_empty() { "" } else { " " });
            comment.push_str(words);
        } else if let Some((name, list)) = line.split_once(" = ") {
            let list = list.replace("dep:", "").replace('"', "`");
            let others = format!("enables {}", list.trim_matches(['[', ']']));
            let purpose = if comment.is_empty() { others } else { std::mem::take(&mut comment) };
            features.push((name.to_owned(), purpose));
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_words(source: &str, expected: &str) {
        assert_eq!(words(source), expected);
    }

    #[test]
    fn links_to_items_become_names() {
        check_words("//! Reads [`Agent`]s, see [`read`](crate::read).\n", "Reads `Agent`s, see `read`.\n");
        check_words("//! Like [`serde`](https://serde.rs).\n", "Like [`serde`](https://serde.rs).\n");
        check_words("//! The end.\nuse x;\n//! Not this.\n", "The end.\n");
    }

    #[test]
    fn what_examples_hide_is_left_out() {
        let source =
            "//! ```\n//! # fn main() {\n//! let a = 1; // #\n//! #\n//! # }\n//! ```\n//!\n//! End.\n";
        check_words(source, "```rust\nlet a = 1; // #\n```\n\nEnd.\n");
    }

    #[test]
    fn features_are_told_by_the_comments_above_them() {
        let manifest = "[package]\n\n[features]\ndefault = [\"a\"]\n# Does a,\n# and b.\na = [\"dep:x\"]\nc = [\"a\", \"dep:y\"]\n\n[lints]\nz = 1\n";
        let found = features(manifest);
        let found: Vec<_> = found.iter().map(|(name, purpose)| (name.as_str(), purpose.as_str())).collect();
        assert_eq!(found, [("default", "enables `a`"), ("a", "Does a, and b."), ("c", "enables `a`, `y`")]);
    }
}
