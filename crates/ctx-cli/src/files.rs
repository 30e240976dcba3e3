//! Reading and writing files: with a limit on size, never half, and never onto what was read.

mod identity;
mod json_layout;
mod lock;
mod write;

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use anyhow::{Result, anyhow, bail};

use crate::show;
pub(crate) use identity::FilesRead;
pub(crate) use json_layout::JsonLayout;
pub(crate) use lock::lock;
pub(crate) use write::{Existing, refuse_stdin, write};

/// The largest file that is read, in bytes; the readers of all formats stop there too.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

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
