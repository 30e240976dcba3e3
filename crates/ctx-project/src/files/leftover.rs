//! Temporary files, and the removal of those from killed runs.

use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

/// Prefix of temporary file names. [`RANDOM`] letters and digits and the suffix follow.
const START: &str = ".ctx-";
const END: &str = ".tmp";
const RANDOM: usize = 8;

/// Age from which a temporary file belongs to a killed run.
const OLD: Duration = Duration::from_secs(60 * 60);

/// Permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewFile {
    /// The user's default (`umask`).
    Usual,
    /// Access for the user only.
    Private,
}

/// Creates a temporary file in a folder.
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

/// Removes temporary files of killed runs from a folder.
///
/// A file is removed if it has a name that only this command uses and has not changed for 1 hour. Errors are ignored.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_only_old_files_of_the_command() {
        let names =
            [".ctx-abcd1234.tmp", ".ctx-abcd1235.tmp", ".ctx-abcd.tmp", ".tmpabcd1234", "ctx-abcd1234.tmp"];
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            let hours = if name == names[1] { 0 } else { 2 };
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
        }
        remove_leftovers(folder.path());
        let entries = std::fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [names[2], names[1], names[3], names[4]]);
    }
}
