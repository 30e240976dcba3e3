//! Finding a text in the files of a folder.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ctx_pipeline::Cancel;
use ctx_types::internal::excerpt;

use crate::folder::Arguments;
use crate::folder::look::{MAX_FILE, MAX_SEEN, plain, text};
use crate::tools::ToolError;

/// How many lines are told.
const MAX_FOUND: usize = 200;

/// How many files are looked into.
const MAX_FILES: usize = 10_000;

/// How deep folders are walked.
const MAX_DEPTH: usize = 32;

/// Finds lines that contain a text; files and folders whose names begin with a dot are passed over.
pub(super) fn run(folder: &Dir, arguments: &Arguments, cancel: &Cancel) -> Result<String, ToolError> {
    let wanted = arguments.text("text")?;
    if wanted.is_empty() {
        return Err(ToolError("the search text is empty".to_owned()));
    }
    let start = plain(folder, arguments.path()?)?;
    let mut search = Search { folder, wanted, cancel, found: Vec::new(), files: 0, end: None };
    match folder.symlink_metadata(&start) {
        Ok(metadata) if metadata.is_file() => search.file(&start),
        _ => search.folder(&start, 0),
    }
    let mut lines = search.found;
    if lines.is_empty() {
        lines.push(format!("[no matches in {} files]", search.files));
    }
    lines.extend(search.end.map(|why| format!("[search stopped: {why}]")));
    Ok(lines.join("\n"))
}

struct Search<'a> {
    folder: &'a Dir,
    wanted: &'a str,
    cancel: &'a Cancel,
    found: Vec<String>,
    files: usize,
    /// Why it ended before everything was looked at.
    end: Option<String>,
}

impl Search<'_> {
    fn folder(&mut self, path: &Path, depth: usize) {
        if depth > MAX_DEPTH {
            self.end = Some(format!("more than {MAX_DEPTH} levels of folders"));
            return;
        }
        let Ok(entries) = self.folder.read_dir(path) else { return };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).take(MAX_SEEN + 1).collect();
        if names.len() > MAX_SEEN {
            self.end = Some(format!("a folder has more than {MAX_SEEN} entries"));
            return;
        }
        names.sort_unstable();
        for name in names.iter().filter(|name| !name.to_string_lossy().starts_with('.')) {
            if self.is_over() {
                return;
            }
            let below: PathBuf = if path == Path::new(".") { name.into() } else { path.join(name) };
            match self.folder.symlink_metadata(&below) {
                Ok(metadata) if metadata.is_dir() => self.folder(&below, depth + 1),
                Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_FILE => self.file(&below),
                _ => {}
            }
        }
    }

    fn is_over(&mut self) -> bool {
        if self.end.is_none() && self.found.len() >= MAX_FOUND {
            self.end = Some(format!("more than {MAX_FOUND} lines"));
        }
        if self.end.is_none() && self.files >= MAX_FILES {
            self.end = Some(format!("more than {MAX_FILES} files"));
        }
        self.end.is_some() || self.cancel.is_cancelled()
    }

    /// Looks into a file; one that is no text is passed over.
    fn file(&mut self, path: &Path) {
        self.files += 1;
        let shown = path.to_string_lossy().replace('\\', "/");
        let Ok(text) = text(self.folder, path, &shown) else { return };
        let lines = text.lines().enumerate().filter(|(_, line)| line.contains(self.wanted));
        for (index, line) in lines.take(MAX_FOUND.saturating_sub(self.found.len())) {
            self.found.push(format!("{shown}:{}: {}", index + 1, excerpt(line.trim())));
        }
    }
}
