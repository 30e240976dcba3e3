//! Locks, so that of two runs that change one file the second sees what the first has written.

use std::fs::File;
use std::path::Path;

use ctx_chat::files::open_now;

use crate::error::{Result, unusable};

use crate::files::{name, reason};

/// A file that no other run of the command changes while this is there.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "what counts is that it is open")] Option<File>);

/// Waits until no other run of the command changes a file.
///
/// The lock is on the file that has the name now. A file that takes its name meanwhile has other content, which
/// whoever waited here has to look for. Elsewhere than on Unix there is no lock: there it would keep readers out.
pub fn lock(path: &Path) -> Result<FileLock> {
    if !cfg!(unix) {
        return Ok(FileLock(None));
    }
    let locked = open_now(path).and_then(|file| file.lock().map(|()| file));
    match locked {
        Ok(file) => Ok(FileLock(Some(file))),
        // Some file systems know no locks; there the look at the content has to do.
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(FileLock(None)),
        Err(error) => {
            Err(unusable!("cannot lock `{path}`: {error}", path = name(path), error = reason(&error)))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn the_second_waits_for_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.json");
        std::fs::write(&path, "{}").unwrap();
        let first = lock(&path).unwrap();
        let (told, heard) = channel();
        let waits = thread::spawn({
            let path = path.clone();
            move || {
                let _second = lock(&path).unwrap();
                told.send(std::fs::read_to_string(&path).unwrap()).unwrap();
            }
        });
        std::fs::write(&path, "{\"changed\": 1}").unwrap();
        assert!(heard.try_recv().is_err());
        drop(first);
        waits.join().unwrap();
        assert_eq!(heard.recv().unwrap(), "{\"changed\": 1}");
    }
}
