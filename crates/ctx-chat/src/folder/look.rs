//! Tools for reading a file and listing a folder.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use cap_std::fs::{Dir, Metadata};
use ctx_types::internal::excerpt;

use crate::files;
use crate::folder::Arguments;
use crate::tools::ToolError;

/// Maximum size of a file, in bytes.
pub(super) const MAX_FILE: u64 = 4 << 20;

/// Default number of lines.
const LINES: usize = 2_000;

/// Maximum size of the returned text, in bytes.
const MAX_TEXT: usize = 256 << 10;

/// Maximum number of listed entries.
const MAX_ENTRIES: usize = 1_000;

/// Maximum number of entries that are examined.
pub(super) const MAX_SEEN: usize = 100_000;

/// Reads lines of a text file.
pub(super) fn read(folder: &Dir, arguments: &Arguments) -> Result<String, ToolError> {
    let path = arguments.text("path")?;
    let (first, most) = (arguments.number("first_line", 1)?, arguments.number("lines", LINES)?);
    let text = text(folder, &plain(folder, path)?, path)?;
    let mut lines = text.split_inclusive('\n').skip(first - 1);
    let mut taken = String::new();
    let mut count = 0;
    for line in lines.by_ref().take(most) {
        if taken.len() + line.len() > MAX_TEXT {
            let next = first + count;
            let note = format!("[output limited to {MAX_TEXT} bytes; continue at line {next}]");
            return Ok(taken + &note);
        }
        taken.push_str(line);
        count += 1;
    }
    match lines.count() {
        0 if count == 0 && first > 1 => Ok(format!("[the file ends before line {first}]")),
        0 => Ok(taken),
        more => Ok(format!("{taken}[{more} more lines; continue at line {}]", first + count)),
    }
}

/// Lists a folder in the order of names.
pub(super) fn list(folder: &Dir, arguments: &Arguments) -> Result<String, ToolError> {
    let path = arguments.path()?;
    let fault = |error: std::io::Error| fault(path, &error);
    let entries = folder.read_dir(plain(folder, path)?).map_err(fault)?;
    let (mut lines, mut entries) = (Vec::new(), entries.into_iter());
    for entry in entries.by_ref().take(MAX_SEEN) {
        let entry = entry.map_err(fault)?;
        lines.push(line(&entry.file_name().to_string_lossy(), entry.metadata().ok().as_ref()));
    }
    lines.sort_unstable();
    let more = lines.len().saturating_sub(MAX_ENTRIES);
    lines.truncate(MAX_ENTRIES);
    let unseen = if entries.next().is_some() { "; more were not read" } else { "" };
    if more > 0 {
        lines.push(format!("[{more} more entries{unseen}]"));
    }
    Ok(if lines.is_empty() { "[the folder is empty]".to_owned() } else { lines.join("\n") })
}

fn line(name: &str, metadata: Option<&Metadata>) -> String {
    match metadata {
        Some(metadata) if metadata.is_dir() => format!("{name}/"),
        Some(metadata) if metadata.is_symlink() => format!("{name} (a link; links are not followed)"),
        Some(metadata) => format!("{name} {}", metadata.len()),
        None => name.to_owned(),
    }
}

/// Checks that a path stays in the folder and contains no link.
///
/// The files may change after this check, but the handle of the folder still prevents access outside.
pub(super) fn plain(folder: &Dir, path: &str) -> Result<PathBuf, ToolError> {
    let refused = |why: &str| ToolError(format!("`{}` is not allowed: {why}", excerpt(path)));
    let mut checked = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => {
                checked.push(name);
                let metadata = folder.symlink_metadata(&checked).map_err(|error| fault(path, &error))?;
                if metadata.is_symlink() {
                    return Err(refused("links are not followed"));
                }
            }
            Component::ParentDir => return Err(refused("it leaves the folder")),
            Component::RootDir | Component::Prefix(_) => {
                return Err(refused("it is not relative to the folder"));
            }
        }
    }
    Ok(if checked.as_os_str().is_empty() { PathBuf::from(".") } else { checked })
}

/// Reads a text file that is not too large.
pub(super) fn text(folder: &Dir, path: &Path, shown: &str) -> Result<String, ToolError> {
    let fault = |error: std::io::Error| fault(shown, &error);
    let metadata = folder.symlink_metadata(path).map_err(fault)?;
    if !metadata.is_file() {
        return Err(ToolError(format!("`{}` is not a file", excerpt(shown))));
    }
    let mut bytes = Vec::new();
    files::open_regular_in(folder, path)
        .map_err(fault)?
        .take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(fault)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(ToolError(format!("`{}` is larger than {} MiB", excerpt(shown), MAX_FILE >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| ToolError(format!("`{}` is not valid UTF-8", excerpt(shown))))
}

fn fault(path: &str, error: &std::io::Error) -> ToolError {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::NotADirectory => "not a folder".to_owned(),
        _ => error.to_string(),
    };
    ToolError(format!("`{}`: {reason}", excerpt(path)))
}
