//! One edit, as it changes a value.

use ctx_types::{Phrase, phrase};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// The pointer leads nowhere, or the value there is of another kind.
    NotFound,
    /// The object has a key of the new name.
    Taken,
    /// The text cannot express the edit without changing more than it names: an alias, or a form that is not edited.
    ChangesMore,
    /// The file is neither JSON nor YAML.
    NoStructure,
    /// The text cannot be read as it is now.
    Unreadable,
}

impl EditError {
    /// Writes it in one phrase.
    pub fn phrase(self) -> Phrase {
        match self {
            Self::NotFound => phrase!("the file has nothing at this place"),
            Self::Taken => phrase!("there is a key of this name"),
            Self::ChangesMore => phrase!("the edit would change more of the file than it names"),
            Self::NoStructure => phrase!("the file is neither JSON nor YAML"),
            Self::Unreadable => phrase!("the text cannot be read as it is now; correct it first"),
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
    /// Makes the edit in a value.
    pub(super) fn apply(&self, root: &mut Value) -> Result<(), EditError> {
        match self {
            Self::Set { pointer, value } if pointer.is_empty() => *root = value.clone(),
            Self::Set { pointer, value } => match parent(root, pointer)? {
                (Value::Object(map), key) => {
                    map.insert(key, value.clone());
                }
                (Value::Array(list), key) => {
                    *list.get_mut(index(&key)?).ok_or(EditError::NotFound)? = value.clone();
                }
                _ => return Err(EditError::NotFound),
            },
            Self::Remove { pointer } => match parent(root, pointer)? {
                (Value::Object(map), key) => {
                    map.shift_remove(&key).ok_or(EditError::NotFound)?;
                }
                (Value::Array(list), key) => {
                    let at = index(&key)?;
                    list.get(at).ok_or(EditError::NotFound)?;
                    list.remove(at);
                }
                _ => return Err(EditError::NotFound),
            },
            Self::Insert { pointer, value } => {
                let (Value::Array(list), key) = parent(root, pointer)? else {
                    return Err(EditError::NotFound);
                };
                let at = if key == "-" { list.len() } else { index(&key)? };
                if at > list.len() {
                    return Err(EditError::NotFound);
                }
                list.insert(at, value.clone());
            }
            Self::Move { pointer, to } => {
                let (Value::Array(list), key) = parent(root, pointer)? else {
                    return Err(EditError::NotFound);
                };
                let from = index(&key)?;
                if from >= list.len() || *to >= list.len() {
                    return Err(EditError::NotFound);
                }
                let item = list.remove(from);
                list.insert(*to, item);
            }
            Self::Rename { pointer, key: new } => {
                let (Value::Object(map), old) = parent(root, pointer)? else {
                    return Err(EditError::NotFound);
                };
                if *new != old && map.contains_key(new) {
                    return Err(EditError::Taken);
                }
                map.get(&old).ok_or(EditError::NotFound)?;
                let renamed = |key: String| if key == old { new.clone() } else { key };
                *map = std::mem::take(map).into_iter().map(|(key, value)| (renamed(key), value)).collect();
            }
        }
        Ok(())
    }
}

/// The list or object that a pointer leads into, and the last step of the pointer.
fn parent<'v>(root: &'v mut Value, pointer: &str) -> Result<(&'v mut Value, String), EditError> {
    let (above, key) = pointer.rsplit_once('/').ok_or(EditError::NotFound)?;
    Ok((root.pointer_mut(above).ok_or(EditError::NotFound)?, unescaped(key)))
}

pub(super) fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

pub(super) fn index(key: &str) -> Result<usize, EditError> {
    key.parse().map_err(|_| EditError::NotFound)
}
