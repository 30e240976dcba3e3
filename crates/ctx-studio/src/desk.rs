//! The files that are looked at and edited, shared by all windows.
//!
//! One lock guards all drafts; it is held for edits, and not while files are checked or read for the listing.

mod file_actions;
mod joined;
mod known;
mod open_file;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ctx_engine::Engine;
use ctx_language::Language;
use ctx_project::check::Checker;
use ctx_project::drafts::{Draft, Edit};
use ctx_project::files::{self, Stamp, hash, without_mark};
use ctx_project::inputs::{AgentFile, InputFile};
use ctx_types::phrase;

use crate::access::lock;
use crate::api::{Finding, NoticeKind};
use crate::api_files::{self, Edited, FileChange, FileFindings, FileKind, FileView, ProjectFile, TextSplice};
use crate::call::Refusal;
use crate::codes;
use crate::folder::{Folder, id_of, kind_of};
use crate::journal::KeptDraft;
use crate::notices::Notices;
use known::{KnownFile, State};
use open_file::{Found, Halt, Make, OpenFile};

pub(crate) use open_file::MAX_EDITED;

/// How many edits one request has.
const MAX_EDITS: usize = 1_000;

/// The files under edit.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) folder: Folder,
    is_read_only: bool,
    checker: Checker,
    notices: Arc<Notices>,
    state: Mutex<State>,
    /// Held by whoever lists the files.
    listing: Mutex<()>,
    changed: tokio::sync::Notify,
}

/// A file under its full path, with what it holds as it is edited.
pub(crate) struct Overlay {
    pub(crate) path: std::path::PathBuf,
    pub(crate) bytes: Arc<[u8]>,
}

/// Who changes a file, and how they are answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By<'a> {
    pub(crate) window: Option<&'a str>,
    pub(crate) language: Language,
}

/// A draft that was taken back, made again, or given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DraftStep {
    Undo,
    Redo,
    Discard,
}

impl Desk {
    pub(crate) fn new(folder: Folder, is_read_only: bool, checker: Checker, notices: Arc<Notices>) -> Self {
        let (state, listing) = (Mutex::default(), Mutex::new(()));
        Self { folder, is_read_only, checker, notices, state, listing, changed: tokio::sync::Notify::new() }
    }

    /// Takes drafts that were kept, of files that are there or were.
    pub(crate) fn restore(&self, kept: Vec<KeptDraft>) {
        self.look();
        let mut state = lock(&self.state);
        let first = state.first_revision;
        for KeptDraft { path, hash: base_hash, text, ids } in kept {
            let base: Option<Arc<[u8]>> = self.folder.read(&path).ok().flatten().map(Arc::from);
            // It was saved, and the process ended before that was written down.
            if base.as_deref().is_some_and(|base| without_mark(base) == text.as_bytes()) {
                continue;
            }
            let known = state.files.entry(id_of(&path)).or_insert_with(|| KnownFile::gone(&path, first));
            let mut file = OpenFile::restored(&path, known.kind, (base.clone(), base_hash), &text);
            for id in ids {
                file.remember(id);
            }
            known.revision += 1;
            if let Some(base) = base.filter(|base| hash(base) != file.base_hash) {
                known.revision += u64::from(file.follow(&path, known.kind, base));
            }
            known.open = Some(file).filter(OpenFile::is_dirty);
        }
        let is_there = |file: &KnownFile| file.open.is_some() || file.stamp != Stamp::default();
        state.files.retain(|_, file| is_there(file));
    }

    /// Waits until a draft has changed.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Returns the drafts that differ from their files.
    pub(crate) fn unsaved(&self) -> Vec<KeptDraft> {
        let state = lock(&self.state);
        let unsaved = state.files.values().filter_map(|file| {
            let open = file.open.as_ref()?;
            let (path, hash) = (file.path.clone(), open.base_hash.clone());
            Some(KeptDraft { path, hash, text: open.unsaved()?.to_owned(), ids: open.ids() })
        });
        unsaved.collect()
    }

    /// Looks at the folder again, and tells what has changed by other programs.
    pub(crate) fn look(&self) {
        let _listing = lock(&self.listing);
        // Before the listing, so that a file saved during it has another stamp.
        let known: BTreeMap<String, (Stamp, bool)> = {
            let state = lock(&self.state);
            state.files.iter().map(|(id, file)| (id.clone(), (file.stamp, file.open.is_some()))).collect()
        };
        let (found, is_cut) = self.folder.list();
        let mut read = Vec::new();
        for file in found {
            let id = id_of(&file.path);
            let (stamp, is_open) = known.get(&id).copied().unwrap_or_default();
            let is_same = known.contains_key(&id) && stamp == file.stamp;
            let bytes = if is_same { None } else { self.folder.read(&file.path).ok().flatten() };
            let told = bytes.map(|bytes| {
                // Of all files together they are too many to be held; most are only listed.
                let (kind, hash) = (kind_of(&file.path, &bytes), hash(&bytes));
                (kind, hash, is_open.then(|| Arc::from(bytes)))
            });
            read.push((id, file, stamp, told));
        }
        let is_changed = read.iter().any(|(.., told)| told.is_some());
        let mut state = lock(&self.state);
        let is_new = state.take(read, &known, is_cut, &self.notices);
        drop(state);
        if is_changed {
            // Drafts may have been carried over to other files.
            self.changed.notify_one();
        }
        if is_new {
            self.notices.tell(NoticeKind::Project, None, None, None);
        }
    }

    /// Lists the files.
    pub(crate) fn list(&self) -> (Vec<ProjectFile>, bool) {
        let state = lock(&self.state);
        let file = |(id, file): (&String, &KnownFile)| ProjectFile {
            id: id.clone(),
            path: file.path.clone(),
            kind: file.kind,
            is_stored: false,
            bytes: file.stamp.bytes,
            is_dirty: file.is_dirty(),
            is_read_only: self.is_read_only || file.is_read_only || is_too_large(file.stamp.bytes),
        };
        let mut files: Vec<ProjectFile> = state.files.iter().map(file).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        (files, state.is_cut)
    }

    /// Returns the path of a file below the folder.
    pub(crate) fn path(&self, id: &str) -> Result<String, Refusal> {
        let state = lock(&self.state);
        state
            .files
            .get(id)
            .map(|file| file.path.clone())
            .ok_or_else(|| Refusal::not_found(phrase!("no such file")))
    }

    /// Returns what a file is.
    pub(crate) fn kind(&self, id: &str) -> Option<FileKind> {
        lock(&self.state).files.get(id).map(|file| file.kind)
    }

    /// Returns the id of a file that is listed, by its path below the folder.
    pub(crate) fn id(&self, path: &str) -> Option<String> {
        let id = id_of(path);
        lock(&self.state).files.contains_key(&id).then_some(id)
    }

    /// Returns what a file holds as it is edited.
    pub(crate) fn bytes(&self, id: &str) -> Result<Arc<[u8]>, Refusal> {
        let mut state = lock(&self.state);
        let known = state.files.get_mut(id).ok_or_else(|| Refusal::not_found(phrase!("no such file")))?;
        known.opened(&self.folder)?;
        Ok(known.open.as_mut().map_or_else(|| Arc::from([]), OpenFile::bytes))
    }

    /// Returns the value of a file as it is edited; none where it cannot be read.
    pub(crate) fn value(&self, id: &str) -> Option<serde_json::Value> {
        let mut state = lock(&self.state);
        let known = state.files.get_mut(id)?;
        known.opened(&self.folder).ok()?;
        known.open.as_ref()?.value()
    }

    /// Returns what is under edit and not saved.
    pub(crate) fn overlays(&self) -> Vec<Overlay> {
        let mut state = lock(&self.state);
        let edited = state.files.values_mut().filter_map(|file| {
            let open = file.open.as_mut().filter(|open| open.is_dirty())?;
            Some(Overlay { path: self.folder.full(&file.path), bytes: open.bytes() })
        });
        edited.collect()
    }

    /// Reads the agent of a draft, which knows what its text holds; none where that is no agent.
    pub(crate) fn agent(&self, file: &InputFile, engine: &Engine) -> Option<AgentFile> {
        let path = self.folder.below(&file.path)?;
        let document = {
            let state = lock(&self.state);
            state.files.get(&id_of(&path))?.open.as_ref()?.document()?
        };
        AgentFile::of(document, &file.name, engine).ok()
    }

    /// Shows a file as it is edited.
    pub(crate) fn view(&self, id: &str, language: Language) -> Result<FileView, Refusal> {
        let (mut view, bytes, found) = {
            let mut state = lock(&self.state);
            let known = state.files.get_mut(id).ok_or_else(|| Refusal::not_found(phrase!("no such file")))?;
            known.opened(&self.folder)?;
            let found = known.open.as_ref().and_then(|open| open.found.clone());
            let found = found.filter(|(revision, _)| *revision == known.revision).map(|(_, found)| found);
            let bytes = known.open.as_mut().map_or_else(|| Arc::from([]), OpenFile::bytes);
            let view = known.view(id, self.is_read_only);
            state.close_clean(id);
            (view, bytes, found)
        };
        let full = self.folder.full(&view.path);
        let found = found.unwrap_or_else(|| {
            let checked = self.checker.check_bytes(&full, &bytes);
            let all: Vec<_> = checked.findings.iter().collect();
            let marks = checked.sources.marks(&all);
            let found = Found { marks, positions: checked.positions, diagnostics: checked.findings };
            let found = Arc::new(found);
            if let Some(known) =
                lock(&self.state).files.get_mut(id).filter(|known| known.revision == view.revision)
                && let Some(open) = &mut known.open
            {
                open.found = Some((view.revision, found.clone()));
            }
            found
        });
        view.findings = said(&view, &files::name(&full), &found, language);
        Ok(view)
    }

    /// Says what is wrong with a file as it is edited.
    pub(crate) fn findings(&self, id: &str, language: Language) -> Result<FileFindings, Refusal> {
        let FileView { revision, findings, .. } = self.view(id, language)?;
        Ok(FileFindings { revision, findings })
    }

    /// Makes edits, or puts another text in place of the whole.
    pub(crate) fn edit(&self, id: &str, asked: api_files::Edits, by: By<'_>) -> Result<Edited, Refusal> {
        let api_files::Edits { base, id: edit_id, edits, text, rewrite } = asked;
        if edits.as_ref().is_some_and(|edits| edits.len() > MAX_EDITS) {
            let message = phrase!("send at most {limit} edits per request", limit = MAX_EDITS);
            return Err(Refusal::new(413, codes::TOO_LARGE, message));
        }
        if edit_id.is_empty() || edit_id.len() > 100 || edits.is_some() == text.is_some() {
            let message =
                phrase!("an edit needs an id of up to 100 characters, and either `edits` or `text`");
            return Err(Refusal::malformed(message));
        }
        let edits = edits.unwrap_or_default().into_iter().map(edit_of).collect::<Result<Vec<_>, _>>()?;
        let make: Make =
            if rewrite { |draft, edits| draft.rewrite(edits).map(drop) } else { Draft::edit_all };
        let mut splice = None;
        self.change(id, by, |open, revision| {
            if open.is_known(&edit_id) {
                return Ok(false);
            }
            if base != revision {
                return Err(Halt::Stale);
            }
            let is_changed = if let Some(text) = text {
                open.set_text(&text)?
            } else {
                splice = open.edit(&edits, make, by.window)?;
                splice.is_some()
            };
            open.remember(edit_id);
            Ok(is_changed)
        })?;
        let change = splice.and_then(|splice| self.file_change(id, base, splice));
        change.map_or_else(
            || self.view(id, by.language).map(Box::new).map(Edited::Whole),
            |change| Ok(Edited::Change(change)),
        )
    }

    /// Describes the change made by value edits. `None` if the page cannot compute the new value from them.
    fn file_change(&self, id: &str, base: u64, splice: TextSplice) -> Option<FileChange> {
        let state = lock(&self.state);
        let known = state.files.get(id).filter(|known| known.revision == base + 1)?;
        let open = known.open.as_ref().filter(|open| open.has_value() && open.outside.is_none())?;
        (known.kind != FileKind::Config).then(|| FileChange {
            revision: known.revision,
            is_dirty: open.is_dirty(),
            can_undo: open.can_undo(),
            can_redo: open.can_redo(),
            splice,
        })
    }

    /// Takes the latest edit back, makes it again, or takes what the file holds.
    pub(crate) fn step(
        &self,
        id: &str,
        (step, base): (DraftStep, Option<u64>),
        by: By<'_>,
    ) -> Result<FileView, Refusal> {
        let path = self.path(id)?;
        let disk = match step {
            DraftStep::Discard => match self.folder.read(&path)? {
                Some(disk) => Some(disk),
                None => return self.close_gone(id, base, by),
            },
            DraftStep::Undo | DraftStep::Redo => None,
        };
        self.change(id, by, |open, revision| {
            if base.is_some_and(|base| base != revision) {
                return Err(Halt::Stale);
            }
            Ok(match (step, disk) {
                (DraftStep::Undo, _) => open.undo(),
                (DraftStep::Redo, _) => open.redo(),
                (DraftStep::Discard, disk) => {
                    open.discard(&path, disk.unwrap_or_default().into());
                    true
                }
            })
        })?;
        self.view(id, by.language)
    }

    /// Gives up the draft of a file that is gone, and shows that there is nothing left.
    fn close_gone(&self, id: &str, base: Option<u64>, by: By<'_>) -> Result<FileView, Refusal> {
        let mut state = lock(&self.state);
        let known = state.files.get_mut(id).ok_or_else(|| Refusal::not_found(phrase!("no such file")))?;
        self.refuse_read_only(known)?;
        if base.is_some_and(|base| base != known.revision) {
            drop(state);
            return Err(stale(self.view(id, by.language)?));
        }
        known.open = None;
        known.revision += 1;
        let view = known.view(id, self.is_read_only);
        drop(state);
        self.changed.notify_one();
        self.notices.tell(NoticeKind::Draft, Some(id), Some(view.revision), by.window);
        self.look();
        Ok(view)
    }

    /// Makes the edit of a finding.
    pub(crate) fn fix(&self, id: &str, asked: &api_files::Fix, by: By<'_>) -> Result<FileView, Refusal> {
        let before = self.view(id, by.language)?;
        if before.revision != asked.base {
            return Err(stale(before));
        }
        let (bytes, found) = {
            let mut state = lock(&self.state);
            let open = state.files.get_mut(id).and_then(|file| file.open.as_mut());
            let found = open.as_ref().and_then(|open| open.found.clone()).map(|(_, found)| found);
            (open.map_or_else(|| Arc::from([]), OpenFile::bytes), found.unwrap_or_default())
        };
        let wanted = found
            .diagnostics
            .get(asked.index)
            .ok_or_else(|| Refusal::not_found(phrase!("no such diagnostic")))?;
        let full = self.folder.full(&before.path);
        let document = self.checker.fix_bytes(&full, &bytes, &|found| found == wanted);
        let document = document.map_err(|error| Refusal::unusable(error.phrase()))?;
        let Some(bytes) = document.bytes else {
            let reason =
                document.declined.into_iter().find(|(found, _)| found == wanted).map(|(_, reason)| reason);
            let reason = reason.unwrap_or_else(|| phrase!("this diagnostic has no safe automatic fix"));
            return Err(Refusal::new(422, codes::REFUSED_EDIT, reason));
        };
        let text = String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned();
        self.change(id, by, |open, revision| {
            if asked.base == revision { open.set_text(&text).map_err(Halt::from) } else { Err(Halt::Stale) }
        })?;
        self.view(id, by.language)
    }

    /// Joins the draft with the changes of another program, with the chosen version of each clashing entry.
    pub(crate) fn resolve(
        &self,
        id: &str,
        asked: &api_files::Resolve,
        by: By<'_>,
    ) -> Result<FileView, Refusal> {
        let path = self.path(id)?;
        self.change(id, by, |open, revision| {
            if asked.base != revision {
                return Err(Halt::Stale);
            }
            open.resolve(&path, asked).map(|()| true)
        })?;
        self.view(id, by.language)
    }

    /// Writes a draft, if the file still has the hash that the page saw.
    pub(crate) fn save(
        &self,
        id: &str,
        tag: &str,
        is_overwriting: bool,
        by: By<'_>,
    ) -> Result<FileView, Refusal> {
        let mut state = lock(&self.state);
        let known = state.files.get_mut(id).ok_or_else(|| Refusal::not_found(phrase!("no such file")))?;
        self.refuse_read_only(known)?;
        let disk = self.folder.read(&known.path)?;
        if known.open.is_none() && disk.is_some() {
            known.opened(&self.folder)?;
        }
        let Some(open) = &mut known.open else {
            return Err(Refusal::not_found(phrase!("no such file")));
        };
        open.refuse_unreadable_config()?;
        let bytes = open.bytes();
        let disk_hash = disk.as_deref().map(hash);
        let is_expected = disk_hash
            .as_deref()
            .map_or(is_overwriting, |disk_hash| disk_hash == tag && tag == open.base_hash);
        let is_written = disk.as_deref() == Some(&bytes);
        if !is_expected && !is_written {
            let is_gone = disk.is_none();
            if let Some(disk) = disk.filter(|disk| hash(disk) != open.base_hash) {
                known.hash = hash(&disk);
                known.revision += u64::from(open.follow(&known.path, known.kind, disk.into()));
            }
            let (path, revision) = (known.path.clone(), known.revision);
            drop(state);
            self.changed.notify_one();
            self.notices.tell(NoticeKind::File, Some(id), Some(revision), by.window);
            return Err(changed_outside(&path, FileView { is_gone, ..self.view(id, by.language)? }));
        }
        if !is_written {
            self.folder.write(&known.path, &bytes)?;
        }
        known.hash = hash(&bytes);
        known.stamp = self.folder.stamp(&known.path).unwrap_or_default();
        open.saved(&known.path, bytes);
        let revision = known.revision;
        drop(state);
        self.changed.notify_one();
        self.notices.tell(NoticeKind::File, Some(id), Some(revision), by.window);
        self.view(id, by.language)
    }

    fn refuse_read_only(&self, file: &KnownFile) -> Result<(), Refusal> {
        let refuse = |message| Err(Refusal::new(403, codes::READ_ONLY, message));
        match &file.open {
            _ if self.is_read_only => refuse(phrase!("this run is read-only (`--read-only`)")),
            _ if file.is_read_only => {
                refuse(phrase!("`{path}` is write-protected", path = file.path.clone()))
            }
            Some(open) if open.is_closed => {
                let path = file.path.clone();
                refuse(phrase!(
                    "`{path}` is view-only: it is too large, not UTF-8, or contains secrets",
                    path
                ))
            }
            _ => Ok(()),
        }
    }

    /// Changes a draft, and tells the other windows.
    fn change(
        &self,
        id: &str,
        by: By<'_>,
        change: impl FnOnce(&mut OpenFile, u64) -> Result<bool, Halt>,
    ) -> Result<(), Refusal> {
        let mut state = lock(&self.state);
        let known = state.files.get_mut(id).ok_or_else(|| Refusal::not_found(phrase!("no such file")))?;
        known.opened(&self.folder)?;
        self.refuse_read_only(known)?;
        let revision = known.revision;
        let Some(open) = &mut known.open else {
            return Err(Refusal::not_found(phrase!("no such draft")));
        };
        let changed = change(open, revision);
        if matches!(changed, Ok(true)) {
            known.revision += 1 + u64::from(open.follow_again(&known.path));
        }
        let revision = known.revision;
        drop(state);
        match changed {
            Ok(true) => {
                self.changed.notify_one();
                self.notices.tell(NoticeKind::Draft, Some(id), Some(revision), by.window);
                Ok(())
            }
            Ok(false) => Ok(()),
            Err(Halt::Refused(refusal)) => Err(refusal),
            Err(Halt::Stale) => Err(stale(self.view(id, by.language)?)),
        }
    }
}

/// Says the findings about a file, without those about other files.
fn said(view: &FileView, name: &str, found: &Found, language: Language) -> Vec<Finding> {
    let all = found.diagnostics.iter().zip(&found.marks).zip(&found.positions).enumerate();
    let of_file = all.filter(|(_, ((found, _), _))| {
        found.location.document.as_deref().is_none_or(|document| document == name)
    });
    let said = of_file.map(|(index, ((diagnostic, mark), position))| {
        let position = position.as_ref().map(|position| (position.line, position.column));
        let mut finding = Finding::of(language, diagnostic, index).at(mark.as_ref(), position);
        finding.file = Some(view.path.clone());
        finding.fixable &= !view.is_read_only && view.kind != FileKind::Config;
        finding
    });
    said.collect()
}

const fn is_too_large(bytes: u64) -> bool {
    bytes > open_file::MAX_EDITED as u64
}

/// Refuses to overwrite changes of another program.
fn changed_outside(path: &str, theirs: FileView) -> Refusal {
    let message = if theirs.is_gone {
        phrase!("nothing written: `{path}` was deleted", path = path.to_owned())
    } else {
        phrase!("nothing written: another program changed `{path}`", path = path.to_owned())
    };
    Refusal::new(409, codes::STALE_FILE, message).with_theirs(theirs)
}

fn stale(theirs: FileView) -> Refusal {
    let message = phrase!("another window changed the file; your edit was not applied");
    Refusal::new(409, codes::STALE_EDIT, message).with_theirs(theirs)
}

/// Reads an edit of the page; a list is named by the pointer of its item, and where it goes by an index or a pointer.
fn edit_of(edit: api_files::Edit) -> Result<Edit, Refusal> {
    Ok(match edit {
        api_files::Edit::Set { pointer, value } => Edit::Set { pointer, value },
        api_files::Edit::Remove { pointer } => Edit::Remove { pointer },
        api_files::Edit::Insert { pointer, value } => Edit::Insert { pointer, value },
        api_files::Edit::Rename { pointer, name } => Edit::Rename { pointer, key: name },
        api_files::Edit::Move { pointer, to } => {
            let (list, _) = pointer.rsplit_once('/').unwrap_or_default();
            let index = to.strip_prefix(list).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&to);
            let to = index.parse().map_err(|_| {
                Refusal::malformed(phrase!("`to` must be an index, or a pointer into the same list"))
            })?;
            Edit::Move { pointer, to }
        }
    })
}

#[cfg(test)]
mod tests;
