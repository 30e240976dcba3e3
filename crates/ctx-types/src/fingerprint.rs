use std::fmt;

/// A 64-bit FNV-1a hash of a sequence of values.
///
/// Stable between machines and versions, but not collision-resistant against attackers. O(bytes).
///
/// ```
/// use ctx_types::internal::Fingerprint;
///
/// let of = |pieces: &[&str]| pieces.iter().fold(Fingerprint::default(), |sum, piece| sum.text(piece));
/// assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
/// assert_ne!(of(&["a", "b"]), of(&["ab"]));
/// assert_eq!(of(&[]).to_string(), "cbf29ce484222325");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Appends a text and its length.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes()).number(text.len() as u64)
    }

    /// Appends a number.
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Appends bytes without their length.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        const PRIME: u64 = 0x0100_0000_01b3;
        Self(bytes.iter().fold(self.0, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(PRIME)))
    }

    /// Returns the number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Parses the output of [`fmt::Display`].
    pub fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl Default for Fingerprint {
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
    fn round_trips_through_text() {
        let some = Fingerprint::default().text("a").number(7);
        assert_eq!(Fingerprint::parse(&some.to_string()), Some(some));
        assert_eq!(Fingerprint::parse("x"), None);
    }
}
