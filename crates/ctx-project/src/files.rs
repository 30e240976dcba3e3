//! Reads and writes files. Limits their size, writes them atomically, and never overwrites an input file.

mod identity;
mod leading;
mod leftover;
mod lock;
mod once;
mod opencode;
mod shell;
mod stamp;
mod write;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::error::{ProjectError, Result, unusable};
use ctx_chat::files::{NOT_REGULAR, open_input};
use ctx_chat::redact_text;
use ctx_types::internal::closest;
use ctx_types::{Phrase, phrase};
use sha2::{Digest as _, Sha256};

pub use identity::FilesRead;
pub use leading::{is_within, leads_out, plain, target};
pub use leftover::remove_leftovers;
pub use lock::lock;
pub use once::Once;
pub use shell::{shell_text, shell_word};
pub use stamp::Stamp;
pub use write::{Existing, make_private_folder, refuse_stdin, write, write_private};

/// Maximum size of an input file, in bytes. The readers of all formats have the same limit.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The same for the texts of a database or a folder.
const MAX_TEXT: usize = 64 * 1024 * 1024;

/// First bytes of a file that zstd compressed, as Codex compresses old transcripts.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Maximum number of entries in a folder that is searched for similar names.
const MAX_NEIGHBOURS: usize = 1_000;

/// Extensions of JSON and YAML files.
pub(crate) const DOCUMENTS: &[&str] = &["json", "yaml", "yml"];

/// Extensions of JSON Lines files.
pub(crate) const LINES: &[&str] = &["jsonl", "ndjson"];

/// Reads a regular file or standard input.
///
/// Standard input is `-`, or a path in `/dev` or `/proc` that a shell passes for a pipe.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let name = name(path);
    let mut bytes = Vec::new();
    let database = if is_stdin(path) { None } else { opencode::read_database(path, MAX_TEXT) };
    if let Some(rows) = database {
        return rows.map_err(|error| {
            unusable!("cannot read the database `{name}`: {error}", name, error = error.to_string())
        });
    }
    let read = match is_stdin(path) {
        true => std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes),
        false if path.is_dir() => {
            let transcript = opencode::read_folder(path, MAX_TEXT);
            return transcript.ok_or_else(|| unusable!("`{name}` is a folder, not a file", name));
        }
        false => open_input(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| {
        if error.to_string() == NOT_REGULAR {
            unusable!("`{name}` is not a regular file; to read a pipe, use `-` with `< FILE`", name)
        } else {
            unusable!("cannot read `{name}`: {error}", name, error = reason(&error))
        }
    })?;
    if bytes.starts_with(&ZSTD) {
        return Err(unusable!("`{name}` is compressed; unpack it with `zstd -d {name}`", name));
    }
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unusable!("`{name}` is larger than {limit} MiB", name, limit = MAX_BYTES / 1024 / 1024));
    }
    Ok(bytes)
}

/// Returns an error if a file has changed since it was read.
pub(crate) fn refuse_changed(path: &Path, before: &[u8]) -> Result<()> {
    if read(path)? == before {
        Ok(())
    } else {
        Err(unusable!("nothing written: another program changed `{path}`", path = name(path)))
    }
}

/// Replaces the bytes of a file, unless another program changed the file since it was read.
pub(crate) fn replace(path: &Path, before: &[u8], after: &[u8], read: &FilesRead) -> Result<()> {
    let _lock = lock(path)?;
    refuse_changed(path, before)?;
    write(&[(path.to_owned(), after)], Existing::Named, read)
}

pub use ctx_chat::files::reason;
pub(crate) use ctx_operations::document_edit::numbers;
pub use ctx_operations::document_edit::{
    MARK, edited_json as edited, is_editable_json as is_editable, pretty_json, split_mark, without_mark,
};

/// Returns the SHA-256 hash of bytes in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` never fails.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}

/// Returns whether a file has one of these extensions, in lower or upper case.
pub(crate) fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    endings.iter().any(|known| known.eq_ignore_ascii_case(ending))
}

/// Returns the existing file that a missing path probably means.
///
/// Prefers a file with the same stem and another extension to a file with a similar name. Returns `None` for folders
/// with more than 1,000 entries, because their order depends on the system.
pub fn near(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries: Vec<_> = std::fs::read_dir(folder).ok()?.take(MAX_NEIGHBOURS + 1).collect();
    if entries.len() > MAX_NEIGHBOURS {
        return None;
    }
    let files = entries.into_iter().flatten().filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let is_sibling = |name: &&String| Path::new(name).file_stem() == path.file_stem();
    let wanted = path.file_name()?.to_str()?;
    let near = names.iter().find(is_sibling).map(String::as_str);
    near.or_else(|| closest(wanted, names.iter().map(String::as_str))).map(str::to_owned)
}

/// Creates a folder and its missing parents.
pub fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| ProjectError::Unusable(not_created(folder, &error)))
}

/// Explains why a folder cannot be created.
pub(crate) fn not_created(path: &Path, error: &std::io::Error) -> Phrase {
    let folder = name(path);
    if path.is_file() {
        return phrase!("cannot create the folder `{folder}`: a file of that name exists", folder);
    }
    phrase!("cannot create the folder `{folder}`: {reason}", folder, reason = reason(error))
}

/// Explains why a folder cannot be opened.
pub fn not_opened(path: &Path, error: &std::io::Error) -> Phrase {
    let folder = name(path);
    if path.is_file() {
        return phrase!("`{folder}` is a file, not a folder", folder);
    }
    phrase!("cannot open the folder `{folder}`: {reason}", folder, reason = reason(error))
}

/// Resolves a path that a file in a folder names, relative to the working folder.
pub fn below(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    // Only the command line can name standard input.
    if is_stdin(&path) { Path::new(".").join(path) } else { path }
}

/// Returns whether a path means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the name of a file in results and diagnostics. It is the same on every system.
///
/// A store can be a URL with a password, which is redacted.
pub fn name(path: &Path) -> String {
    match is_stdin(path) {
        true => "standard input".to_owned(),
        false if cfg!(windows) => redact_text(&path.display().to_string()).replace('\\', "/"),
        false => redact_text(&path.display().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which of these files is suggested. A name that ends with `/` is a folder.
    #[track_caller]
    fn check(names: &[String], wanted: &str, expected: Option<&str>) {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            if name.ends_with('/') {
                std::fs::create_dir(path).unwrap();
            } else {
                std::fs::write(path, "").unwrap();
            }
        }
        assert_eq!(near(&folder.path().join(wanted)).as_deref(), expected);
    }

    fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
        names.map(str::to_owned).to_vec()
    }

    #[test]
    fn a_file_of_nearly_the_name_may_be_meant_and_a_folder_is_not() {
        check(&names(["chat.json", "other.json"]), "chta.json", Some("chat.json"));
        check(&names(["chta.yaml", "chat.json"]), "chta.json", Some("chta.yaml"));
        check(&names(["chat.json/", "other.json"]), "chta.json", None);
        check(&names(["chta/", "chat.json"]), "chta.json", Some("chat.json"));
    }

    #[cfg(unix)]
    #[test]
    fn refuses_pipe_and_socket_without_waiting() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};

        let folder = tempfile::tempdir().unwrap();
        for (name, kind) in [("pipe.json", FileType::Fifo), ("socket.json", FileType::Socket)] {
            let path = folder.path().join(name);
            mknodat(CWD, &path, kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
            assert!(read(&path).is_err(), "{name}");
            let mut noted = FilesRead::default();
            noted.note(&path);
            assert!(lock(&path).is_ok() == (name == "pipe.json"), "{name}");
        }
        let told = read(&folder.path().join("pipe.json")).unwrap_err().to_string();
        assert!(
            told.ends_with("pipe.json` is not a regular file; to read a pipe, use `-` with `< FILE`"),
            "{told}"
        );
    }

    #[test]
    fn hides_password_of_store() {
        assert_eq!(name(Path::new("postgres://ctx:secret@db/ctx")), "postgres://***@db/ctx");
        assert_eq!(name(Path::new("chats/a.json")), "chats/a.json");
    }

    #[test]
    fn of_too_many_files_none_may_be_meant() {
        let mut many: Vec<String> = (1..MAX_NEIGHBOURS).map(|n| format!("{n}.txt")).collect();
        many.push("chat.json".to_owned());
        check(&many, "chta.json", Some("chat.json"));
        many.push("one-more.txt".to_owned());
        check(&many, "chta.json", None);
    }
}
