//! The files of the folder as they were last seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ctx_project::files::Stamp;
use ctx_types::phrase;

use super::open_file::OpenFile;
use crate::api::NoticeKind;
use crate::api_files::{FileKind, FileView};
use crate::call::Refusal;
use crate::folder::{Folder, FoundFile, kind_of};
use crate::notices::Notices;

/// How many drafts that equal their files are kept.
const MAX_CLEAN: usize = 64;

/// What a file is, the hash of what it holds, and that where somebody looks at it.
pub(super) type ReadFile = (FileKind, String, Option<Arc<[u8]>>);

/// All files, by their ids.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) files: BTreeMap<String, KnownFile>,
    pub(super) is_cut: bool,
    /// First revision of a file that comes: above those of all files that went, since it may be one of them.
    pub(super) first_revision: u64,
}

/// A file of the folder, and its draft if somebody looks at it.
#[derive(Debug)]
pub(super) struct KnownFile {
    pub(super) path: String,
    pub(super) stamp: Stamp,
    pub(super) kind: FileKind,
    /// The hash of what it holds.
    pub(super) hash: String,
    pub(super) is_read_only: bool,
    pub(super) revision: u64,
    pub(super) open: Option<OpenFile>,
}

impl State {
    /// Takes a new listing, each file with the stamp that was `known` before; returns whether files came or went.
    pub(super) fn take(
        &mut self,
        read: Vec<(String, FoundFile, Stamp, Option<ReadFile>)>,
        known: &BTreeMap<String, (Stamp, bool)>,
        is_cut: bool,
        notices: &Notices,
    ) -> bool {
        let listed: BTreeSet<String> = read.iter().map(|(id, ..)| id.clone()).collect();
        let before = self.files.len();
        let mut first = self.first_revision;
        self.files.retain(|id, file| {
            let is_saved_since = known.get(id).is_none_or(|(stamp, _)| *stamp != file.stamp);
            let stays = listed.contains(id) || file.is_dirty() || is_saved_since;
            if !stays {
                first = first.max(file.revision + 1);
            }
            stays
        });
        self.first_revision = first;
        let mut is_new = self.files.len() != before || self.is_cut != is_cut;
        self.is_cut = is_cut;
        for (id, found, before, told) in read {
            let known = self.files.entry(id.clone()).or_insert_with(|| {
                is_new = true;
                KnownFile::gone(&found.path, first)
            });
            known.is_read_only = found.is_read_only;
            if known.stamp != before {
                // It was saved since it was read: the next look reads it.
                continue;
            }
            let Some((kind, hash, bytes)) = told else {
                known.stamp = found.stamp;
                continue;
            };
            // A window may show another text of each file that it could have seen.
            let is_seen = !known.hash.is_empty();
            let is_changed = hash != known.hash && (is_seen || known.revision > 0);
            if is_changed && known.open.is_some() && bytes.is_none() {
                // Somebody has begun to look at it meanwhile: the next look reads it.
                continue;
            }
            known.stamp = found.stamp;
            is_new |= kind != known.kind;
            known.kind = kind;
            known.hash = hash;
            if !is_changed {
                continue;
            }
            let is_taken = match (&mut known.open, bytes) {
                // What the other program wrote is a step that can be taken back, as those before it.
                (Some(open), Some(bytes)) => open.follow(&known.path, kind, bytes),
                (open, _) => open.is_none() && is_seen,
            };
            known.revision += u64::from(is_taken);
            notices.tell(NoticeKind::File, Some(&id), Some(known.revision), None);
        }
        is_new
    }

    /// Forgets a file.
    pub(super) fn remove(&mut self, id: &str) -> Option<KnownFile> {
        let file = self.files.remove(id)?;
        self.first_revision = self.first_revision.max(file.revision + 1);
        Some(file)
    }

    /// Closes files that nobody has edited, where many are open.
    pub(super) fn close_clean(&mut self, but: &str) {
        let is_clean = |file: &KnownFile| file.open.as_ref().is_some_and(|open| !open.is_dirty());
        let clean: Vec<String> = self
            .files
            .iter()
            .filter(|(id, file)| *id != but && is_clean(file))
            .map(|(id, _)| id.clone())
            .collect();
        for id in clean.iter().take(clean.len().saturating_sub(MAX_CLEAN)) {
            if let Some(file) = self.files.get_mut(id) {
                file.open = None;
            }
        }
    }
}

impl KnownFile {
    /// A file that was not seen yet, or is no longer there.
    pub(super) fn gone(path: &str, revision: u64) -> Self {
        Self {
            path: path.to_owned(),
            stamp: Stamp::default(),
            kind: kind_of(path, b""),
            hash: String::new(),
            is_read_only: false,
            revision,
            open: None,
        }
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.open.as_ref().is_some_and(OpenFile::is_dirty)
    }

    /// Reads the file, unless it is open. If it has changed since the last look, the next one reports that to windows.
    pub(super) fn opened(&mut self, folder: &Folder) -> Result<(), Refusal> {
        if self.open.is_some() {
            return Ok(());
        }
        let bytes = folder.read(&self.path)?.ok_or_else(|| Refusal::not_found(phrase!("no such file")))?;
        let open = OpenFile::open(&self.path, self.kind, bytes.into());
        if self.hash.is_empty() {
            self.hash.clone_from(&open.base_hash);
        }
        self.revision += u64::from(self.hash != open.base_hash);
        self.open = Some(open);
        Ok(())
    }

    pub(super) fn view(&self, id: &str, is_read_only: bool) -> FileView {
        let open = self.open.as_ref();
        FileView {
            id: id.to_owned(),
            path: self.path.clone(),
            kind: self.kind,
            hash: open.map(|open| open.base_hash.clone()).unwrap_or_default(),
            revision: self.revision,
            is_dirty: open.is_some_and(OpenFile::is_dirty),
            can_undo: open.is_some_and(OpenFile::can_undo),
            can_redo: open.is_some_and(OpenFile::can_redo),
            text: open.map(OpenFile::text).unwrap_or_default(),
            value: open.and_then(OpenFile::value),
            findings: Vec::new(),
            is_read_only: is_read_only || self.is_read_only || open.is_none_or(|open| open.is_closed),
            is_cut: open.is_some_and(|open| open.is_cut),
            more: open.and_then(OpenFile::more),
            outside: open.and_then(|open| open.outside.as_ref()).map(|outside| outside.view.clone()),
            is_gone: false,
        }
    }
}
