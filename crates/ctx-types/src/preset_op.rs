//! Operations on an agent's preset, and their exact inverses.

use crate::{Phrase, phrase};
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, PresetMessage};

/// A change of an agent's preset. Entries are named by their place in the list, counted from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum PresetOp {
    /// Adds an entry.
    Insert {
        /// Its place after the operation; at most the length of the list.
        index: usize,
        /// The entry.
        entry: Box<PresetMessage>,
    },
    /// Puts another entry in the place of one.
    Replace {
        /// The place.
        index: usize,
        /// The new entry.
        entry: Box<PresetMessage>,
    },
    /// Removes an entry.
    Remove {
        /// The place.
        index: usize,
    },
    /// Moves an entry.
    Move {
        /// Its place before the operation.
        from: usize,
        /// Its place after the operation.
        to: usize,
    },
    /// Switches an entry on or off.
    Toggle {
        /// The place.
        index: usize,
        /// Whether the entry takes part.
        enabled: bool,
    },
}

/// Why an operation on a preset cannot be applied; the preset is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum PresetOpError {
    /// There is no entry at the place.
    NoEntry {
        /// The place, counted from 0.
        index: usize,
        /// The number of entries.
        len: usize,
    },
    /// The file holds no object at the place.
    Malformed {
        /// The place, counted from 0.
        index: usize,
    },
}

impl PresetOpError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::NoEntry { index, len } => phrase!("no preset entry {index}: there are {len}", index, len),
            Self::Malformed { index } => {
                phrase!("preset entry {index} is not an object; it cannot be enabled or disabled", index)
            }
        }
    }
}

impl Agent {
    /// Carries out an operation on the preset and returns its exact inverse; one that fails changes nothing.
    ///
    /// ```
    /// use ctx_types::{Agent, PresetMessage, PresetOp};
    ///
    /// let mut agent = Agent::default();
    /// let undo = agent.apply_preset(&PresetOp::Insert { index: 0, entry: Box::default() })?;
    /// assert_eq!(agent.preset_messages, [PresetMessage::default()]);
    /// assert_eq!(undo, PresetOp::Remove { index: 0 });
    /// # Ok::<(), ctx_types::PresetOpError>(())
    /// ```
    pub fn apply_preset(&mut self, op: &PresetOp) -> Result<PresetOp, PresetOpError> {
        let entries = &mut self.preset_messages;
        let len = entries.len();
        let no_entry = |index| PresetOpError::NoEntry { index, len };
        match op {
            PresetOp::Insert { index, .. } if *index > len => Err(no_entry(*index)),
            PresetOp::Insert { index, entry } => {
                entries.insert(*index, (**entry).clone());
                Ok(PresetOp::Remove { index: *index })
            }
            PresetOp::Remove { index } if *index >= len => Err(no_entry(*index)),
            PresetOp::Remove { index } => {
                Ok(PresetOp::Insert { index: *index, entry: Box::new(entries.remove(*index)) })
            }
            PresetOp::Move { from, to } if from.max(to) >= &len => Err(no_entry(*from.max(to))),
            PresetOp::Move { from, to } => {
                let entry = entries.remove(*from);
                entries.insert(*to, entry);
                Ok(PresetOp::Move { from: *to, to: *from })
            }
            PresetOp::Replace { index, entry } => {
                let place = entries.get_mut(*index).ok_or_else(|| no_entry(*index))?;
                let entry = Box::new(std::mem::replace(place, (**entry).clone()));
                Ok(PresetOp::Replace { index: *index, entry })
            }
            PresetOp::Toggle { index, enabled } => {
                let place = entries.get_mut(*index).ok_or_else(|| no_entry(*index))?;
                toggle(place, *index, *enabled)
            }
        }
    }
}

/// Switches an entry; the inverse is the whole entry, since the file may say nothing about its switch.
fn toggle(entry: &mut PresetMessage, index: usize, enabled: bool) -> Result<PresetOp, PresetOpError> {
    if entry.kept.is_malformed() {
        return Err(PresetOpError::Malformed { index });
    }
    let old = entry.clone();
    if entry.is_enabled() != enabled {
        entry.is_enabled = Some(enabled);
    }
    Ok(PresetOp::Replace { index, entry: Box::new(old) })
}
