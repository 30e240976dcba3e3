//! `ctx check --fix`: what changes in which files, and what was left as it is.

use std::path::{Path, PathBuf};

use anyhow::Result;
use ctx_types::{Diagnostic, plural};
use serde_json::{Value, json};

use super::mend::{Look, mend};
use crate::{lang, show};
use ctx_project::edits;
use ctx_project::files::{self, Existing, FilesRead};

/// What is mended in the files of a run.
pub(super) struct Fixes {
    /// Whether the changes are shown only.
    is_dry: bool,
    files: Vec<FixedFile>,
}

/// A file in which something is mended, or would be if it could be done safely.
struct FixedFile {
    path: PathBuf,
    name: String,
    before: Vec<u8>,
    after: Option<Vec<u8>>,
    fixed: Vec<Diagnostic>,
    declined: Vec<(Diagnostic, String)>,
}

impl Fixes {
    /// Begins a run, in which changes are written at its end or shown only.
    pub(super) const fn new(is_dry: bool) -> Self {
        Self { is_dry, files: Vec::new() }
    }

    /// Mends the bytes of a file; returns those that are in it from now on.
    ///
    /// A file that cannot be read at all stays as it is; whoever checks it says why.
    pub(super) fn mend(&mut self, path: &Path, name: &str, bytes: Vec<u8>, look: Look<'_>) -> Vec<u8> {
        let Ok(mended) = mend(&bytes, name, look) else { return bytes };
        if mended.bytes.is_none() && mended.declined.is_empty() {
            return bytes;
        }
        let stays = self.is_dry || mended.bytes.is_none();
        let now = if stays { bytes.clone() } else { mended.bytes.clone().unwrap_or_default() };
        self.files.push(FixedFile {
            path: path.to_owned(),
            name: name.to_owned(),
            before: bytes,
            after: mended.bytes,
            fixed: mended.fixed,
            declined: mended.declined,
        });
        now
    }

    /// Says of the findings that could be mended that their file is never changed.
    pub(super) fn decline(&mut self, path: &Path, name: &str, found: &[Diagnostic]) {
        let reason = format!("`{name}` is never changed");
        let open = found.iter().filter(|finding| finding.fix.is_some());
        let declined: Vec<_> =
            open.map(|finding| (Diagnostic { fix: None, ..finding.clone() }, reason.clone())).collect();
        if !declined.is_empty() {
            let (path, name, fixed) = (path.to_owned(), name.to_owned(), Vec::new());
            self.files.push(FixedFile { path, name, before: Vec::new(), after: None, fixed, declined });
        }
    }

    /// Writes the files that change, all or none, unless the changes are shown only.
    pub(super) fn write(&self) -> Result<()> {
        if self.is_dry {
            return Ok(());
        }
        for file in self.changed() {
            files::refuse_changed(&file.path, &file.before)?;
        }
        let all = self.changed().filter_map(|file| Some((file.path.clone(), file.after.as_deref()?)));
        Ok(files::write(&all.collect::<Vec<_>>(), Existing::Named, &FilesRead::default())?)
    }

    /// Says why findings that could be mended were not, on standard error.
    pub(super) fn show_declined(&self) {
        for file in &self.files {
            for (finding, reason) in &file.declined {
                let pointer = finding.location.pointer.as_deref().unwrap_or_default();
                show::remark(&format!("{} {pointer}: {} is not fixed: {reason}", file.name, finding.code));
            }
        }
    }

    /// Writes the changed lines of each file, and how many findings are gone with them.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for file in self.changed() {
            let after = String::from_utf8_lossy(file.after.as_deref().unwrap_or_default());
            let verb = if self.is_dry { "would change" } else { "changed" };
            let changed = format!("{verb} {}", show::clean_line(&file.name));
            text += &lang::text(&changed);
            text += "\n";
            text += &show::diff(&String::from_utf8_lossy(&file.before), &after);
        }
        let fixed: usize = self.files.iter().map(|file| file.fixed.len()).sum();
        let verb = if self.is_dry { "would be fixed" } else { "fixed" };
        let (fixed, files) = (plural(fixed, "finding"), plural(self.changed().count(), "file"));
        text + &lang::text(&format!("{fixed} {verb} in {files}")) + "\n"
    }

    /// Writes for programs what changed and what did not.
    pub(super) fn to_json(&self) -> Value {
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
