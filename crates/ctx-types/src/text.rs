use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Cached encodings per text; the first ones win.
const SLOTS: usize = 2;

/// An immutable, shared text, with token counts cached for all clones. Cloning is O(1).
///
/// Lengths are in UTF-8 bytes.
///
/// ```
/// use ctx_types::{EncodingId, Text};
///
/// let text = Text::from("hello");
/// let again = text.clone();
/// assert_eq!(text.tokens_with(EncodingId(1), |body| body.len() as u32), 5);
/// assert_eq!(again.tokens_with(EncodingId(1), |_| unreachable!("counted already")), 5);
/// ```
#[derive(Clone)]
pub struct Text(Arc<Body>);

#[derive(Default)]
struct Body {
    text: Box<str>,
    counts: [AtomicU64; SLOTS],
    has_picture: OnceLock<bool>,
}

/// The id of a token encoding. Counts for 0 are not cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EncodingId(pub u32);

impl Text {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// Returns the token count; calls `count` only if it is not cached.
    ///
    /// Concurrent calls may both count.
    pub fn tokens_with(&self, encoding: EncodingId, count: impl FnOnce(&str) -> u32) -> u32 {
        if let Some(known) = self.known_tokens(encoding) {
            return known;
        }
        let counted = count(self.as_str());
        if encoding.0 != 0 {
            self.remember(encoding, counted);
        }
        counted
    }

    /// Returns the cached token count.
    pub fn known_tokens(&self, encoding: EncodingId) -> Option<u32> {
        self.0.counts.iter().find_map(|slot| {
            let packed = slot.load(Ordering::Relaxed);
            let (owner, count) = unpack(packed);
            (packed != 0 && owner == encoding).then_some(count)
        })
    }

    /// Markdown between an inline image's description and bytes.
    pub const INLINE_PICTURE: &str = "](data:";

    /// Returns whether the text seems to have an inline Markdown image, `![…](data:…;base64,…)`.
    ///
    /// O(bytes), cached for all clones.
    pub fn has_inline_picture(&self) -> bool {
        *self.0.has_picture.get_or_init(|| self.contains(Self::INLINE_PICTURE))
    }

    /// Returns whether two texts share memory.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn remember(&self, encoding: EncodingId, count: u32) {
        let packed = (u64::from(encoding.0) << 32) | u64::from(count);
        for slot in &self.0.counts {
            let free = slot.compare_exchange(0, packed, Ordering::Relaxed, Ordering::Relaxed);
            if free.is_ok() {
                return;
            }
        }
    }
}

fn unpack(packed: u64) -> (EncodingId, u32) {
    const LOWER: u64 = 0xffff_ffff;
    let half = |bits: u64| u32::try_from(bits & LOWER).unwrap_or(u32::MAX);
    (EncodingId(half(packed >> 32)), half(packed))
}

impl Default for Text {
    fn default() -> Self {
        Self::from("")
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Arc::new(Body { text: text.into_boxed_str(), ..Body::default() }))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.is_shared_with(other) || self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl std::hash::Hash for Text {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl std::borrow::Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl<T: AsRef<str> + ?Sized> PartialEq<T> for Text {
    fn eq(&self, other: &T) -> bool {
        self.as_str() == other.as_ref()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <String as serde::Deserialize>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_third_encoding_without_caching() {
        let text = Text::from("abc");
        for id in 1..=3 {
            assert_eq!(text.tokens_with(EncodingId(id), |_| id * 10), id * 10);
        }
        assert_eq!(text.known_tokens(EncodingId(1)), Some(10));
        assert_eq!(text.known_tokens(EncodingId(2)), Some(20));
        assert_eq!(text.known_tokens(EncodingId(3)), None);
    }

    #[test]
    fn caches_zero_count() {
        let text = Text::default();
        text.tokens_with(EncodingId(7), |_| 0);
        assert_eq!(text.known_tokens(EncodingId(7)), Some(0));
        assert_eq!(text.known_tokens(EncodingId(0)), None);
    }
}
