//! Halves of characters: servers that count as JavaScript does cut an emoji in two, so that one piece ends with half of
//! a surrogate pair and the next begins with the other half. JSON can write that; no text can hold it.

use ctx_types::{Diagnostic, count_of, phrase};

use crate::codes;

/// The length of `\uXXXX`.
const UNIT: usize = 6;

/// Joins halves that came in two pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Halves {
    /// The half with which a text of an earlier piece ended, as it was written.
    open: Option<String>,
    /// How many had no other half.
    lost: usize,
}

impl Halves {
    /// Returns a piece without halves: the first of a pair is kept until the other comes, and what has no other becomes
    /// U+FFFD. Nothing if there is no half in it. O(length).
    pub(super) fn join(&mut self, data: &str) -> Option<String> {
        let (mut joined, mut copied, mut at, mut begin) = (String::new(), 0, 0, 0);
        while let Some(step) = data.get(at..).and_then(|rest| rest.find(['"', '\\'])) {
            let start = at + step;
            let Some(unit) = unit(data, start) else {
                // A quote begins or ends a text; anything else is an escape of one character.
                let is_quote = data.as_bytes().get(start) == Some(&b'"');
                at = start + if is_quote { 1 } else { 2 };
                begin = if is_quote { at } else { begin };
                continue;
            };
            at = start + UNIT;
            let with = match unit {
                0xD800..=0xDBFF if is_low(data, at) => {
                    at += UNIT;
                    continue;
                }
                0xD800..=0xDBFF if data.get(at..).is_some_and(|rest| rest.starts_with('"')) => {
                    let half = data.get(start..at).map(str::to_owned);
                    self.lost += usize::from(std::mem::replace(&mut self.open, half).is_some());
                    String::new()
                }
                0xDC00..=0xDFFF if start == begin && self.open.is_some() => {
                    self.open.take().unwrap_or_default() + data.get(start..at).unwrap_or_default()
                }
                0xD800..=0xDFFF => {
                    self.lost += 1;
                    "\\ufffd".to_owned()
                }
                _ => continue,
            };
            joined += data.get(copied..start).unwrap_or_default();
            joined += &with;
            copied = at;
        }
        (copied > 0).then(|| joined + data.get(copied..).unwrap_or_default())
    }

    /// Reports halves without another.
    pub(super) fn finding(&self) -> Option<Diagnostic> {
        let lost = self.lost + usize::from(self.open.is_some());
        let text = phrase!(
            "the reply contains {characters}, which cannot be stored",
            characters = count_of!(lost, "unpaired surrogate")
        );
        (lost > 0).then(|| Diagnostic::warning(codes::REPLY_REPAIRED, text))
    }
}

fn is_low(data: &str, at: usize) -> bool {
    matches!(unit(data, at), Some(0xDC00..=0xDFFF))
}

/// Reads the code unit of an escape `\uXXXX` at a place.
fn unit(data: &str, at: usize) -> Option<u32> {
    let digits = data.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}
