//! Texts that are written anew each turn, shared with those of earlier turns.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::text::Text;

/// Remembers texts that were written, so that an equal one of a later turn keeps the token counts of the first.
///
/// It changes no result, only what need not be counted again. It is bounded: above [`TextMemory::MAX_TEXTS`]
/// texts or [`TextMemory::MAX_BYTES`] bytes it begins anew.
///
/// ```
/// use ctx_types::{Text, TextMemory};
///
/// let memory = TextMemory::default();
/// let first = memory.share("written by a macro".into());
/// let again: Text = "written by a macro".into();
/// assert!(!again.is_shared_with(&first));
/// assert!(memory.share(again).is_shared_with(&first));
/// ```
#[derive(Default)]
pub struct TextMemory(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    /// Only looked up, never listed, so that its order shows nowhere.
    texts: HashSet<Text>,
    bytes: usize,
}

impl TextMemory {
    /// How many texts are remembered at the most.
    pub const MAX_TEXTS: usize = 1_024;
    /// How many bytes the remembered texts have at the most.
    pub const MAX_BYTES: usize = 4 * 1024 * 1024;

    /// Returns the remembered text that is equal, or remembers this one. O(bytes of the text).
    pub fn share(&self, text: Text) -> Text {
        if text.len() > Self::MAX_BYTES {
            return text;
        }
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = remembered.texts.get(text.as_str()) {
            return known.clone();
        }
        if remembered.texts.len() >= Self::MAX_TEXTS || remembered.bytes + text.len() > Self::MAX_BYTES {
            *remembered = Remembered::default();
        }
        remembered.bytes += text.len();
        remembered.texts.insert(text.clone());
        text
    }
}

impl fmt::Debug for TextMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextMemory(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_memory_begins_anew() {
        let memory = TextMemory::default();
        let first = memory.share("0".into());
        for number in 1..=TextMemory::MAX_TEXTS {
            memory.share(number.to_string().into());
        }
        assert!(!memory.share("0".into()).is_shared_with(&first));
        let long: Text = "x".repeat(TextMemory::MAX_BYTES + 1).into();
        assert!(memory.share(long.clone()).is_shared_with(&long));
        assert!(!memory.share(long.to_string().into()).is_shared_with(&long), "too long to be kept");
    }
}
