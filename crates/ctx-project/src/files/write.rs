//! Writing files, all of them or none.

use ctx_types::phrase;
use std::fs::File;
use std::io::{Error, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{ProjectError, Result, unusable};
use tempfile::NamedTempFile;

use crate::files::leftover::temporary;
use crate::files::{FilesRead, is_stdin, name, reason};

/// What becomes of files that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// They stay, and nothing is written.
    Keep,
    /// They are replaced. Links are refused: whoever made them may mean a file that the user does not think of.
    Replace,
    /// They are what the user named: links lead to the file that is replaced, pipes and devices take the bytes.
    Named,
}

/// Writes files, all of them or none: to temporary neighbours first, which then take their names.
///
/// A usage error, before anything is written, if one of them was read. Only where the last step itself fails
/// for a file can earlier ones have been replaced already.
pub fn write(files: &[(PathBuf, &[u8])], existing: Existing, read: &FilesRead) -> Result<()> {
    for (path, _) in files {
        refuse_stdin(path)?;
        read.refuse(path)?;
    }
    let stage = |(path, bytes): &(PathBuf, &[u8])| {
        let staged = Staged::new(path, bytes, existing);
        staged.map_err(|error| {
            unusable!("cannot write `{path}`: {error}", path = name(path), error = reason(&error))
        })
    };
    let staged = files.iter().map(stage).collect::<Result<Vec<_>>>()?;
    let mut written = Vec::new();
    for (file, (path, _)) in staged.into_iter().zip(files) {
        if let Err(error) = file.commit(existing) {
            if existing == Existing::Keep {
                written.into_iter().for_each(remove);
            }
            return Err(unusable!(
                "cannot write `{path}`: {error}",
                path = name(path),
                error = reason(&error)
            ));
        }
        written.push(path);
    }
    Ok(())
}

/// Refuses `-` as the name of something that is written.
pub fn refuse_stdin(path: &Path) -> Result<(), ProjectError> {
    match is_stdin(path) {
        true => {
            Err(ProjectError::Usage(phrase!("`-` is standard input, which cannot be written; name a file")))
        }
        false => Ok(()),
    }
}

/// A file on its way to its name.
enum Staged {
    Neighbour(NamedTempFile, PathBuf),
    /// A pipe or a device, which nothing can take the name of.
    Stream(PathBuf, Vec<u8>),
}

impl Staged {
    fn new(path: &Path, bytes: &[u8], existing: Existing) -> std::io::Result<Self> {
        let path = match (path.is_symlink(), existing) {
            (true, Existing::Keep | Existing::Replace) => return Err(Error::other("it is a link")),
            (true, Existing::Named) => target(path)?,
            (false, _) => path.to_owned(),
        };
        let Ok(metadata) = path.metadata() else { return Self::neighbour(path, bytes, None) };
        match existing {
            _ if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
            _ if metadata.is_file() => {
                check_writable(&path, &metadata)?;
                Self::neighbour(path, bytes, Some(metadata.permissions()))
            }
            Existing::Named => Ok(Self::Stream(path, bytes.to_owned())),
            Existing::Keep | Existing::Replace => Err(Error::other("it is not a file")),
        }
    }

    fn neighbour(
        path: PathBuf,
        bytes: &[u8],
        permissions: Option<std::fs::Permissions>,
    ) -> std::io::Result<Self> {
        let mut file = neighbour(&path)?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        Ok(Self::Neighbour(file, path))
    }

    fn commit(self, existing: Existing) -> std::io::Result<()> {
        match (self, existing) {
            (Self::Neighbour(file, path), Existing::Keep) => file.persist_noclobber(path).map(drop)?,
            (Self::Neighbour(file, path), _) => file.persist(path).map(drop)?,
            (Self::Stream(path, bytes), _) => File::options().write(true).open(path)?.write_all(&bytes)?,
        }
        Ok(())
    }
}

/// Returns the file that a link leads to: the link stays.
fn target(link: &Path) -> std::io::Result<PathBuf> {
    match link.canonicalize() {
        Ok(target) => Ok(target),
        // Links to pipes, such as `/dev/stdout`, lead to something that has no path.
        Err(_) if link.exists() => Ok(link.to_owned()),
        Err(_) => Err(Error::other("it is a broken link")),
    }
}

/// Taking the name of a file needs no permission to write to it: whoever protects a file means that too.
fn check_writable(path: &Path, metadata: &std::fs::Metadata) -> std::io::Result<()> {
    match metadata.permissions().readonly() {
        true => Err(ErrorKind::PermissionDenied.into()),
        false => File::options().write(true).open(path).map(drop),
    }
}

/// Makes a temporary file in the folder of a path.
fn neighbour(path: &Path) -> std::io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    temporary(folder)
}

/// Takes a new file away again; one that is gone already needs nothing.
fn remove(path: &PathBuf) {
    std::fs::remove_file(path).unwrap_or_default();
}
