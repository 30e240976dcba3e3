//! Fingerprints: short numbers by which two states of the same things are told apart.

use std::fmt;

/// A number that is equal for equal pieces and, but for accidents, different for others.
///
/// The same on every machine and in every version, so that it can be stored. It is no protection against
/// somebody who looks for two states with one number (FNV-1a, 64 bits). O(bytes).
///
/// ```
/// use ctx_types::Fingerprint;
///
/// let of = |pieces: &[&str]| pieces.iter().fold(Fingerprint::default(), |sum, piece| sum.text(piece));
/// assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
/// assert_ne!(of(&["a", "b"]), of(&["ab"]));
/// assert_eq!(of(&[]).to_string(), "cbf29ce484222325");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the fingerprint of these pieces and a text after them.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes()).number(text.len() as u64)
    }

    /// Returns the fingerprint of these pieces and a number after them.
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Returns the fingerprint of these pieces and bytes after them, which are no piece of their own: nothing tells
    /// where they end.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        const PRIME: u64 = 0x0100_0000_01b3;
        Self(bytes.iter().fold(self.0, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(PRIME)))
    }

    /// Returns it as a number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Reads what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl Default for Fingerprint {
    /// The fingerprint of nothing.
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_it_writes() {
        let some = Fingerprint::default().text("a").number(7);
        assert_eq!(Fingerprint::parse(&some.to_string()), Some(some));
        assert_eq!(Fingerprint::parse("x"), None);
    }
}
