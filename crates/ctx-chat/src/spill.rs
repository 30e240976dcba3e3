//! Stores large tool results in files next to the store.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ctx_types::internal::Fingerprint;

use crate::private;

/// Characters of an id in its file name.
const MAX_NAME: usize = 40;

/// A folder for tool results that are too large for a conversation.
///
/// Each conversation has a folder, and each result has a file in it. File names are derived from ids. The files are
/// always inside the folder, for any id.
#[derive(Clone, Debug)]
pub struct SpillFolder {
    root: PathBuf,
    /// Maximum size of a result in the conversation, in bytes.
    threshold: usize,
    /// Size of the start and of the end of a result in its preview, in bytes.
    preview: usize,
}

/// A processed result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spilled {
    /// Text of the message: the whole result, or a preview and the path of the file.
    pub text: String,
    /// File with the whole result, if there is one.
    pub path: Option<PathBuf>,
}

impl SpillFolder {
    /// Creates the folder when it is needed. By default, results over 32 KiB are spilled.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), threshold: 32 << 10, preview: 2 << 10 }
    }

    /// Sets the maximum size of a result in the conversation, and the size of the start and the end in a preview.
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

    /// Writes a result to a file if it is too large for the conversation.
    ///
    /// If the write fails, the message contains the preview and reports the failure. A full disk does not end a turn.
    pub fn spill(&self, conversation: &str, call: &str, result: &str) -> Spilled {
        if self.keeps(result) {
            return Spilled { text: result.to_owned(), path: None };
        }
        let path = self.folder(conversation).join(format!("{}.txt", file_name(call)));
        let (rest, path) = match write(&path, result) {
            Ok(()) => (format!("Full output: {}", path.display()), Some(path)),
            Err(error) => (format!("Cannot save the full output: {error}"), None),
        };
        let (head, tail) = ends(result, self.preview);
        let left_out = result.len() - head.len() - tail.len();
        Spilled { text: format!("{head}\n[... {left_out} bytes omitted ...]\n{tail}\n{rest}"), path }
    }

    /// Counts the spilled results of a conversation.
    pub fn count(&self, conversation: &str) -> io::Result<usize> {
        match fs::read_dir(self.folder(conversation)) {
            Ok(files) => Ok(files.count()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Deletes the spilled results of a conversation, and the folder itself if it is then empty.
    pub fn delete(&self, conversation: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.folder(conversation)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => result?,
        }
        // The folder stays if other conversations have results.
        fs::remove_dir(&self.root).unwrap_or_default();
        Ok(())
    }

    fn folder(&self, conversation: &str) -> PathBuf {
        self.root.join(file_name(conversation))
    }
}

/// Returns a unique file name for an id, without special characters.
fn file_name(id: &str) -> String {
    let plain = id.chars().filter(|character| character.is_ascii_alphanumeric() || *character == '_');
    let plain: String = plain.take(MAX_NAME).collect();
    format!("{plain}-{}", Fingerprint::default().text(id))
}

/// Writes a file atomically.
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

/// Waits until the name of a new file is durable. The message that names the file may survive a power failure.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Folders cannot be opened on this system, which writes names by itself.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns the first and last bytes of a text, cut at character boundaries.
fn ends(text: &str, bytes: usize) -> (&str, &str) {
    let boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=bytes.min(text.len())).rev().find(boundary).unwrap_or(0);
    let tail = text.len().saturating_sub(bytes).max(head);
    let tail = (tail..=text.len()).find(boundary).unwrap_or(text.len());
    (&text[..head], &text[tail..])
}
