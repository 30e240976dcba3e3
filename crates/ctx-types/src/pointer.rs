//! JSON pointers, by which findings say where something stands.

use std::borrow::Cow;

/// Writes a key as one step of a JSON pointer (RFC 6901, section 3): `~` becomes `~0`, and `/` becomes `~1`.
///
/// ```
/// use ctx_types::pointer_step;
///
/// assert_eq!(pointer_step("content"), "content");
/// assert_eq!(pointer_step("a~b/c"), "a~0b~1c");
/// ```
#[inline]
pub fn pointer_step(key: &str) -> Cow<'_, str> {
    // All bytes are looked at without a branch, since this is done for every key of a file.
    match key.bytes().fold(false, |is_odd, byte| is_odd | matches!(byte, b'~' | b'/')) {
        true => Cow::Owned(key.replace('~', "~0").replace('/', "~1")),
        false => Cow::Borrowed(key),
    }
}

/// Reads a step of a JSON pointer as the key that [`pointer_step`] wrote.
///
/// ```
/// use ctx_types::pointer_key;
///
/// assert_eq!(pointer_key("content"), "content");
/// assert_eq!(pointer_key("a~0b~1c"), "a~b/c");
/// ```
#[inline]
pub fn pointer_key(step: &str) -> Cow<'_, str> {
    match step.contains('~') {
        true => Cow::Owned(step.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(step),
    }
}
