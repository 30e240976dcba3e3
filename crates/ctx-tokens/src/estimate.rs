/// Estimates tokens: ASCII characters divided by 4, rounded up, plus all other characters.
///
/// The result is between a quarter of the bytes and all bytes.
///
/// ```
/// use ctx_tokens::internal::estimate;
///
/// assert_eq!(estimate("hello"), 2);
/// assert_eq!(estimate("你好abc!"), 3);
/// ```
pub fn estimate(text: &str) -> u32 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // In UTF-8, each non-ASCII character has exactly one byte of 0xC0 or above.
    let others = text.bytes().filter(|byte| *byte >= 0xC0).count();
    clamp(ascii.div_ceil(4) + others)
}

pub(crate) fn estimate_till_limit(text: &str, limit: u32) -> Option<u32> {
    // A token covers at most 4 bytes.
    if clamp(text.len() / 4) > limit {
        return None;
    }
    Some(estimate(text)).filter(|count| *count <= limit)
}

pub(crate) fn clamp(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
