//! Which file a path leads to, so that nothing is written onto a file that the same run read.

use ctx_types::phrase;
use std::path::{Path, PathBuf};

use crate::error::ProjectError;
use crate::files::{is_stdin, name};

/// The files that a run has read.
#[derive(Debug, Default)]
pub struct FilesRead(Vec<(String, Identity)>);

/// What tells that two paths lead to one file: both lead to one path without links, or they are two names of
/// one file.
#[derive(Debug, Default)]
struct Identity {
    path: Option<PathBuf>,
    /// The device and the number of the file on it, where the system tells.
    number: Option<(u64, u64)>,
}

impl FilesRead {
    /// Notes that a file was read; for `-` the one that standard input comes from.
    pub fn note(&mut self, path: &Path) {
        self.0.push((name(path), Identity::of(path)));
    }

    /// Notes what another part of the run has read.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns the files that were read, without links.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|(_, read)| read.path.as_deref())
    }

    /// Returns the folders of the files that were read, without links.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.paths().filter_map(Path::parent)
    }

    /// Refuses a path to a file that was read, or that standard output goes to.
    pub(super) fn refuse(&self, path: &Path) -> Result<(), ProjectError> {
        let identity = Identity::of(path);
        let shown = name(path);
        let refused = |reason: &str| {
            Err(ProjectError::Usage(phrase!(
                "`{shown}` is not written: {reason}; name another file",
                shown,
                reason
            )))
        };
        match self.0.iter().find(|(_, read)| read.is_same(&identity)) {
            Some((read, _)) if *read == shown => refused("this run reads it"),
            Some((read, _)) => refused(&format!("it is the same file as `{read}`, which this run reads")),
            None if Identity::of_stdout().is_same(&identity) => refused("standard output goes to it"),
            None => Ok(()),
        }
    }
}

impl Identity {
    fn of(path: &Path) -> Self {
        match is_stdin(path) {
            true => Self::of_stdin(),
            false => Self { path: path.canonicalize().ok(), number: number_of(path) },
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let is_same_path = self.path.is_some() && self.path == other.path;
        is_same_path || (self.number.is_some() && self.number == other.number)
    }

    #[cfg(unix)]
    fn of_stdin() -> Self {
        Self::of_stream(std::os::fd::AsFd::as_fd(&std::io::stdin()))
    }

    #[cfg(unix)]
    fn of_stdout() -> Self {
        Self::of_stream(std::os::fd::AsFd::as_fd(&std::io::stdout()))
    }

    #[cfg(unix)]
    fn of_stream(stream: std::os::fd::BorrowedFd<'_>) -> Self {
        let metadata = stream.try_clone_to_owned().and_then(|fd| std::fs::File::from(fd).metadata());
        Self { path: None, number: metadata.ok().as_ref().and_then(number) }
    }

    #[cfg(not(unix))]
    fn of_stdin() -> Self {
        Self::default()
    }

    #[cfg(not(unix))]
    fn of_stdout() -> Self {
        Self::default()
    }
}

#[cfg(unix)]
fn number_of(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().as_ref().and_then(number)
}

/// Devices and pipes have none: writing to them replaces nothing.
#[cfg(unix)]
fn number(metadata: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;

    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn number_of(_: &Path) -> Option<(u64, u64)> {
    None
}
