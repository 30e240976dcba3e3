//! An open file: its draft, the bytes on disk, and clashing changes of another program.

use std::cell::OnceCell;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ctx_preset_import::Document;
use ctx_project::config;
use ctx_project::drafts::{Draft, Edit, EditError, Rewrite};
use ctx_project::files::{MARK, hash, without_mark};
use ctx_project::sources::{Mark, Position};
use ctx_types::{Diagnostic, phrase};
use serde_json::Value;

use super::joined::{Choose, Side, Versions, joined};
use crate::api_files::{Clash, FileKind, Outside, Resolve, RewriteView, TextSplice};
use crate::call::Refusal;
use crate::codes;

/// The largest file that is edited.
pub(crate) const MAX_EDITED: usize = 8 << 20;

/// How much of a larger one is shown.
const MAX_SHOWN: usize = 64 << 10;

/// How many items of each list of a larger one are shown, where it can be read.
const MAX_ITEMS: usize = 2_000;

/// How many ids of edits are remembered.
const MAX_IDS: usize = 1_000;

/// A file and its draft.
#[derive(Debug)]
pub(super) struct OpenFile {
    draft: Draft,
    /// What the draft is made from; none where only its hash is known.
    base: Option<Arc<[u8]>>,
    /// `base` as a draft, read on demand.
    base_draft: OnceCell<Option<Draft>>,
    pub(super) base_hash: String,
    kind: FileKind,
    has_mark: bool,
    /// Why it is not edited, beside what holds for the whole folder.
    pub(super) is_closed: bool,
    pub(super) is_cut: bool,
    /// The beginning of what a larger file holds, and how many items of its lists are not in it.
    beginning: Option<(Value, usize)>,
    /// Changes of another program that clash with the draft.
    pub(super) outside: Option<OutsideFile>,
    ids: VecDeque<String>,
    /// Who set which value last, and when: letters of one word are one step.
    typed: Option<Typed>,
    /// The bytes that would be saved, at a revision of the draft.
    bytes: Option<(u64, Arc<[u8]>)>,
    /// What was found at a revision.
    pub(super) found: Option<(u64, Arc<Found>)>,
}

/// The file of another program, and the entries that clash with the draft.
#[derive(Debug)]
pub(super) struct OutsideFile {
    disk: Box<OpenFile>,
    pub(super) view: Outside,
}

/// What was found in a text, with the places.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) marks: Vec<Option<Mark>>,
    pub(super) positions: Vec<Option<Position>>,
}

/// A value that somebody is writing.
#[derive(Debug)]
struct Typed {
    window: Option<String>,
    pointer: String,
    at: Instant,
}

/// How soon another letter has to follow to belong to the same step.
const PAUSE: Duration = Duration::from_secs(1);

/// How edits are made in a draft.
pub(super) type Make = fn(&mut Draft, &[Edit]) -> Result<(), EditError>;

/// Why an edit is not made.
#[derive(Debug)]
pub(super) enum Halt {
    Refused(Refusal),
    /// The draft has another revision; the response contains it.
    Stale,
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl OpenFile {
    /// Opens the bytes of a file.
    pub(super) fn open(path: &str, kind: FileKind, bytes: Arc<[u8]>) -> Self {
        let base_hash = hash(&bytes);
        let has_mark = bytes.starts_with(MARK);
        let is_cut = bytes.len() > MAX_EDITED;
        let shown = if is_cut { start(&bytes) } else { &bytes };
        let text = String::from_utf8_lossy(without_mark(shown));
        let is_text = !is_cut && text.len() + if has_mark { MARK.len() } else { 0 } == bytes.len();
        let (draft, is_read) = match Draft::open(path, shown) {
            Ok(draft) => (draft, is_text),
            Err(_) => (opened_as_text(path, &text), false),
        };
        let beginning = if is_cut { beginning(path, &bytes) } else { None };
        let mut file = Self {
            draft,
            beginning,
            base: Some(bytes),
            base_draft: OnceCell::new(),
            base_hash,
            kind,
            has_mark,
            is_closed: !is_read,
            is_cut,
            outside: None,
            ids: VecDeque::new(),
            typed: None,
            bytes: None,
            found: None,
        };
        if kind == FileKind::Config {
            let covered = config::covered(file.draft.text());
            file.is_closed |= covered != file.draft.text();
        }
        file
    }

    /// Opens a draft that was kept, of a file that has this hash if nobody changed it.
    pub(super) fn restored(
        path: &str,
        kind: FileKind,
        (base, base_hash): (Option<Arc<[u8]>>, String),
        text: &str,
    ) -> Self {
        let current = base.clone().filter(|base| hash(base) == base_hash);
        let mut file = Self::open(path, kind, current.clone().unwrap_or_else(|| Arc::from(text.as_bytes())));
        file.base = current;
        file.base_hash = base_hash;
        file.has_mark = base.is_some_and(|base| base.starts_with(MARK));
        file.draft.set_text(text);
        file
    }

    /// Returns the text as it is shown.
    pub(super) fn text(&self) -> String {
        match self.kind {
            FileKind::Config => config::covered(self.draft.text()),
            _ => self.draft.text().to_owned(),
        }
    }

    /// Returns whether it is edited by its values.
    pub(super) fn has_value(&self) -> bool {
        self.draft.value().is_some() && !self.is_cut
    }

    /// Returns how many items of its lists are not in its value, since it is too large.
    pub(super) fn more(&self) -> Option<usize> {
        self.beginning.as_ref().map(|(_, more)| *more)
    }

    /// Returns what the text holds, where it is edited by its values; of a file that is too large, the beginning.
    pub(super) fn value(&self) -> Option<Value> {
        if let Some((value, _)) = &self.beginning {
            return Some(value.clone());
        }
        let value = self.draft.value().filter(|_| self.has_value())?;
        if self.kind != FileKind::Config {
            return Some(value.clone());
        }
        let mut value = config::value_of(&config::covered(self.draft.text()))?;
        if let Some(table) = value.as_object_mut() {
            table.retain(|key, _| config::is_editable(key));
        }
        Some(value)
    }

    /// Returns what the text holds with what was odd about it, without reading it again.
    pub(super) fn document(&self) -> Option<Document> {
        self.draft.document().filter(|_| !self.is_closed)
    }

    /// Returns the bytes that would be saved; they are copied once for each change of the draft.
    pub(super) fn bytes(&mut self) -> Arc<[u8]> {
        if let Some(base) = self.base.as_ref().filter(|_| self.is_closed) {
            return base.clone();
        }
        let revision = self.draft.revision();
        if let Some((_, bytes)) = self.bytes.as_ref().filter(|(known, _)| *known == revision) {
            return bytes.clone();
        }
        let bytes: Arc<[u8]> = if self.has_mark {
            [MARK, self.draft.text().as_bytes()].concat().into()
        } else {
            self.draft.text().as_bytes().into()
        };
        self.bytes = Some((revision, bytes.clone()));
        bytes
    }

    pub(super) fn is_dirty(&self) -> bool {
        let (text, base) = (self.draft.text().as_bytes(), self.base.as_deref());
        let is_same =
            |base: &[u8]| if self.has_mark { base.strip_prefix(MARK) == Some(text) } else { base == text };
        !self.is_closed && !base.is_some_and(is_same)
    }

    pub(super) const fn can_undo(&self) -> bool {
        self.draft.can_undo()
    }

    pub(super) const fn can_redo(&self) -> bool {
        self.draft.can_redo()
    }

    /// Returns the text as it is kept where it is not saved.
    pub(super) fn unsaved(&self) -> Option<&str> {
        self.is_dirty().then(|| self.draft.text())
    }

    /// Returns whether an edit was made before; remembers it if not.
    pub(super) fn is_known(&self, id: &str) -> bool {
        self.ids.iter().any(|known| known == id)
    }

    /// Returns the ids of the latest edits, oldest first.
    pub(super) fn ids(&self) -> Vec<String> {
        self.ids.iter().cloned().collect()
    }

    pub(super) fn remember(&mut self, id: String) {
        if self.ids.len() >= MAX_IDS {
            self.ids.pop_front();
        }
        self.ids.push_back(id);
    }

    /// Applies edits of values; returns the change of the text.
    pub(super) fn edit(
        &mut self,
        edits: &[Edit],
        make: Make,
        window: Option<&str>,
    ) -> Result<Option<TextSplice>, Refusal> {
        let before = self.draft.revision();
        if self.kind == FileKind::Config {
            let mut draft = self.draft.clone();
            make(&mut draft, edits).map_err(|error| self.refused(&error, edits))?;
            self.refuse_forbidden(draft.text())?;
            self.draft = draft;
        } else {
            make(&mut self.draft, edits).map_err(|error| self.refused(&error, edits))?;
        }
        if self.draft.revision() == before {
            return Ok(None);
        }
        let splice = TextSplice::latest(&self.draft);
        self.join_letters(edits, window);
        Ok(splice)
    }

    /// Says why edits were not made, and what would be written anew for them.
    fn refused(&self, error: &EditError, edits: &[Edit]) -> Refusal {
        let made = match error {
            EditError::ChangesMore => self.draft.clone().rewrite(edits).ok(),
            _ => None,
        };
        let rewrite = made.map(|Rewrite { pointer, comments }| RewriteView { pointer, comments });
        if let EditError::TooLarge { .. } = error {
            // What was typed stays in the page.
            return Refusal::new(413, codes::TOO_LARGE, error.phrase());
        }
        let refusal = Refusal::new(422, codes::REFUSED_EDIT, error.phrase());
        refusal.with_help(phrase!("edit the text instead")).with_rewrite(rewrite)
    }

    fn join_letters(&mut self, edits: &[Edit], window: Option<&str>) {
        let [Edit::Set { pointer, value: Value::String(_) }] = edits else {
            self.typed = None;
            return;
        };
        let (pointer, window) = (pointer.clone(), window.map(str::to_owned));
        let now = Typed { window, pointer, at: Instant::now() };
        let is_going_on = |last: &Typed| {
            last.window == now.window && last.pointer == now.pointer && now.at.duration_since(last.at) < PAUSE
        };
        if self.typed.as_ref().is_some_and(is_going_on) {
            self.draft.join_steps();
        }
        self.typed = Some(now);
    }

    /// Puts another text in place of the whole; returns whether it is another.
    pub(super) fn set_text(&mut self, text: &str) -> Result<bool, Refusal> {
        if text.len() > MAX_EDITED {
            let message = phrase!("the text is larger than {limit} MiB", limit = MAX_EDITED >> 20);
            return Err(Refusal::new(413, codes::TOO_LARGE, message));
        }
        self.refuse_forbidden(text)?;
        let before = self.draft.revision();
        self.draft.set_text(text);
        let is_changed = self.draft.revision() != before;
        if is_changed {
            self.typed = None;
        }
        Ok(is_changed)
    }

    pub(super) fn undo(&mut self) -> bool {
        self.typed = None;
        self.draft.undo()
    }

    pub(super) fn redo(&mut self) -> bool {
        self.typed = None;
        self.draft.redo()
    }

    /// Takes what the file holds now, which can be taken back.
    pub(super) fn discard(&mut self, path: &str, bytes: Arc<[u8]>) {
        let disk = Self::open(path, self.kind, bytes);
        self.draft.set_text(disk.draft.text());
        self.saved_as(disk);
    }

    /// Notes that the file holds these bytes now.
    pub(super) fn saved(&mut self, path: &str, bytes: Arc<[u8]>) {
        self.saved_as(Self::open(path, self.kind, bytes));
    }

    /// Joins the bytes of another program with the draft; returns whether they could be joined. If both changed the
    /// same entry, keeps the draft and sets `outside`.
    pub(super) fn follow(&mut self, path: &str, kind: FileKind, bytes: Arc<[u8]>) -> bool {
        self.follow_disk(path, Self::open(path, kind, bytes))
    }

    /// Tries again to join the bytes that clashed, after the draft changed.
    pub(super) fn follow_again(&mut self, path: &str) -> bool {
        let outside = self.outside.take();
        outside.is_some_and(|outside| self.follow_disk(path, *outside.disk))
    }

    fn follow_disk(&mut self, path: &str, disk: Self) -> bool {
        match self.joined(path, &disk, &|_| None) {
            Ok(text) => {
                self.take(&text, disk);
                true
            }
            Err(clashes) => {
                let view = Outside { hash: disk.base_hash.clone(), clashes };
                self.outside = Some(OutsideFile { disk: Box::new(disk), view });
                false
            }
        }
    }

    /// Joins the bytes of another program with the chosen version of each clashing entry.
    pub(super) fn resolve(&mut self, path: &str, asked: &Resolve) -> Result<(), Halt> {
        let outside = self.outside.take_if(|outside| outside.view.hash == asked.hash).ok_or(Halt::Stale)?;
        let OutsideFile { disk, view } = outside;
        let shown: HashSet<&str> = view.clashes.iter().map(|clash| clash.place.as_str()).collect();
        let theirs: HashSet<&str> = asked.theirs.iter().map(String::as_str).collect();
        let side = |place: &str| if theirs.contains(place) { Side::Theirs } else { Side::Mine };
        let joined = self.joined(path, &disk, &|place| shown.contains(place).then(|| side(place)));
        if let Ok(text) = joined {
            self.take(&text, *disk);
            return Ok(());
        }
        // Other entries clash than those that the user chose from.
        self.follow_disk(path, *disk);
        Err(Halt::Stale)
    }

    fn take(&mut self, text: &str, mut disk: Self) {
        self.draft.set_text(text);
        self.kind = disk.kind;
        // A kept draft stays editable even if the file on disk is not.
        disk.is_closed &= text == disk.draft.text();
        self.saved_as(disk);
    }

    /// Returns the text on disk with the changes of the draft.
    fn joined(&self, path: &str, disk: &Self, choose: Choose<'_>) -> Result<String, Vec<Clash>> {
        if !self.is_dirty() {
            return Ok(disk.draft.text().to_owned());
        }
        if self.base_hash == disk.base_hash {
            return Ok(self.draft.text().to_owned());
        }
        let joined = self.joined_by_entry(path, disk, choose);
        joined.unwrap_or_else(|| match choose("") {
            Some(Side::Mine) => Ok(self.draft.text().to_owned()),
            Some(Side::Theirs) => Ok(disk.draft.text().to_owned()),
            None => {
                let [mine, theirs] = [self, disk].map(|file| Some(Value::from(file.text())));
                Err(vec![Clash { place: String::new(), mine, theirs }])
            }
        })
    }

    /// Joins both by entry. `None` if values do not cover all changes, for example in an invalid text.
    fn joined_by_entry(
        &self,
        path: &str,
        disk: &Self,
        choose: Choose<'_>,
    ) -> Option<Result<String, Vec<Clash>>> {
        let is_open = !self.is_closed && !disk.is_closed && self.kind == disk.kind;
        let (mine, theirs) = (self.draft.value().filter(|_| is_open)?, disk.draft.value()?);
        let read = || self.base.as_deref().and_then(|base| Draft::open(path, base).ok());
        let base = self.base_draft.get_or_init(read);
        let was = match base {
            Some(base) => Some(base.value()?),
            None if mine == theirs => return None,
            None => None,
        };
        let versions = Versions { base: was, mine: Some(mine), theirs: Some(theirs) };
        // Keeps comments and formatting: the edits go into the text that changed more than its values.
        let (text, edits) = match base {
            Some(base) if !is_said_by_values(base, &self.draft) => {
                if !is_said_by_values(base, &disk.draft) {
                    return None;
                }
                let (mine, theirs) = (versions.theirs, versions.mine);
                let edits =
                    joined(Versions { mine, theirs, ..versions }, &|place| choose(place).map(Side::other))?;
                let swapped = |Clash { place, mine, theirs }| Clash { place, mine: theirs, theirs: mine };
                (&self.draft, edits.map_err(|clashes| clashes.into_iter().map(swapped).collect::<Vec<_>>()))
            }
            _ => (&disk.draft, joined(versions, choose)?),
        };
        let edits = match edits {
            Ok(edits) => edits,
            Err(clashes) => return Some(Err(clashes)),
        };
        let mut draft = text.clone();
        draft.edit_all(&edits).ok()?;
        Some(Ok(draft.text().to_owned()))
    }

    fn saved_as(&mut self, disk: Self) {
        self.typed = None;
        self.bytes = None;
        self.outside = None;
        self.base = disk.base;
        self.base_draft = disk.base_draft;
        self.base_hash = disk.base_hash;
        self.has_mark = disk.has_mark;
        self.is_closed = disk.is_closed;
        self.is_cut = disk.is_cut;
    }

    /// Refuses a text that would change what the page may not set.
    pub(super) fn refuse_forbidden(&self, text: &str) -> Result<(), Refusal> {
        if self.kind != FileKind::Config {
            return Ok(());
        }
        let saved = self.base.as_deref().unwrap_or_default();
        let saved = String::from_utf8_lossy(without_mark(saved));
        let Some(new) = config::value_of(text) else {
            // Nothing comes of a text that cannot be read; it is looked at again before it is saved.
            return Ok(());
        };
        let old = config::value_of(&saved).unwrap_or_default();
        let changed = config::locked_keys().find(|key| old.get(*key) != new.get(*key));
        changed.map_or(Ok(()), |key| {
            let message = phrase!("the page cannot change `{key}` in `ctx.toml`", key);
            let help = phrase!("edit the file in an editor, then run `ctx trust`");
            Err(Refusal::new(403, codes::FORBIDDEN_KEY, message).with_help(help))
        })
    }

    /// Refuses to save what cannot be read as `ctx.toml`, since nobody could say what it sets.
    pub(super) fn refuse_unreadable_config(&self) -> Result<(), Refusal> {
        let is_readable = self.kind != FileKind::Config || config::value_of(self.draft.text()).is_some();
        if is_readable {
            self.refuse_forbidden(self.draft.text())
        } else {
            Err(Refusal::unusable(phrase!("`ctx.toml` is not valid TOML; fix it before you save")))
        }
    }
}

/// The beginning of a file that is too large to be shown.
fn start(bytes: &[u8]) -> &[u8] {
    let mut end = MAX_SHOWN.min(bytes.len());
    while end > 0 && bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    bytes.get(..end).unwrap_or_default()
}

/// Returns whether edits of values explain the difference between two texts, apart from formatting.
fn is_said_by_values(base: &Draft, changed: &Draft) -> bool {
    if base.comments().is_some_and(|comments| changed.comments() == Some(comments)) {
        return true;
    }
    let versions = Versions { base: base.value(), mine: changed.value(), theirs: base.value() };
    let Some(Ok(edits)) = joined(versions, &|_| None) else { return false };
    let mut draft = base.clone();
    draft.edit_all(&edits).is_ok() && draft.text() == changed.text()
}

/// Reads an object, and cuts its long lists.
fn beginning(path: &str, bytes: &[u8]) -> Option<(Value, usize)> {
    let mut value = Document::read(bytes, path).ok()?.value;
    let lists = value.as_object_mut()?.values_mut().filter_map(Value::as_array_mut);
    let mut more = 0;
    for list in lists.filter(|list| list.len() > MAX_ITEMS) {
        more += list.len() - MAX_ITEMS;
        list.truncate(MAX_ITEMS);
        list.shrink_to_fit();
    }
    // Nothing is won where a few items are that large.
    let is_small = || serde_json::to_vec(&value).is_ok_and(|bytes| bytes.len() <= MAX_EDITED);
    (more > 0 && is_small()).then_some((value, more))
}

/// Opens invalid UTF-8 as a draft, with U+FFFD for invalid bytes.
fn opened_as_text(path: &str, text: &str) -> Draft {
    let mut draft = Draft::empty(path);
    draft.set_text(&text.replace('\0', "\u{fffd}"));
    draft
}

#[cfg(test)]
mod tests;
