//! Edits of a document: as they change its value, and the bytes of its text in JSON and YAML.

mod block;
mod difference;
mod json;
mod yaml;

use ctx_types::{Phrase, phrase};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use block::{block_range, block_written};
pub use difference::{Lists, difference};
pub use json::{edited as edited_json, is_editable as is_editable_json, numbers, pretty_json};
pub use yaml::edited as edited_yaml;

/// Byte order mark, with which some programs begin a text in UTF-8.
pub const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Splits bytes into the byte order mark, which may be missing, and the text.
pub fn split_mark(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(if bytes.starts_with(MARK) { MARK.len() } else { 0 })
}

/// Returns bytes without the byte order mark.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    split_mark(bytes).1
}

/// One change at a JSON pointer (RFC 6901).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
pub enum Edit {
    /// Gives a value, which may be a new key of an object.
    Set {
        /// Where.
        pointer: String,
        /// The value.
        value: Value,
    },
    /// Removes a key of an object, or an item of a list with the comment lines directly above it.
    Remove {
        /// Which.
        pointer: String,
    },
    /// Inserts an item into a list, before the index that the pointer ends with; `-` is the end.
    Insert {
        /// Where.
        pointer: String,
        /// The item.
        value: Value,
    },
    /// Moves an item within its list, with the comment lines directly above it.
    Move {
        /// Which.
        pointer: String,
        /// Its index afterwards.
        to: usize,
    },
    /// Gives a key of an object another name.
    Rename {
        /// Which key.
        pointer: String,
        /// Its new name.
        key: String,
    },
}

/// Why an edit was not made; the draft is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// A pointer is none of RFC 6901.
    BadPointer(String),
    /// A pointer leads nowhere, or the value there is of another kind.
    NotFound(String),
    /// The object has a key of the new name.
    Taken(String),
    /// The text cannot express the edit without changing more than it names: an alias, or a form that is not edited.
    ChangesMore,
    /// The text would be larger than files of its kind may be.
    TooLarge {
        /// In bytes.
        limit: usize,
    },
    /// The file is neither JSON nor YAML nor TOML.
    NoStructure,
    /// TOML has no null.
    NoNull,
    /// The text cannot be read as it is now.
    Unreadable,
}

impl EditError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::BadPointer(pointer) => {
                phrase!("`{pointer}` is not a valid JSON pointer", pointer = pointer.clone())
            }
            Self::NotFound(pointer) => {
                phrase!("nothing to change at `{pointer}`", pointer = pointer.clone())
            }
            Self::Taken(name) => phrase!("the key `{name}` already exists", name = name.clone()),
            Self::ChangesMore => phrase!("the edit would change other parts of the file"),
            Self::TooLarge { limit } => phrase!(
                "the file would exceed the limit of {limit} bytes; shorten it, or save it as JSON",
                limit = *limit
            ),
            Self::NoStructure => phrase!("edit this file as text"),
            Self::NoNull => phrase!("TOML has no `null`; remove the key instead"),
            Self::Unreadable => phrase!("cannot read the text; fix it first"),
        }
    }
}

impl std::fmt::Display for EditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.phrase().fmt(f)
    }
}

impl std::error::Error for EditError {}

impl Edit {
    /// Returns the pointer at which the edit is made.
    pub fn pointer(&self) -> &str {
        match self {
            Self::Set { pointer, .. }
            | Self::Remove { pointer }
            | Self::Insert { pointer, .. }
            | Self::Move { pointer, .. }
            | Self::Rename { pointer, .. } => pointer,
        }
    }

    /// Returns whether the edit puts a scalar in the place of another one of a value.
    pub(crate) fn is_of_scalar(&self, root: &Value) -> bool {
        let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
        matches!(self, Self::Set { pointer, value } if is_scalar(value) && root.pointer(pointer).is_some_and(is_scalar))
    }

    /// Returns how many bytes the value has that the edit brings, written as JSON.
    pub fn size(&self) -> usize {
        match self {
            Self::Set { value, .. } | Self::Insert { value, .. } => value.to_string().len(),
            Self::Remove { .. } | Self::Move { .. } | Self::Rename { .. } => 0,
        }
    }

    /// Makes the edit in a value; returns whether the value is another one.
    ///
    /// # Errors
    ///
    /// The pointer is none, or leads to nothing that the edit can change.
    pub fn apply(&self, root: &mut Value) -> Result<bool, EditError> {
        let pointer = self.pointer();
        if !is_pointer(pointer) {
            return Err(EditError::BadPointer(pointer.to_owned()));
        }
        if let Self::Rename { key, .. } = self
            && let Some((Value::Object(map), old)) = parent(root, pointer)
            && *key != old
            && map.contains_key(key)
        {
            return Err(EditError::Taken(key.clone()));
        }
        self.applied(root).ok_or_else(|| EditError::NotFound(pointer.to_owned()))
    }

    fn applied(&self, root: &mut Value) -> Option<bool> {
        if let Self::Set { pointer, value } = self
            && pointer.is_empty()
        {
            return Some(replace(root, value));
        }
        match (self, parent(root, self.pointer())?) {
            (Self::Set { value, .. }, (Value::Object(map), key)) => match map.get_mut(&key) {
                Some(old) => Some(replace(old, value)),
                None => Some(map.insert(key, value.clone()).is_none()),
            },
            (Self::Set { value, .. }, (Value::Array(list), key)) => {
                Some(replace(list.get_mut(index(&key)?)?, value))
            }
            (Self::Remove { .. }, (Value::Object(map), key)) => map.shift_remove(&key).map(|_| true),
            (Self::Remove { .. }, (Value::Array(list), key)) => {
                let at = index(&key).filter(|at| *at < list.len())?;
                list.remove(at);
                Some(true)
            }
            (Self::Insert { value, .. }, (Value::Array(list), key)) => {
                let at = if key == "-" { list.len() } else { index(&key)? };
                (at <= list.len()).then(|| list.insert(at, value.clone())).map(|()| true)
            }
            (Self::Move { to, .. }, (Value::Array(list), key)) => {
                let from = index(&key).filter(|from| *from < list.len() && *to < list.len())?;
                let item = list.remove(from);
                list.insert(*to, item);
                Some(from != *to)
            }
            (Self::Rename { key: new, .. }, (Value::Object(map), old)) => {
                map.get(&old)?;
                let renamed = |key: String| if key == old { new.clone() } else { key };
                *map = std::mem::take(map).into_iter().map(|(key, value)| (renamed(key), value)).collect();
                Some(*new != old)
            }
            _ => None,
        }
    }
}

/// Writes edits into a text that holds a value, so that it holds another one.
pub type Write<'w> = &'w dyn Fn(&str, &[Edit], &Value, &Value) -> Result<String, EditError>;

/// Returns a text after edits, all at once as far as it can be written so; `value` is what it held before, and holds then.
///
/// # Errors
///
/// An edit cannot be made; `value` is then anything between.
pub fn edit_all(
    text: &str,
    edits: &[Edit],
    value: &mut Value,
    write: Write<'_>,
) -> Result<String, EditError> {
    let mut wanted = value.clone();
    let mut made = Vec::new();
    for edit in edits {
        if edit.apply(&mut wanted)? {
            made.push(edit.clone());
        }
    }
    if made.is_empty() {
        return Ok(text.to_owned());
    }
    let (first, second) = made.split_at(made.len() / 2);
    match write(text, &made, value, &wanted) {
        Ok(text) => {
            *value = wanted;
            Ok(text)
        }
        // Some may need what others do not, as another kind of quotes.
        Err(EditError::ChangesMore) if !first.is_empty() => {
            let text = edit_all(text, first, value, write)?;
            edit_all(&text, second, value, write)
        }
        Err(error) => Err(error),
    }
}

fn replace(old: &mut Value, new: &Value) -> bool {
    let is_other = old != new;
    if is_other {
        new.clone_into(old);
    }
    is_other
}

/// The list or object that a pointer leads into, and the last step of the pointer.
fn parent<'v>(root: &'v mut Value, pointer: &str) -> Option<(&'v mut Value, String)> {
    let (above, key) = pointer.rsplit_once('/')?;
    Some((root.pointer_mut(above)?, unescaped(key)))
}

/// Returns whether a text is a pointer: empty, or steps each behind a `/`, with `~` only in `~0` and `~1`.
fn is_pointer(text: &str) -> bool {
    (text.is_empty() || text.starts_with('/'))
        && text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}

/// Returns what a step of a pointer says.
pub fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Returns an index of a list: digits without a zero before them.
pub fn index(key: &str) -> Option<usize> {
    let is_plain = key == "0" || (!key.starts_with('0') && key.bytes().all(|byte| byte.is_ascii_digit()));
    key.parse().ok().filter(|_| is_plain)
}
