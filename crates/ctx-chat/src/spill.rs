//! Large results of tools, in files beside the store.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ctx_types::Fingerprint;

use crate::private;

/// How many characters of an id stand in the name of its file.
const MAX_NAME: usize = 40;

/// A folder for results of tools that are too large for a conversation.
///
/// Each conversation has a folder of its own in it, and each result a file there. Names are made from ids so
/// that whatever an id says, the file lies inside.
#[derive(Clone, Debug)]
pub struct SpillFolder {
    root: PathBuf,
    /// Results up to this many bytes stay in the conversation.
    threshold: usize,
    /// How many bytes of the beginning and of the end a message keeps.
    preview: usize,
}

/// A result after it was spilled, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spilled {
    /// What the message says: the whole result, or a preview and where the rest is.
    pub text: String,
    /// The file with the whole result, if there is one.
    pub path: Option<PathBuf>,
}

impl SpillFolder {
    /// Spills into a folder, which is made when it is needed; results over 32 KiB by default.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), threshold: 32 << 10, preview: 2 << 10 }
    }

    /// Sets how many bytes stay in the conversation, and how many of a spilled result's beginning and end.
    #[must_use]
    pub fn with_sizes(mut self, threshold: usize, preview: usize) -> Self {
        self.threshold = threshold;
        self.preview = preview;
        self
    }

    /// Returns whether a result is small enough to stay in the conversation.
    pub fn keeps(&self, result: &str) -> bool {
        result.len() <= self.threshold
    }

    /// Writes a result to its file if it is too large for the conversation.
    ///
    /// If the file cannot be written, the message keeps the preview and says so: a full disk ends no turn.
    pub fn spill(&self, conversation: &str, call: &str, result: &str) -> Spilled {
        if self.keeps(result) {
            return Spilled { text: result.to_owned(), path: None };
        }
        let path = self.folder(conversation).join(format!("{}.txt", file_name(call)));
        let (rest, path) = match write(&path, result) {
            Ok(()) => (format!("Full output: {}", path.display()), Some(path)),
            Err(error) => (format!("The full output could not be kept: {error}"), None),
        };
        let (head, tail) = ends(result, self.preview);
        let left_out = result.len() - head.len() - tail.len();
        Spilled { text: format!("{head}\n[... {left_out} bytes left out ...]\n{tail}\n{rest}"), path }
    }

    /// Counts the results that were spilled for a conversation.
    pub fn count(&self, conversation: &str) -> io::Result<usize> {
        match fs::read_dir(self.folder(conversation)) {
            Ok(files) => Ok(files.count()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Removes everything that was spilled for a conversation, and the folder itself if nothing else is in it.
    pub fn delete(&self, conversation: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.folder(conversation)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => result?,
        }
        // Where other conversations have results it stays, and that is no fault.
        fs::remove_dir(&self.root).unwrap_or_default();
        Ok(())
    }

    fn folder(&self, conversation: &str) -> PathBuf {
        self.root.join(file_name(conversation))
    }
}

/// A name for a file that tells ids apart and has nothing in it that means anything to a file system.
fn file_name(id: &str) -> String {
    let plain = id.chars().filter(|character| character.is_ascii_alphanumeric() || *character == '_');
    let plain: String = plain.take(MAX_NAME).collect();
    format!("{plain}-{}", Fingerprint::default().text(id))
}

/// Writes a whole file or none.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    private::create_private_folder(folder)?;
    let new = path.with_extension("new");
    let mut file = private::file_options().write(true).create(true).truncate(true).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)?;
    sync_folder(folder)
}

/// Waits until the name of a new file is on the disk too: the message that tells it may outlive a failure of power.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Folders cannot be opened here; the system writes names by itself.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The first and the last bytes of a text, cut between characters.
fn ends(text: &str, bytes: usize) -> (&str, &str) {
    let boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=bytes.min(text.len())).rev().find(boundary).unwrap_or(0);
    let tail = text.len().saturating_sub(bytes).max(head);
    let tail = (tail..=text.len()).find(boundary).unwrap_or(text.len());
    (&text[..head], &text[tail..])
}
