//! Temporary files, and what is left of them where a run was killed.

use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

/// How the name of a temporary file begins and ends; between stand [`RANDOM`] letters and digits.
const START: &str = ".ctx-";
const END: &str = ".tmp";
const RANDOM: usize = 8;

/// How old a temporary file must be to be one that nobody finishes any more.
const OLD: Duration = Duration::from_secs(60 * 60);

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewFile {
    /// Those whom the user's settings (`umask`) allow to.
    Usual,
    /// Its user alone.
    Private,
}

/// Makes a temporary file in a folder.
#[cfg_attr(not(unix), expect(unused_variables, reason = "other systems have no modes"))]
pub(super) fn temporary(folder: &Path, new: NewFile) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(START).suffix(END).rand_bytes(RANDOM);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(match new {
        NewFile::Usual => 0o666,
        NewFile::Private => 0o600,
    }));
    builder.tempfile_in(folder)
}

/// Removes temporary files of runs that were killed from a folder: those with a name that only we give, which nobody
/// has changed for an hour. Whatever cannot be looked at or removed stays.
pub fn remove_leftovers(folder: &Path) {
    let is_left = |entry: &std::fs::DirEntry| {
        let Ok(metadata) = entry.metadata() else { return false };
        let age = metadata.modified().ok().and_then(|changed| changed.elapsed().ok());
        metadata.is_file() && age.is_some_and(|age| age > OLD)
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_ours));
    for entry in ours.filter(is_left) {
        std::fs::remove_file(entry.path()).unwrap_or_default();
    }
}

fn is_ours(name: &str) -> bool {
    let random = name.strip_prefix(START).and_then(|rest| rest.strip_suffix(END));
    random.is_some_and(|random| random.len() == RANDOM && random.chars().all(|c| c.is_ascii_alphanumeric()))
}
