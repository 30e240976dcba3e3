//! The files of a folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use crate::files::{name, reason};

/// How many files a folder may have.
const MAX_FILES: usize = 10_000;

/// How deep folders may be nested.
const MAX_DEPTH: usize = 32;

/// The endings of files that may be agents, conversations or profiles.
const ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "yaml", "yml"];

/// Lists the JSON, JSON Lines and YAML files in a folder, in the order of their names.
///
/// Hidden folders and `node_modules` are passed over. Links are not followed: they may lead out of the folder
/// or round in a circle.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    walk(folder, 0, &mut found)?;
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if depth > MAX_DEPTH {
        bail!("`{}` is nested more than {MAX_DEPTH} folders deep", name(folder));
    }
    let entries = entries(folder);
    let entries =
        entries.map_err(|error| anyhow!("cannot read the folder `{}`: {}", name(folder), reason(&error)))?;
    for (path, kind) in entries {
        if kind.is_dir() && !is_passed_over(&path) {
            walk(&path, depth + 1, found)?;
        } else if kind.is_file() && is_ours(&path) {
            found.push(path);
        }
        if found.len() > MAX_FILES {
            bail!("more than {MAX_FILES} files; name smaller folders");
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> std::io::Result<Vec<(PathBuf, std::fs::FileType)>> {
    let entries = std::fs::read_dir(folder)?;
    let entries = entries.map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))));
    let mut entries = entries.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
}

fn is_passed_over(folder: &Path) -> bool {
    let name = folder.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    name.starts_with('.') || name == "node_modules"
}

fn is_ours(file: &Path) -> bool {
    let ending = file.extension().map(OsStr::to_ascii_lowercase);
    ending.is_some_and(|ending| ENDINGS.iter().any(|ours| ending == *ours))
}
