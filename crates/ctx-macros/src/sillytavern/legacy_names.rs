//! Which names stand behind opening braces, so that a pass for a macro that nobody calls need not read the text.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use memchr::memchr_iter;

use crate::call::Value;
use crate::expansion::Output;
use crate::registry::NameHasher;
use crate::sillytavern::legacy_shape::Shape;

/// The names in a text, and more: none that is there is missing.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The keys of the names, as far as they have letters, digits and `_`. Never iterated.
    known: HashSet<u64, BuildHasherDefault<NameHasher>>,
    is_read: bool,
}

/// No name is longer; what is, is cut.
const MOST: usize = 48;

impl Names {
    /// Returns whether the macro with a key may be called in a text; reads the text if it may have other names than
    /// before.
    pub(super) fn may_hold(&mut self, key: Option<u64>, output: &Output) -> bool {
        let Some(key) = key else { return true };
        if !self.is_read {
            self.read(output.text().as_bytes());
        }
        self.known.contains(&key)
    }

    fn read(&mut self, text: &[u8]) {
        self.known.clear();
        self.is_read = true;
        for at in memchr_iter(b'{', text).filter(|at| text.get(at + 1) == Some(&b'{')) {
            let name = text.get(at + 2..).unwrap_or_default();
            self.known.extend(key_of(name));
        }
    }

    /// Takes note of a value in the place of a call: with braces in it, or behind braces and a part of a name, it can
    /// make a name that was not there.
    pub(super) fn note(&mut self, text: &str, start: usize, value: &Value) {
        let before = text.as_bytes().get(..start).unwrap_or_default();
        let part = before.iter().rev().take(MOST).take_while(|byte| is_part(**byte)).count();
        let is_behind_braces =
            before.len().checked_sub(part + 1).and_then(|at| before.get(at)) == Some(&b'{');
        let joins = is_behind_braces || part == MOST || matches!(value, Value::Trim(_));
        self.is_read &= !joins && memchr::memchr(b'{', value.text().as_bytes()).is_none();
    }
}

/// Returns the key of a macro's name; none if calls of that shape have no such name.
pub(super) const fn key(name: &str, shape: Shape) -> Option<u64> {
    match shape {
        Shape::Angled => None,
        _ => key_of(name.as_bytes()),
    }
}

/// Returns a number for the name, in any case, that a text begins with; that others may have it costs a search.
pub(super) const fn key_of(text: &[u8]) -> Option<u64> {
    let mut hasher = NameHasher::new();
    let mut at = 0;
    while at < text.len() && at < MOST && is_part(text[at]) {
        hasher.add(text[at].to_ascii_lowercase() as u64);
        at += 1;
    }
    if at == 0 { None } else { Some(hasher.value()) }
}

/// Returns whether a byte may be part of a name; `-` begins an offset too, so a name is known by what precedes it.
const fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}
