//! Paths of attached files: names below a folder, and nothing else.

use std::path::PathBuf;

use cap_std::fs::Dir;
use ctx_types::internal::excerpt;
use ctx_types::ports::{PortError, PortErrorKind};
use ctx_types::{Phrase, phrase};

/// The longest path that is looked at, in bytes.
const MAX_PATH: usize = 4_096;

/// Why a path leads to no file.
pub(super) enum Fault {
    Io(std::io::Error),
    /// A part of it is a link.
    Link,
}

/// Splits a path into names, or says why it is refused.
///
/// The rules are those of all systems together, so that a path means the same everywhere: both slashes part names,
/// and what is a drive, a stream or a device on one of them is refused on all.
pub(super) fn names(path: &str) -> Result<Vec<&str>, PortError> {
    let refused = |why: Phrase| Err(refused(path, &why));
    if path.is_empty() || path.len() > MAX_PATH {
        return refused(phrase!("a path must have 1 to 4096 bytes"));
    }
    if path.contains(char::is_control) {
        return refused(phrase!("it contains a control character"));
    }
    if path.starts_with(['/', '\\']) {
        return refused(phrase!("it is not relative to the folder"));
    }
    let mut names = Vec::new();
    for name in path.split(['/', '\\']).filter(|name| !matches!(*name, "" | ".")) {
        if name == ".." {
            return refused(phrase!("it leaves the folder"));
        }
        if name.contains(':') {
            return refused(phrase!("it contains a colon"));
        }
        if name.ends_with(['.', ' ']) {
            return refused(phrase!("a name ends with a dot or a space"));
        }
        if is_device(name) {
            return refused(phrase!("it is a reserved device name"));
        }
        names.push(name);
    }
    if names.is_empty() { refused(phrase!("it is the folder itself")) } else { Ok(names) }
}

/// Joins names to a path that leads over no link.
///
/// What it finds may change before the path is used; the folder's handle itself lets nothing lead out.
pub(super) fn without_links(folder: &Dir, names: &[&str]) -> Result<PathBuf, Fault> {
    let mut path = PathBuf::new();
    for name in names {
        path.push(name);
        if folder.symlink_metadata(&path).map_err(Fault::Io)?.is_symlink() {
            return Err(Fault::Link);
        }
    }
    Ok(path)
}

pub(super) fn refused(path: &str, why: &Phrase) -> PortError {
    let detail = phrase!("`{path}` is not allowed: {why}", path = excerpt(path), why = why.clone());
    PortError::new(PortErrorKind::Denied, detail)
}

/// Returns whether a name means a device of Windows, whatever its ending.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = |device: &str| {
        let number = stem.strip_prefix(device).and_then(|number| number.chars().next());
        let has_one_digit = stem.chars().count() == device.len() + 1;
        has_one_digit && number.is_some_and(|number| "123456789¹²³".contains(number))
    };
    matches!(&*stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || numbered("com")
        || numbered("lpt")
}
