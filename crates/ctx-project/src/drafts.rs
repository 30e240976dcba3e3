//! Files under edit: a text that small edits change, each of which can be taken back.
//!
//! An edit names a value by its JSON pointer and replaces the bytes of that value, key or list item. All other bytes
//! stay: comments, order, quotes, line ends. After each edit the text is read again and must hold exactly the value
//! that was asked for; otherwise nothing changes. Only of a text in quotes no more than itself is read. A text that
//! cannot be read, while somebody types, is edited as a whole.

mod quoted;
mod rewrite;
mod toml;

use std::ops::Range;
use std::path::Path;

use ctx_preset_import::{Document, ImportError, Limits, Syntax};
use ctx_types::Diagnostic;
use serde_json::Value;

pub use ctx_operations::document_edit::{Edit, EditError, Lists, difference};
use ctx_operations::document_edit::{edit_all, edited_yaml};
pub use rewrite::Rewrite;

use crate::migration::comments::comments;
use crate::{config, files, toml_document};
use quoted::Quoted;

/// How many steps of a draft can be taken back.
const MAX_STEPS: usize = 1_000;

/// A file that is edited before it is saved.
///
/// ```
/// use ctx_project::drafts::{Draft, Edit};
/// use serde_json::json;
///
/// let mut draft = Draft::open("agent.yaml", b"name: Ada # who she is\n")?;
/// draft.edit(&Edit::Set { pointer: "/name".into(), value: json!("Eve") })?;
/// assert_eq!(draft.text(), "name: Eve # who she is\n");
/// draft.undo();
/// assert_eq!(draft.text(), "name: Ada # who she is\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Draft {
    name: String,
    text: String,
    content: Option<Content>,
    revision: u64,
    done: Vec<Splice>,
    undone: Vec<Splice>,
    /// Where the text stands that was written last.
    quoted: Option<Quoted>,
}

/// What a text holds.
#[derive(Clone, Debug)]
struct Content {
    value: Value,
    form: Form,
    /// What was odd about it.
    found: Vec<Diagnostic>,
}

/// How a text is read, which decides how it is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Document(Syntax),
    Toml,
}

impl Draft {
    /// Begins to edit the bytes of a file; `name` decides how a text that is neither clearly JSON nor YAML is read.
    ///
    /// # Errors
    ///
    /// The bytes are no text within the limits of imports.
    pub fn open(name: &str, bytes: &[u8]) -> Result<Self, ImportError> {
        let text = ctx_preset_import::decode(bytes)?.into_owned();
        let content = read(name, &text);
        Ok(Self { text, content, ..Self::empty(name) })
    }

    /// Begins with nothing.
    pub fn empty(name: &str) -> Self {
        let (done, undone) = (Vec::new(), Vec::new());
        Self {
            name: name.to_owned(),
            text: String::new(),
            content: None,
            revision: 0,
            done,
            undone,
            quoted: None,
        }
    }

    /// Returns the text as it would be saved.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what the text holds; none where it cannot be read.
    pub fn value(&self) -> Option<&Value> {
        self.content.as_ref().map(|content| &content.value)
    }

    /// Returns what the text holds as [`Document::read`] would, without reading it again; none for TOML and lists of
    /// lines.
    pub fn document(&self) -> Option<Document> {
        let Content { value, form: Form::Document(syntax), found } = self.content.as_ref()? else {
            return None;
        };
        let is_one = matches!(syntax, Syntax::Json | Syntax::Yaml);
        let (value, diagnostics) = (value.clone(), found.clone());
        is_one.then(|| Document {
            value,
            syntax: *syntax,
            bad_lines: Vec::new(),
            diagnostics,
            json_error: None,
        })
    }

    /// Returns the comments of a YAML text, or none of JSON. `None` for other syntaxes.
    pub fn comments(&self) -> Option<Vec<&str>> {
        match self.content.as_ref()?.form {
            Form::Document(Syntax::Yaml) => {
                Some(comments(&self.text).into_iter().filter_map(|range| self.text.get(range)).collect())
            }
            Form::Document(_) => Some(Vec::new()),
            Form::Toml => None,
        }
    }

    /// Returns how many times the text has changed; undo and redo count.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns whether there is an edit to take back.
    pub const fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    /// Returns whether there is an edit to make again.
    pub const fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Returns the splice that undoes the latest edit.
    pub fn latest(&self) -> Option<&Splice> {
        self.done.last()
    }

    /// Makes an edit; what was undone before can no longer be redone.
    ///
    /// O(bytes of the text). A text in quotes that takes the place of another one is written without reading the rest,
    /// which cannot change by that.
    ///
    /// # Errors
    ///
    /// The pointer leads nowhere, or the edit would change more than it names. The draft is as it was.
    pub fn edit(&mut self, edit: &Edit) -> Result<(), EditError> {
        self.edit_all(std::slice::from_ref(edit))
    }

    /// Makes edits one after the other, all of them or none, as one step.
    ///
    /// The text is read a few times where the edits are of one kind or of one list; otherwise, and where some cannot be
    /// made as the text is written, once for each. In YAML each edit also walks the list that it is in.
    ///
    /// # Errors
    ///
    /// As [`edit`](Self::edit).
    pub fn edit_all(&mut self, edits: &[Edit]) -> Result<(), EditError> {
        if let [Edit::Set { pointer, value: Value::String(text) }] = edits
            && self.retype(pointer, text).is_some()
        {
            return Ok(());
        }
        let mut content = self.content.clone().ok_or(EditError::Unreadable)?;
        let file = (self.name.as_str(), content.form);
        let write = |text: &str, edits: &[Edit], old: &Value, wanted: &Value| {
            written(file, (text, old), edits, wanted)
        };
        let text = edit_all(&self.text, edits, &mut content.value, &write);
        let grown = || edits.iter().map(Edit::size).sum::<usize>() + self.text.len();
        let text = match (text, limit(file.1)) {
            // Why a text cannot be read is not told.
            (Err(EditError::ChangesMore), limit) if grown() > limit => {
                return Err(EditError::TooLarge { limit });
            }
            (text, _) => text?,
        };
        self.put(&text, Some(content));
        Ok(())
    }

    /// Makes edits that [`edit_all`](Self::edit_all) refuses with [`EditError::ChangesMore`], as one step: the smallest
    /// part of the file that can hold what is wanted is written anew, without the comments in it.
    ///
    /// # Errors
    ///
    /// As [`edit`](Self::edit). Only YAML is written anew.
    pub fn rewrite(&mut self, edits: &[Edit]) -> Result<Rewrite, EditError> {
        let content = self.content.as_ref().ok_or(EditError::Unreadable)?;
        let mut wanted = content.value.clone();
        for edit in edits {
            edit.apply(&mut wanted)?;
        }
        let is_yaml = content.form == Form::Document(Syntax::Yaml);
        let made = rewrite::rewritten(&self.name, &self.text, edits, &wanted).filter(|_| is_yaml);
        let (text, rewrite) = made.ok_or(EditError::ChangesMore)?;
        self.set_text(&text);
        Ok(rewrite)
    }

    /// Puts another text in the place of the whole, as one step; it need not be readable.
    pub fn set_text(&mut self, text: &str) {
        let content = read(&self.name, text);
        self.put(text, content);
    }

    /// Puts a text in the place of another one that is in quotes, unless something about the file is odd.
    fn retype(&mut self, pointer: &str, new: &str) -> Option<()> {
        let known = self.quoted.take().filter(|known| known.pointer == pointer);
        let content = self.content.as_mut().filter(|content| content.found.is_empty())?;
        let Form::Document(syntax) = content.form else { return None };
        let Some(Value::String(old)) = content.value.pointer_mut(pointer) else { return None };
        let place = known.or_else(|| Quoted::find(&self.text, pointer, syntax)).filter(|_| old != new)?;
        let (splice, place) = place.written(&self.text, (old, new), syntax)?;
        if self.text.len() + splice.text.len() - splice.range.len() > limit(content.form) {
            return None;
        }
        new.clone_into(old);
        self.quoted = Some(place);
        self.change(splice);
        Some(())
    }

    fn put(&mut self, text: &str, content: Option<Content>) {
        if text == self.text {
            return;
        }
        self.quoted = None;
        self.content = content;
        self.change(Splice::between(&self.text, text));
    }

    fn change(&mut self, splice: Splice) {
        self.undone.clear();
        self.done.push(splice.take_place_in(&mut self.text));
        if self.done.len() > MAX_STEPS {
            self.done.remove(0);
        }
        self.revision += 1;
    }

    /// Makes one step of the latest two, as of letters of one word; without two, nothing changes. O(bytes of both).
    pub fn join_steps(&mut self) {
        let [.., first, last] = self.done.as_slice() else { return };
        // `part` is the range of the text that covers both edits.
        let start = first.range.start.min(last.range.start);
        let last_end = last.range.start + last.text.len();
        let end = last.range.end + first.range.end.saturating_sub(last_end);
        let mut part = self.text.get(start..end).unwrap_or_default().to_owned();
        for Splice { range, text } in [last, first] {
            part.replace_range(range.start - start..range.end - start, text);
        }
        self.done.truncate(self.done.len() - 2);
        self.done.push(Splice { range: start..end, text: part });
    }

    /// Takes the latest edit back; returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let step = self.done.pop();
        let inverse = step.map(|step| self.step(&step));
        inverse.map(|inverse| self.undone.push(inverse)).is_some()
    }

    /// Makes the edit again that was taken back last; returns whether there was one.
    pub fn redo(&mut self) -> bool {
        let step = self.undone.pop();
        let inverse = step.map(|step| self.step(&step));
        inverse.map(|inverse| self.done.push(inverse)).is_some()
    }

    fn step(&mut self, splice: &Splice) -> Splice {
        let inverse = splice.clone().take_place_in(&mut self.text);
        self.content = read(&self.name, &self.text);
        self.quoted = None;
        self.revision += 1;
        inverse
    }
}

/// Writes edits into a text, all of them at once; `old` is what it holds.
fn written(
    (name, form): (&str, Form),
    (text, old): (&str, &Value),
    edits: &[Edit],
    wanted: &Value,
) -> Result<String, EditError> {
    let holds =
        |text: &str| read(name, text).is_some_and(|content| content.value == *wanted && content.form == form);
    let text = match form {
        Form::Document(Syntax::Json) => {
            let bytes = files::edited(text.as_bytes(), wanted).ok();
            bytes.and_then(|bytes| String::from_utf8(bytes).ok())
        }
        Form::Document(Syntax::Yaml) => return edited_yaml(text, edits, old, &holds),
        Form::Toml => Some(toml::edited(text, edits, old)?),
        Form::Document(_) => return Err(EditError::NoStructure),
    };
    text.filter(|text| holds(text)).ok_or(EditError::ChangesMore)
}

/// Returns how many bytes a text of a form may have.
fn limit(form: Form) -> usize {
    let Limits { json_bytes, yaml_bytes, .. } = Limits::default();
    match form {
        Form::Document(Syntax::Json | Syntax::JsonLines) => json_bytes,
        Form::Document(_) => yaml_bytes,
        Form::Toml => config::MAX_BYTES,
    }
}

/// Reads what a text holds, if it can be read.
fn read(name: &str, text: &str) -> Option<Content> {
    if config::is_config(Path::new(name)) {
        let value = toml_document::read(text).ok()?;
        return Some(Content { value, form: Form::Toml, found: Vec::new() });
    }
    let document = Document::read(text.as_bytes(), name).ok()?;
    let Document { value, syntax, diagnostics: found, .. } = document;
    Some(Content { value, form: Form::Document(syntax), found })
}

/// A range of bytes and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The bytes that go.
    pub range: Range<usize>,
    /// What comes.
    pub text: String,
}

impl Splice {
    /// The smallest splice that makes one text of another.
    pub fn between(old: &str, new: &str) -> Self {
        let same = |(old, new): &(u8, u8)| old == new;
        let mut start = old.bytes().zip(new.bytes()).take_while(same).count();
        while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
            start -= 1;
        }
        let rest = old.len().min(new.len()) - start;
        let mut end = old.bytes().rev().zip(new.bytes().rev()).take(rest).take_while(same).count();
        while !old.is_char_boundary(old.len() - end) {
            end -= 1;
        }
        let range = start..old.len() - end;
        let text = new.get(start..new.len() - end).unwrap_or_default().to_owned();
        Self { range, text }
    }

    /// Changes a text, and returns what changes it back.
    fn take_place_in(self, text: &mut String) -> Self {
        let old = text.get(self.range.clone()).unwrap_or_default().to_owned();
        let range = self.range.start..self.range.start + self.text.len();
        text.replace_range(self.range, &self.text);
        Self { range, text: old }
    }
}

#[cfg(test)]
mod tests;
