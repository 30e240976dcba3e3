//! What fixing changes in which files, and what was left as it is.

use std::path::{Path, PathBuf};

use ctx_types::{Diagnostic, Phrase, phrase};
use serde_json::{Value, json};

use super::fix::{Look, fix};
use crate::edits;
use crate::error::Result;
use crate::files::{self, Existing, FilesRead};

/// What is fixed in the files of a run.
#[derive(Debug)]
pub struct Fixes {
    /// Whether the changes are shown only.
    is_dry: bool,
    files: Vec<FixedFile>,
}

/// A file in which something is fixed, or would be if it could be done safely.
#[derive(Debug)]
pub struct FixedFile {
    path: PathBuf,
    /// How results and findings speak of it.
    pub name: String,
    /// What it holds.
    pub before: Vec<u8>,
    /// What it is to hold; none if it stays as it is.
    pub after: Option<Vec<u8>>,
    /// The findings whose edits were made.
    pub fixed: Vec<Diagnostic>,
    /// The findings whose edits were not made, each with the reason.
    pub declined: Vec<(Diagnostic, Phrase)>,
}

impl Fixes {
    /// Begins a run, in which changes are written at its end or shown only.
    pub const fn new(is_dry: bool) -> Self {
        Self { is_dry, files: Vec::new() }
    }

    /// Fixes the bytes of a file; returns those that are in it from now on.
    ///
    /// A file that cannot be read at all stays as it is; whoever checks it says why.
    pub fn fix(&mut self, path: &Path, name: &str, bytes: Vec<u8>, look: Look<'_>) -> Vec<u8> {
        let Ok(document) = fix(&bytes, name, look) else { return bytes };
        if document.bytes.is_none() && document.declined.is_empty() {
            return bytes;
        }
        let stays = self.is_dry || document.bytes.is_none();
        let now = if stays { bytes.clone() } else { document.bytes.clone().unwrap_or_default() };
        self.files.push(FixedFile {
            path: path.to_owned(),
            name: name.to_owned(),
            before: bytes,
            after: document.bytes,
            fixed: document.fixed,
            declined: document.declined,
        });
        now
    }

    /// Records for the findings that could be fixed that their file is never changed.
    pub(crate) fn decline(&mut self, path: &Path, name: &str, found: &[Diagnostic]) {
        let reason = phrase!("`ctx check --fix` never changes `{name}`", name);
        let open = found.iter().filter(|finding| finding.fix.is_some());
        let declined: Vec<_> =
            open.map(|finding| (Diagnostic { fix: None, ..finding.clone() }, reason.clone())).collect();
        if !declined.is_empty() {
            let (path, name, fixed) = (path.to_owned(), name.to_owned(), Vec::new());
            self.files.push(FixedFile { path, name, before: Vec::new(), after: None, fixed, declined });
        }
    }

    /// Writes the files that change, all or none, unless the changes are shown only.
    pub fn write(&self) -> Result<()> {
        if self.is_dry {
            return Ok(());
        }
        for file in self.changed() {
            files::refuse_changed(&file.path, &file.before)?;
        }
        let all = self.changed().filter_map(|file| Some((file.path.clone(), file.after.as_deref()?)));
        files::write(&all.collect::<Vec<_>>(), Existing::Named, &FilesRead::default())
    }

    /// Returns whether the changes are shown only.
    pub const fn is_dry(&self) -> bool {
        self.is_dry
    }

    /// Returns the files in which something is fixed, or would be if it could be done safely.
    pub fn files(&self) -> &[FixedFile] {
        &self.files
    }

    /// Writes for programs what changed and what did not.
    pub fn to_json(&self) -> Value {
        let file = |file: &FixedFile| {
            let declined = file.declined.iter().map(|(finding, reason)| {
                json!({ "finding": finding, "fix": edits::to_json(finding), "reason": reason })
            });
            let fixed = file
                .fixed
                .iter()
                .map(|finding| json!({ "finding": finding, "fix": edits::to_json(finding) }));
            json!({
                "path": file.name,
                "isWritten": file.after.is_some() && !self.is_dry,
                "fixed": fixed.collect::<Vec<_>>(),
                "declined": declined.collect::<Vec<_>>(),
            })
        };
        self.files.iter().map(file).collect()
    }

    fn changed(&self) -> impl Iterator<Item = &FixedFile> {
        self.files.iter().filter(|file| file.after.is_some())
    }
}
