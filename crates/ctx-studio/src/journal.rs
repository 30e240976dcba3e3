//! Unsaved drafts, kept beside the store of conversations, so that nothing is lost with the process.
//!
//! One file for each folder, readable by its user alone, written whole within a moment of each edit. A second server on
//! the same folder keeps its own; what it leaves is taken up by the next one that starts.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ctx_chat::files::{open_regular, read_regular};
use ctx_project::files::{self, hash};
use ctx_types::{Phrase, phrase};
use serde::{Deserialize, Serialize};

use crate::access::lock;

/// How many servers on one folder keep a journal.
const MAX_SERVERS: usize = 8;

/// The largest journal that is read.
const MAX_BYTES: u64 = 256 << 20;

/// An unsaved draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptDraft {
    pub(crate) path: String,
    /// The hash of the file that it was made from or last saved as.
    pub(crate) hash: String,
    pub(crate) text: String,
    /// The ids of its latest edits: one that is sent again is not made again.
    #[serde(default)]
    pub(crate) ids: Vec<String>,
}

/// What a journal holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    folder: String,
    drafts: Vec<KeptDraft>,
}

/// The journal of a folder.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    folder: String,
    /// Held by whoever writes.
    writing: Mutex<()>,
    /// Of the other servers that the folder may have.
    others: Vec<PathBuf>,
    /// Says to other servers that this journal is in use.
    _lock: File,
}

impl Journal {
    /// Opens the journal of a folder that is served, and returns what it holds.
    pub(crate) fn open(place: &Path, served: &Path) -> Result<(Self, Vec<KeptDraft>), Phrase> {
        let failed = |error: std::io::Error| {
            let (folder, reason) = (files::name(place), files::reason(&error));
            phrase!("cannot back up unsaved edits in `{folder}`: {reason}", folder, reason)
        };
        ctx_chat::create_private_folder(place).map_err(failed)?;
        let folder = files::name(served);
        let name: String = hash(folder.as_bytes()).chars().take(32).collect();
        for number in 1..=MAX_SERVERS {
            let own = private(&place.join(format!("{name}-{number}.lock")), false).map_err(failed)?;
            if own.try_lock().is_err() {
                continue;
            }
            let path = place.join(format!("{name}-{number}.json"));
            let kept = read(&path, &folder);
            let others = (1..=MAX_SERVERS).filter(|other| *other != number);
            let others = others.map(|other| place.join(format!("{name}-{other}.json"))).collect();
            let journal = Self { path, folder, writing: Mutex::new(()), others, _lock: own };
            let kept = journal.take_over(kept);
            return Ok((journal, kept));
        }
        Err(phrase!(
            "unsaved edits are not backed up: {limit} other servers use this folder",
            limit = MAX_SERVERS
        ))
    }

    /// Asks for all unsaved drafts and writes them, one call after the other: none writes older drafts over newer ones.
    pub(crate) fn keep(&self, drafts: impl FnOnce() -> Vec<KeptDraft>) -> std::io::Result<()> {
        let _writing = lock(&self.writing);
        self.write(drafts())
    }

    /// Returns whether another server has the folder open now.
    pub(crate) fn is_shared(&self) -> bool {
        let is_in_use = |path: &PathBuf| {
            open_regular(&path.with_extension("lock"))
                .is_ok_and(|file| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
        };
        self.others.iter().any(is_in_use)
    }

    /// Takes up what servers have left that no longer run. Of two drafts of one file the other one stays where it is.
    fn take_over(&self, mut kept: Vec<KeptDraft>) -> Vec<KeptDraft> {
        let mut taken = Vec::new();
        for path in self.others.iter().filter(|path| path.exists()) {
            let Ok(lock) = private(&path.with_extension("lock"), false) else { continue };
            if lock.try_lock().is_err() {
                continue;
            }
            let theirs = read(path, &self.folder);
            let count = theirs.len();
            let mut rest = Vec::new();
            for draft in theirs {
                match kept.iter().find(|own| own.path == draft.path) {
                    Some(own) if own.text == draft.text => (),
                    Some(_) => rest.push(draft),
                    None => kept.push(draft),
                }
            }
            if rest.len() < count {
                taken.push((lock, path, rest));
            }
        }
        // Only what is written here goes there; until then it is in both.
        if !taken.is_empty() && self.write(kept.clone()).is_ok() {
            for (_lock, path, rest) in taken {
                write(path, &self.folder, rest).unwrap_or_default();
            }
        }
        kept
    }

    fn write(&self, drafts: Vec<KeptDraft>) -> std::io::Result<()> {
        write(&self.path, &self.folder, drafts)
    }
}

/// Writes drafts; without any, the journal goes.
fn write(path: &Path, folder: &str, drafts: Vec<KeptDraft>) -> std::io::Result<()> {
    if drafts.is_empty() {
        return match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    let kept = Kept { folder: folder.to_owned(), drafts };
    let new = path.with_extension("new");
    let mut file = private(&new, true)?;
    file.write_all(&serde_json::to_vec(&kept)?)?;
    file.sync_data()?;
    std::fs::rename(&new, path)
}

/// Reads what was kept of a folder; what cannot be read is none of ours.
fn read(path: &Path, folder: &str) -> Vec<KeptDraft> {
    if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES) {
        return Vec::new();
    }
    let kept =
        read_regular(path, MAX_BYTES).ok().and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
    kept.filter(|kept| kept.folder == folder).map(|kept| kept.drafts).unwrap_or_default()
}

/// Opens a file that its user alone may read.
fn private(path: &Path, is_emptied: bool) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(is_emptied);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(text: &str) -> KeptDraft {
        let (path, hash) = ("agent.yaml".to_owned(), "h".to_owned());
        KeptDraft { path, hash, text: text.to_owned(), ids: vec!["a".to_owned()] }
    }

    #[test]
    fn what_is_unsaved_comes_back_and_is_private() {
        let place = tempfile::tempdir().unwrap();
        let served = Path::new("/garden");
        let (journal, kept) = Journal::open(place.path(), served).unwrap();
        assert_eq!(kept, []);
        journal.write(vec![draft("name: Ada\n")]).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&journal.path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        drop(journal);
        let (journal, kept) = Journal::open(place.path(), served).unwrap();
        assert_eq!(kept, [draft("name: Ada\n")]);
        journal.write(Vec::new()).unwrap();
        drop(journal);
        assert_eq!(Journal::open(place.path(), served).unwrap().1, []);
    }

    #[test]
    fn two_servers_keep_two_journals_and_a_broken_one_is_empty() {
        let place = tempfile::tempdir().unwrap();
        let served = Path::new("/garden");
        let (first, _) = Journal::open(place.path(), served).unwrap();
        first.write(vec![draft("one")]).unwrap();
        let (second, kept) = Journal::open(place.path(), served).unwrap();
        assert_eq!(kept, []);
        assert_ne!(first.path, second.path);
        assert!(first.is_shared() && second.is_shared());
        std::fs::write(&first.path, "{").unwrap();
        drop(first);
        assert!(!second.is_shared());
        assert_eq!(Journal::open(place.path(), served).unwrap().1, []);
    }

    #[test]
    fn older_drafts_are_not_written_over_newer_ones() {
        let place = tempfile::tempdir().unwrap();
        let (journal, _) = Journal::open(place.path(), Path::new("/garden")).unwrap();
        let (told, heard) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                journal.keep(|| {
                    told.send(()).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(200));
                    vec![draft("old")]
                })
            });
            heard.recv().unwrap();
            journal.keep(|| vec![draft("new")]).unwrap();
        });
        assert_eq!(read(&journal.path, &journal.folder), [draft("new")]);
    }

    #[test]
    fn what_servers_left_that_no_longer_run_is_taken_up() {
        let place = tempfile::tempdir().unwrap();
        let served = Path::new("/garden");
        let of = |path: &str, text: &str| KeptDraft { path: path.to_owned(), ..draft(text) };
        let open = || Journal::open(place.path(), served).unwrap();
        let ((first, _), (second, _), (third, _)) = (open(), open(), open());
        first.write(vec![of("a", "1")]).unwrap();
        second.write(vec![of("a", "2"), of("b", "2")]).unwrap();
        third.write(vec![of("c", "3")]).unwrap();
        let path = second.path.clone();
        drop((first, second));
        // The third still runs.
        let (first, kept) = open();
        assert_eq!(kept, [of("a", "1"), of("b", "2")]);
        assert_eq!(read(&first.path, &first.folder), kept);
        // Of two drafts of one file none is lost.
        assert_eq!(read(&path, &first.folder), [of("a", "2")]);
        first.write(Vec::new()).unwrap();
        drop((first, third));
        let (_first, kept) = open();
        assert_eq!(kept, [of("a", "2"), of("c", "3")]);
        let left = std::fs::read_dir(place.path()).unwrap().flatten();
        assert_eq!(left.filter(|entry| entry.path().extension().is_some_and(|end| end == "json")).count(), 1);
    }

    #[test]
    fn a_journal_without_ids_is_read() {
        let kept: KeptDraft = serde_json::from_str(r#"{"path":"a","hash":"h","text":"t"}"#).unwrap();
        assert!(kept.ids.is_empty());
    }
}
