//! Locks a file, to keep 2 runs from changing it at the same time.

use std::fs::File;
use std::path::Path;

use ctx_chat::files::open_now;

use crate::error::{Result, unusable};

use crate::files::{name, reason};

/// Exclusive right to change a file until the lock is dropped.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "what counts is that it is open")] Option<File>);

/// Waits until no other run changes a file.
///
/// The lock applies to the current file of this name. If another run replaced the file while this run waited, the
/// caller must read it again. There is no lock on systems other than Unix, where a lock would block readers.
pub fn lock(path: &Path) -> Result<FileLock> {
    if !cfg!(unix) {
        return Ok(FileLock(None));
    }
    let locked = open_now(path).and_then(|file| file.lock().map(|()| file));
    match locked {
        Ok(file) => Ok(FileLock(Some(file))),
        // Some file systems do not support locks. There, only the check for changes protects the file.
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
