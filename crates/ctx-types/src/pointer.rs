use std::borrow::Cow;

/// Escapes a key for a JSON pointer (RFC 6901, section 3): `~` becomes `~0`, and `/` becomes `~1`.
///
/// ```
/// use ctx_types::internal::pointer_step;
///
/// assert_eq!(pointer_step("content"), "content");
/// assert_eq!(pointer_step("a~b/c"), "a~0b~1c");
/// ```
#[inline]
pub fn pointer_step(key: &str) -> Cow<'_, str> {
    // Branch-free, because this runs for every key of a file.
    if key.bytes().fold(false, |is_odd, byte| is_odd | matches!(byte, b'~' | b'/')) {
        Cow::Owned(key.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(key)
    }
}

/// Unescapes a key; the inverse of [`pointer_step`].
///
/// ```
/// use ctx_types::internal::pointer_key;
///
/// assert_eq!(pointer_key("content"), "content");
/// assert_eq!(pointer_key("a~0b~1c"), "a~b/c");
/// ```
#[inline]
pub fn pointer_key(step: &str) -> Cow<'_, str> {
    if step.contains('~') {
        Cow::Owned(step.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(step)
    }
}
