use std::borrow::Cow;

/// Escapes a key for a JSON pointer (RFC 6901, section 3): `~` becomes `~0`, and `/` becomes `~1`.
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
#[inline]
pub fn pointer_key(step: &str) -> Cow<'_, str> {
    if step.contains('~') {
        Cow::Owned(step.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(step)
    }
}
