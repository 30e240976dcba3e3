//! Opens files of users without blocking, and only regular files.
//!
//! Opening a pipe blocks until another program writes to it. A folder from another user can contain a pipe with any
//! name.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

use cap_std::fs::Dir;
use ctx_types::Phrase;

/// Reason for rejecting a pipe, a device, or a socket.
pub const NOT_REGULAR: &str = "it is not a regular file";

/// Explains an I/O error, without error codes and temporary names.
pub fn reason(error: &Error) -> Phrase {
    Phrase::original(match error.kind() {
        ErrorKind::NotFound => "no such file or folder",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::AlreadyExists => "it exists",
        ErrorKind::IsADirectory => "it is a folder",
        ErrorKind::NotADirectory => "a part of the path is a file",
        ErrorKind::InvalidData => "it is not text",
        _ => {
            let text = error.to_string();
            return Phrase::original(text.split(" (os error").next().unwrap_or_default());
        }
    })
}

/// Opens a regular file for reading. Checks the type of the open file, because the target of the path may change.
///
/// # Errors
///
/// Returns an I/O error if the file cannot be opened, or [`NOT_REGULAR`] for a pipe, a device, or a socket.
pub fn open_regular(path: &Path) -> Result<File> {
    let file = open_now(path)?;
    check_regular(file.metadata()?.is_file(), file.metadata()?.is_dir())?;
    Ok(file)
}

/// Reads a regular file, up to one byte more than the limit.
pub fn read_regular(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Like [`open_regular`], but inside an open folder.
pub fn open_regular_in(folder: &Dir, path: &Path) -> Result<cap_std::fs::File> {
    let mut options = cap_std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    let file = folder.open_with(path, &options)?;
    check_regular(file.metadata()?.is_file(), file.metadata()?.is_dir())?;
    Ok(file)
}

/// Opens a file or a folder for reading without blocking, such as a folder to be locked.
pub fn open_now(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    options.open(path)
}

/// Like [`open_regular`], but also opens a stream of this process by its path in `/dev` or `/proc`.
///
/// A shell passes such a path for `<(command)`. Other pipes are rejected: a pattern such as `*` may match a pipe in a
/// folder.
pub fn open_input(path: &Path) -> Result<File> {
    if is_own_stream(path) { File::open(path) } else { open_regular(path) }
}

fn is_own_stream(path: &Path) -> bool {
    let is_numbered = |folder: &str| {
        let number = path.strip_prefix(folder).ok().and_then(Path::to_str);
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    cfg!(unix) && (path == Path::new("/dev/stdin") || is_numbered("/dev/fd") || is_numbered("/proc/self/fd"))
}

#[cfg(unix)]
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

fn check_regular(is_file: bool, is_folder: bool) -> Result<()> {
    match (is_file, is_folder) {
        (true, _) => Ok(()),
        (false, true) => Err(std::io::ErrorKind::IsADirectory.into()),
        (false, false) => Err(Error::other(NOT_REGULAR)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn refuses_pipe_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        let found = [
            open_regular(&pipe).map(drop),
            open_regular_in(&dir, Path::new("pipe")).map(drop),
            read_regular(Path::new("/dev/null"), 1).map(drop),
        ];
        for found in found {
            assert_eq!(found.unwrap_err().to_string(), NOT_REGULAR);
        }
        assert_eq!(open_regular(folder.path()).unwrap_err().kind(), std::io::ErrorKind::IsADirectory);
        assert!(open_now(&pipe).is_ok());
    }

    #[test]
    fn opens_streams_of_the_process() {
        for path in ["/dev/stdin", "/dev/fd/63", "/proc/self/fd/0"] {
            assert!(is_own_stream(Path::new(path)), "{path}");
        }
        for path in ["/dev/fd", "/dev/fd/../tty", "/dev/fd/x", "/dev/tty", "fd/0"] {
            assert!(!is_own_stream(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn reads_one_byte_beyond_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_regular(&path, 3).unwrap(), b"1234");
        assert_eq!(read_regular(&path, 9).unwrap(), b"12345");
    }
}
