//! Reading and writing files: with a limit on size, never half, and never onto what was read.

mod identity;
mod json_layout;
mod leftover;
mod lock;
mod write;

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use ctx_types::closest;

use crate::show;
pub(crate) use identity::FilesRead;
pub(crate) use json_layout::JsonLayout;
pub(crate) use leftover::remove_leftovers;
pub(crate) use lock::lock;
pub(crate) use write::{Existing, refuse_stdin, write};

/// The largest file that is read, in bytes; the readers of all formats stop there too.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// How many files of a folder are looked at for one that may be meant.
const MAX_NEIGHBOURS: usize = 1_000;

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let name = name(path);
    let mut bytes = Vec::new();
    let read = match is_stdin(path) {
        true => {
            show::waiting();
            std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)
        }
        false if path.is_dir() => bail!("`{name}` is a folder where a file is expected"),
        false => File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| anyhow!("cannot read `{name}`: {}", reason(&error)))?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("`{name}` is larger than {} MiB", MAX_BYTES / 1024 / 1024);
    }
    Ok(bytes)
}

/// Says why a file could not be read or written, without codes and temporary names.
pub(crate) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::AlreadyExists => "it exists".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::NotADirectory => "a part of the path is a file".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}

/// Returns the name of the file beside a path that is not there which is probably meant: one of the same name with
/// another ending, or else of nearly the same name.
pub(crate) fn near(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).ok()?.take(MAX_NEIGHBOURS).flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let is_sibling = |name: &&String| Path::new(name).file_stem() == path.file_stem();
    let wanted = path.file_name()?.to_str()?;
    let near = names.iter().find(is_sibling).map(String::as_str);
    near.or_else(|| closest(wanted, names.iter().map(String::as_str))).map(str::to_owned)
}

/// Makes a folder and those above it, unless they exist.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|error| anyhow!("cannot make the folder `{}`: {}", name(folder), reason(&error)))
}

/// Tells whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the name by which results and diagnostics speak of a file: the same on every system.
pub(crate) fn name(path: &Path) -> String {
    match is_stdin(path) {
        true => "standard input".to_owned(),
        false if cfg!(windows) => path.display().to_string().replace('\\', "/"),
        false => path.display().to_string(),
    }
}
