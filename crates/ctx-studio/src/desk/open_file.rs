//! A file that somebody looks at: its draft, what it was read from, and the edits that older ones are carried over.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ctx_preset_import::Document;
use ctx_project::config;
use ctx_project::drafts::{Draft, Edit, EditError, Rewrite};
use ctx_project::files::{MARK, hash, without_mark};
use ctx_project::sources::{Mark, Position};
use ctx_types::{Diagnostic, phrase};
use serde_json::Value;

use super::carry::{carried, logged};
use super::merge;
use crate::api_files::{FileKind, RewriteView};
use crate::call::Refusal;
use crate::codes;

/// The largest file that is edited.
pub(super) const MAX_EDITED: usize = 2 << 20;

/// How much of a larger one is shown.
const MAX_SHOWN: usize = 64 << 10;

/// How many items of each list of a larger one are shown, where it can be read.
const MAX_ITEMS: usize = 2_000;

/// How many edits older ones are carried over.
const MAX_LOGGED: usize = 500;

/// How many ids of edits are remembered.
const MAX_IDS: usize = 1_000;

/// A file and its draft.
#[derive(Debug)]
pub(super) struct OpenFile {
    draft: Draft,
    /// What the draft is made from; none where only its hash is known.
    base: Option<Arc<[u8]>>,
    pub(super) base_hash: String,
    kind: FileKind,
    has_mark: bool,
    /// Why it is not edited, beside what holds for the whole folder.
    pub(super) is_closed: bool,
    pub(super) is_cut: bool,
    /// The beginning of what a larger file holds, and how many items of its lists are not in it.
    beginning: Option<(Value, usize)>,
    log: VecDeque<(u64, Logged)>,
    ids: VecDeque<String>,
    /// Who set which value last, and when: letters of one word are one step.
    typed: Option<Typed>,
    /// The bytes that would be saved, at a revision of the draft.
    bytes: Option<(u64, Arc<[u8]>)>,
    /// What was found at a revision.
    pub(super) found: Option<(u64, Arc<Found>)>,
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

#[derive(Debug)]
enum Logged {
    Edits(Vec<Edit>),
    Whole,
}

/// How edits are made in a draft.
pub(super) type Make = fn(&mut Draft, &[Edit]) -> Result<(), EditError>;

/// Why an edit is not made.
#[derive(Debug)]
pub(super) enum Halt {
    Refused(Refusal),
    /// Somebody else has changed the same place; they are told what is there.
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
            base_hash,
            kind,
            has_mark,
            is_closed: !is_read,
            is_cut,
            log: VecDeque::new(),
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

    /// Makes edits of values that were meant for an older revision; returns whether they change anything.
    pub(super) fn edit(
        &mut self,
        (revision, base): (u64, u64),
        (mut edits, make): (Vec<Edit>, Make),
        window: Option<&str>,
    ) -> Result<bool, Halt> {
        for done in self.since(revision, base)? {
            let Logged::Edits(done) = done else { return Err(Halt::Stale) };
            for done in done {
                edits =
                    edits.iter().map(|edit| carried(edit, done)).collect::<Option<_>>().ok_or(Halt::Stale)?;
            }
        }
        let log = logged(&edits, self.draft.value());
        let before = self.draft.revision();
        if self.kind == FileKind::Config {
            let mut draft = self.draft.clone();
            make(&mut draft, &edits).map_err(|error| self.refused(&error, &edits))?;
            self.refuse_forbidden(draft.text())?;
            self.draft = draft;
        } else {
            make(&mut self.draft, &edits).map_err(|error| self.refused(&error, &edits))?;
        }
        if self.draft.revision() == before {
            return Ok(false);
        }
        self.join_letters(&edits, window);
        Ok(self.note(revision + 1, Logged::Edits(log)))
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

    /// Puts another text in place of the whole, if nobody has changed it meanwhile; returns whether it is another.
    pub(super) fn set_text(&mut self, revision: u64, base: u64, text: &str) -> Result<bool, Halt> {
        if base != revision {
            return Err(Halt::Stale);
        }
        if text.len() > MAX_EDITED {
            let message = phrase!("the text is larger than {limit} MiB", limit = MAX_EDITED >> 20);
            return Err(Refusal::new(413, codes::TOO_LARGE, message).into());
        }
        self.refuse_forbidden(text)?;
        let before = self.draft.revision();
        self.draft.set_text(text);
        if self.draft.revision() == before {
            return Ok(false);
        }
        self.typed = None;
        Ok(self.note(revision + 1, Logged::Whole))
    }

    pub(super) fn undo(&mut self, revision: u64) -> bool {
        self.typed = None;
        self.draft.undo() && self.note(revision + 1, Logged::Whole)
    }

    pub(super) fn redo(&mut self, revision: u64) -> bool {
        self.typed = None;
        self.draft.redo() && self.note(revision + 1, Logged::Whole)
    }

    /// Takes what the file holds now, which can be taken back.
    pub(super) fn discard(&mut self, path: &str, bytes: Arc<[u8]>, revision: u64) {
        let disk = Self::open(path, self.kind, bytes);
        self.draft.set_text(disk.draft.text());
        self.note(revision + 1, Logged::Whole);
        self.saved_as(disk);
    }

    /// Notes that the file holds these bytes now.
    pub(super) fn saved(&mut self, path: &str, bytes: Arc<[u8]>) {
        self.saved_as(Self::open(path, self.kind, bytes));
    }

    /// Follows what another program wrote: takes it where nobody has edited the file, and carries edits of other lines
    /// over it; returns whether it did.
    pub(super) fn follow(&mut self, path: &str, kind: FileKind, bytes: Arc<[u8]>, revision: u64) -> bool {
        let disk = Self::open(path, kind, bytes);
        let text =
            if self.is_dirty() { self.carried_over(&disk) } else { Some(disk.draft.text().to_owned()) };
        let Some(text) = text else { return false };
        self.draft.set_text(&text);
        self.kind = kind;
        self.note(revision + 1, Logged::Whole);
        self.saved_as(disk);
        true
    }

    /// Returns the edits of this draft in the text of the file as it is now, if both can be read and touch other lines.
    fn carried_over(&self, disk: &Self) -> Option<String> {
        let base = std::str::from_utf8(without_mark(self.base.as_deref()?)).ok()?;
        let is_open = !self.is_closed && !disk.is_closed && self.kind == disk.kind;
        let merged = merge::merged(base, self.draft.text(), disk.draft.text()).filter(|_| is_open)?;
        let mut draft = disk.draft.clone();
        draft.set_text(&merged);
        (draft.value().is_some() || self.draft.value().is_none()).then_some(merged)
    }

    fn saved_as(&mut self, disk: Self) {
        self.typed = None;
        self.bytes = None;
        self.base = disk.base;
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

    /// Returns the edits since a revision, oldest first.
    fn since(&self, revision: u64, base: u64) -> Result<Vec<&Logged>, Halt> {
        let missed: Vec<&Logged> =
            self.log.iter().filter(|(after, _)| *after > base).map(|(_, logged)| logged).collect();
        let is_whole = base <= revision && missed.len() as u64 == revision - base;
        is_whole.then_some(missed).ok_or(Halt::Stale)
    }

    fn note(&mut self, revision: u64, logged: Logged) -> bool {
        if self.log.len() >= MAX_LOGGED {
            self.log.pop_front();
        }
        self.log.push_back((revision, logged));
        true
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

/// A draft of bytes that are no text: with U+FFFD for what cannot be shown.
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

fn opened_as_text(path: &str, text: &str) -> Draft {
    let mut draft = Draft::empty(path);
    draft.set_text(&text.replace('\0', "\u{fffd}"));
    draft
}

#[cfg(test)]
mod tests;
