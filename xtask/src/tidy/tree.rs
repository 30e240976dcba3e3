//! Reads the files of the repository.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::File;

/// Lists all files below `root` in the order of their paths, hidden folders and build results left out.
pub(crate) fn files(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    collect(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && !is_skipped(&name, &entry.path()) {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() {
            let mut file = File { path, text: String::new() };
            if is_read(&file) {
                file.text = read(&entry.path())?;
            }
            files.push(file);
        }
    }
    Ok(())
}

/// Cargo marks its target folders with this tag, wherever they are.
fn is_skipped(name: &str, path: &Path) -> bool {
    name.starts_with('.') || name == "node_modules" || path.join("CACHEDIR.TAG").exists()
}

fn is_read(file: &File) -> bool {
    let is_document = || {
        !file.path.contains('/') || ["docs/", "fixtures/README.md"].iter().any(|it| file.path.starts_with(it))
    };
    file.extension() == "rs" || (file.extension() == "md" && is_document())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
