//! `cargo xtask schema`: the JSON Schemas of files and reports, written by the command itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace;

/// Where the schemas are.
const FOLDER: &str = "schemas";

/// Texts of files by their names.
type Texts = BTreeMap<String, String>;

/// Writes the schemas; `--check` only compares.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => bail!("usage: cargo xtask schema [--check]"),
    };
    let root = workspace::root();
    let folder = root.join(FOLDER);
    let fresh = root.join("target").join(FOLDER);
    write(&fresh)?;
    let differences = differences(&texts(&folder).unwrap_or_default(), &texts(&fresh)?);
    if is_check {
        let differences = differences.join("\n");
        ensure!(differences.is_empty(), "{differences}\n`cargo xtask schema` writes {FOLDER}/ anew");
        return Ok(());
    }
    remove(&folder)?;
    write(&folder)
}

/// Lets the command write all schemas to a folder that holds nothing else.
fn write(folder: &Path) -> Result<()> {
    remove(folder)?;
    let mut command = Command::new(workspace::ctx()?);
    let output = command.args(["schema", "--out"]).arg(folder).output().context("cannot start `ctx`")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`ctx schema` ended with {}: {said}", output.status);
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

fn texts(folder: &Path) -> Result<Texts> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text))
    };
    entries.map(read).collect()
}

/// Names the files that are not what the command writes.
fn differences(committed: &Texts, fresh: &Texts) -> Vec<String> {
    let changed = fresh.iter().filter(|(name, text)| committed.get(*name) != Some(*text));
    let changed = changed.map(|(name, _)| format!("{FOLDER}/{name} is not what the types say"));
    let foreign = committed.keys().filter(|name| !fresh.contains_key(*name));
    changed.chain(foreign.map(|name| format!("{FOLDER}/{name} is no schema that the command has"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_differ_or_are_too_many_are_named() {
        let texts = |files: &[(&str, &str)]| -> Texts {
            files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
        };
        let found =
            differences(&texts(&[("a", "1"), ("b", "1"), ("c", "1")]), &texts(&[("a", "1"), ("b", "2")]));
        assert_eq!(
            found,
            ["schemas/b is not what the types say", "schemas/c is no schema that the command has"]
        );
    }
}
