//! Reading and writing files: with a limit on size, and never half.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use tempfile::NamedTempFile;

/// The largest file that is read, in bytes; the readers of all formats stop there too.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let name = name(path);
    let mut bytes = Vec::new();
    let read = match is_stdin(path) {
        true => std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes),
        false if path.is_dir() => bail!("`{name}` is a folder where a file is expected"),
        false => File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| anyhow!("cannot read `{name}`: {}", reason(&error)))?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("`{name}` is larger than {} MiB", MAX_BYTES / 1024 / 1024);
    }
    Ok(bytes)
}

/// What becomes of files that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// They are replaced.
    Replace,
    /// They stay, and nothing is written.
    Keep,
}

/// Writes files, all of them or none: to temporary neighbours first, which then take their names.
///
/// Only where the last step itself fails for a file can earlier ones have been replaced already.
pub(crate) fn write(files: &[(PathBuf, &[u8])], existing: Existing) -> Result<()> {
    let stage = |(path, bytes): &(PathBuf, &[u8])| {
        let staged = Staged::new(path, bytes);
        staged.map_err(|error| anyhow!("cannot write `{}`: {}", name(path), reason(&error)))
    };
    let staged = files.iter().map(stage).collect::<Result<Vec<_>>>()?;
    let mut written = Vec::new();
    for (file, (path, _)) in staged.into_iter().zip(files) {
        if let Err(error) = file.commit(existing) {
            if existing == Existing::Keep {
                written.into_iter().for_each(remove);
            }
            bail!("cannot write `{}`: {}", name(path), reason(&error));
        }
        written.push(path);
    }
    Ok(())
}

/// A file on its way to its name.
enum Staged {
    Neighbour(NamedTempFile, PathBuf),
    /// A pipe or a device, which nothing can take the name of.
    Stream(PathBuf, Vec<u8>),
}

impl Staged {
    fn new(path: &Path, bytes: &[u8]) -> std::io::Result<Self> {
        // A link stays a link, and its file keeps its permissions.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let metadata = path.metadata().ok();
        match &metadata {
            Some(existing) if existing.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Some(existing) if !existing.is_file() => return Ok(Self::Stream(path, bytes.to_owned())),
            _ => {}
        }
        let mut file = neighbour(&path)?;
        if let Some(existing) = metadata {
            file.as_file().set_permissions(existing.permissions())?;
        }
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        Ok(Self::Neighbour(file, path))
    }

    fn commit(self, existing: Existing) -> std::io::Result<()> {
        match (self, existing) {
            (Self::Neighbour(file, path), Existing::Replace) => file.persist(path).map(drop)?,
            (Self::Neighbour(file, path), Existing::Keep) => file.persist_noclobber(path).map(drop)?,
            (Self::Stream(path, bytes), _) => File::options().write(true).open(path)?.write_all(&bytes)?,
        }
        Ok(())
    }
}

/// Makes a temporary file in the folder of a path, with the permissions of a new file.
fn neighbour(path: &Path) -> std::io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Takes a new file away again; one that is gone already needs nothing.
fn remove(path: &PathBuf) {
    std::fs::remove_file(path).unwrap_or_default();
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
