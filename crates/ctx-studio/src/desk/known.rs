//! The files of the folder as they were last seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ctx_project::files::{Stamp, hash};
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
        self.files.retain(|id, file| {
            let is_dirty = file.open.as_ref().is_some_and(OpenFile::is_dirty);
            let is_saved_since = known.get(id).is_none_or(|(stamp, _)| *stamp != file.stamp);
            listed.contains(id) || is_dirty || is_saved_since
        });
        let mut is_new = self.files.len() != before || self.is_cut != is_cut;
        self.is_cut = is_cut;
        for (id, found, before, told) in read {
            let known = self.files.entry(id.clone()).or_insert_with(|| {
                is_new = true;
                KnownFile::gone(&found.path)
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
            let is_changed = hash != known.hash && !known.hash.is_empty();
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
                (open, _) => open.is_none(),
            };
            known.revision += u64::from(is_taken);
            notices.tell(NoticeKind::File, Some(&id), Some(known.revision), None);
        }
        is_new
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
    pub(super) fn gone(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            stamp: Stamp::default(),
            kind: kind_of(path, b""),
            hash: String::new(),
            is_read_only: false,
            revision: 0,
            open: None,
        }
    }

    /// Reads the file, unless it is open; also where the last edit was taken back that what another program wrote could
    /// not be joined with.
    pub(super) fn opened(&mut self, folder: &Folder) -> Result<(), Refusal> {
        let is_behind = |open: &OpenFile| open.base_hash != self.hash && !open.is_dirty();
        if self.open.as_ref().is_some_and(|open| !is_behind(open)) {
            return Ok(());
        }
        let bytes: Option<Arc<[u8]>> = folder.read(&self.path)?.map(Arc::from);
        match (&mut self.open, bytes) {
            (Some(open), Some(bytes)) => {
                self.hash = hash(&bytes);
                self.revision += u64::from(open.follow(&self.path, self.kind, bytes));
            }
            // It is gone: what was seen of it last is shown.
            (Some(_), None) => {}
            (None, Some(bytes)) => {
                self.hash = hash(&bytes);
                self.open = Some(OpenFile::open(&self.path, self.kind, bytes));
            }
            (None, None) => return Err(Refusal::not_found(phrase!("no such file"))),
        }
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
