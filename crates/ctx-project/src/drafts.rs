//! Files under edit: a text that small edits change, each of which can be taken back.
//!
//! An edit names a value by its JSON pointer and replaces the bytes of that value, key or list item. All other bytes
//! stay: comments, order, quotes, line ends. After each edit the text is read again and must hold exactly the value
//! that was asked for; otherwise nothing changes.

mod edit;
mod yaml;

use std::ops::Range;

use ctx_preset_import::{Document, ImportError, Limits, Syntax};
use serde_json::Value;

pub use edit::{Edit, EditError};

use crate::files;
use yaml::Quotes;

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
    value: Value,
    syntax: Syntax,
    revision: u64,
    done: Vec<Splice>,
    undone: Vec<Splice>,
}

impl Draft {
    /// Begins to edit the bytes of a file; `name` decides how a text that is neither clearly JSON nor YAML is read.
    ///
    /// # Errors
    ///
    /// The bytes are no document within the limits of imports.
    pub fn open(name: &str, bytes: &[u8]) -> Result<Self, ImportError> {
        let text = ctx_preset_import::decode(bytes, &Limits::default())?.into_owned();
        let Document { value, syntax, .. } = read(name, &text)?;
        let (done, undone) = (Vec::new(), Vec::new());
        Ok(Self { name: name.to_owned(), text, value, syntax, revision: 0, done, undone })
    }

    /// Returns the text as it would be saved.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what the text holds.
    pub const fn value(&self) -> &Value {
        &self.value
    }

    /// Returns how many times the text has changed; undo and redo count.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Makes an edit; what was undone before can no longer be redone.
    ///
    /// O(bytes of the text).
    ///
    /// # Errors
    ///
    /// The pointer leads nowhere, or the edit would change more than it names. The draft is as it was.
    pub fn edit(&mut self, edit: &Edit) -> Result<(), EditError> {
        let mut wanted = self.value.clone();
        edit.apply(&mut wanted)?;
        if wanted == self.value {
            return Ok(());
        }
        let text = self.edited(edit, &wanted)?;
        let splice = Splice::between(&self.text, &text);
        self.undone.clear();
        self.done.push(splice.take_place_in(&mut self.text));
        if self.done.len() > MAX_STEPS {
            self.done.remove(0);
        }
        self.value = wanted;
        self.revision += 1;
        Ok(())
    }

    /// The text after an edit, which holds what is wanted.
    fn edited(&self, edit: &Edit, wanted: &Value) -> Result<String, EditError> {
        let holds = |text: &String| {
            read(&self.name, text).is_ok_and(|out| out.value == *wanted && out.syntax == self.syntax)
        };
        let text = match self.syntax {
            Syntax::Json => {
                let bytes = files::edited(self.text.as_bytes(), wanted).ok();
                bytes.and_then(|bytes| String::from_utf8(bytes).ok()).filter(holds)
            }
            // Most texts fit into the quotes of the one before; only for others is the text written again.
            Syntax::Yaml => match yaml::edited(&self.text, edit, Quotes::Kept)? {
                text if holds(&text) => Some(text),
                _ => Some(yaml::edited(&self.text, edit, Quotes::Chosen)?).filter(holds),
            },
            _ => return Err(EditError::NoStructure),
        };
        text.ok_or(EditError::ChangesMore)
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
        // The text was read before; that it can be read again is certain.
        if let Ok(document) = read(&self.name, &self.text) {
            self.value = document.value;
        }
        self.revision += 1;
        inverse
    }
}

fn read(name: &str, text: &str) -> Result<Document, ImportError> {
    Document::read(text.as_bytes(), name, &Limits::default())
}

/// A range of bytes and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Splice {
    range: Range<usize>,
    text: String,
}

impl Splice {
    /// The smallest splice that makes one text of another.
    fn between(old: &str, new: &str) -> Self {
        let same = |(old, new): &(char, char)| old == new;
        let start: usize = old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
        let rest = old.len().min(new.len()) - start;
        let mut end = 0;
        for (c, _) in old.chars().rev().zip(new.chars().rev()).take_while(same) {
            if end + c.len_utf8() > rest {
                break;
            }
            end += c.len_utf8();
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
