//! Writes several files atomically: all or none.

use ctx_types::phrase;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{ProjectError, Result, unusable};
use tempfile::NamedTempFile;

use crate::files::leftover::{NewFile, temporary};
use crate::files::{FilesRead, is_stdin, name, not_created, reason};

/// Treatment of existing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Fail without writing anything.
    Keep,
    /// Replace regular files and reject links: the target of a link may surprise the user.
    Replace,
    /// Write to the file that the user named: follow links, and write into pipes and devices.
    Named,
}

/// Writes all files or none: first to temporary files in the same folder, which then replace the files.
///
/// A replaced file keeps its permissions, and its owner and group if the system allows it. Returns a usage error
/// before writing if a file is an input file. If the final rename of a file fails, earlier files may already be
/// replaced.
pub fn write(files: &[(PathBuf, &[u8])], existing: Existing, read: &FilesRead) -> Result<()> {
    write_as(files, existing, read, NewFile::Usual)
}

/// Writes a file that the user named or that this program owns. A new file is readable only by the user.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    write_as(&[(path.to_owned(), bytes)], Existing::Named, &FilesRead::default(), NewFile::Private)
}

/// Creates a folder and its missing parents, accessible only to the user.
pub fn make_private_folder(folder: &Path) -> Result<()> {
    ctx_chat::create_private_folder(folder)
        .map_err(|error| ProjectError::Unusable(not_created(folder, &error)))
}

fn write_as(files: &[(PathBuf, &[u8])], existing: Existing, read: &FilesRead, new: NewFile) -> Result<()> {
    for (path, _) in files {
        refuse_stdin(path)?;
        read.refuse(path)?;
    }
    let stage = |(path, bytes): &(PathBuf, &[u8])| {
        let staged = Staged::new(path, bytes, existing, new);
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

/// Rejects `-` as an output file.
pub fn refuse_stdin(path: &Path) -> Result<(), ProjectError> {
    if is_stdin(path) {
        Err(ProjectError::Usage(phrase!("cannot write to `-`; name a file")))
    } else {
        Ok(())
    }
}

/// A file that is ready to be moved to its name.
enum Staged {
    Neighbour(NamedTempFile, PathBuf),
    /// A pipe or a device, which cannot be replaced.
    Stream(PathBuf, Vec<u8>),
}

impl Staged {
    fn new(path: &Path, bytes: &[u8], existing: Existing, new: NewFile) -> std::io::Result<Self> {
        let path = match (path.is_symlink(), existing) {
            (true, Existing::Keep | Existing::Replace) => return Err(Error::other("it is a link")),
            (true, Existing::Named) => target(path)?,
            (false, _) => path.to_owned(),
        };
        let Ok(metadata) = path.metadata() else { return Self::neighbour(path, bytes, new, None) };
        match existing {
            _ if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
            _ if metadata.is_file() => {
                check_writable(&path, &metadata)?;
                // Start private; the permissions of the replaced file follow.
                Self::neighbour(path, bytes, NewFile::Private, Some(&metadata))
            }
            Existing::Named => Ok(Self::Stream(path, bytes.to_owned())),
            Existing::Keep | Existing::Replace => Err(Error::other("it is not a file")),
        }
    }

    fn neighbour(
        path: PathBuf,
        bytes: &[u8],
        new: NewFile,
        replaced: Option<&Metadata>,
    ) -> std::io::Result<Self> {
        let mut file = neighbour(&path, new)?;
        if let Some(replaced) = replaced {
            keep_owner(file.as_file(), replaced);
            // A change of the owner may have removed permissions.
            file.as_file().set_permissions(replaced.permissions())?;
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

/// Returns the target of a link, so that the link itself stays.
fn target(link: &Path) -> std::io::Result<PathBuf> {
    match link.canonicalize() {
        Ok(target) => Ok(target),
        // Links to pipes, such as `/dev/stdout`, have no target path.
        Err(_) if link.exists() => Ok(link.to_owned()),
        Err(_) => Err(Error::other("it is a broken link")),
    }
}

/// Checks that a file is writable. A rename would replace a write-protected file too.
fn check_writable(path: &Path, metadata: &std::fs::Metadata) -> std::io::Result<()> {
    if metadata.permissions().readonly() {
        Err(ErrorKind::PermissionDenied.into())
    } else {
        File::options().write(true).open(path).map(drop)
    }
}

/// Gives a file the owner and group of the replaced file, if the system allows it.
#[cfg(unix)]
fn keep_owner(file: &File, replaced: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    if fchown(file, Some(replaced.uid()), Some(replaced.gid())).is_err() {
        // Only root can change the owner, and other users can only set their own groups. Failing to do so is not
        // worth losing the text.
        fchown(file, None, Some(replaced.gid())).unwrap_or_default();
    }
}

/// Other systems have no such owner.
#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

/// Creates a temporary file in the folder of a path.
fn neighbour(path: &Path, new: NewFile) -> std::io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    temporary(folder, new)
}

/// Removes a new file again. Ignores a missing file.
fn remove(path: &PathBuf) {
    std::fs::remove_file(path).unwrap_or_default();
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

    use super::*;

    fn replace(path: &Path, bytes: &[u8]) {
        write(&[(path.to_owned(), bytes)], Existing::Named, &FilesRead::default()).unwrap();
    }

    /// Owner, group and permissions.
    fn access(path: &Path) -> (u32, u32, u32) {
        let metadata = path.metadata().unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
    }

    #[test]
    fn keeps_owner_group_and_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.yaml");
        std::fs::write(&path, "old").unwrap();
        // Root can set any owner; other users can set only their groups.
        if chown(&path, Some(12_345), Some(23_456)).is_err() {
            let groups = rustix::process::getgroups().unwrap_or_default();
            let given = groups.iter().rev().any(|group| chown(&path, None, Some(group.as_raw())).is_ok());
            assert!(given || groups.is_empty());
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o2640)).unwrap();
        let before = access(&path);
        replace(&path, b"new");
        assert_eq!((std::fs::read(&path).unwrap(), access(&path)), (b"new".to_vec(), before));
    }

    #[test]
    fn creates_private_files_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, path) = (folder.path().join("a/b"), folder.path().join("a/b/trusted.json"));
        make_private_folder(&inner).unwrap();
        write_private(&path, b"{}").unwrap();
        assert_eq!(access(&path).2, 0o600);
        for made in [inner.as_path(), &folder.path().join("a")] {
            assert_eq!(access(made).2 & 0o777, 0o700);
        }
        // An existing file keeps its permissions.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        write_private(&path, b"{ }").unwrap();
        assert_eq!(access(&path).2, 0o644);
    }
}
