//! Counting without a tokenizer.

/// Estimates the tokens of a text: its ASCII characters divided by 4, plus its other characters, rounded up.
///
/// It serves where no tokenizer fits and is always labelled as an estimate. It never exceeds the number of
/// bytes, since a character outside ASCII has at least two; nor is it ever below a quarter of them.
///
/// ```
/// use ctx_tokens::estimate;
///
/// assert_eq!(estimate("hello"), 2);
/// assert_eq!(estimate("你好abc!"), 3);
/// ```
pub fn estimate(text: &str) -> u32 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    // Continuation bytes are 0x80 to 0xBF, so a character outside ASCII has exactly one byte above.
    let others = text.bytes().filter(|byte| *byte >= 0xC0).count();
    clamp(ascii.div_ceil(4) + others)
}

/// Estimates the tokens of a text unless they are above `limit`; a far longer text is not read at all.
pub(crate) fn estimate_till_limit(text: &str, limit: u32) -> Option<u32> {
    // A token of the estimate stands for four bytes at the most.
    if clamp(text.len() / 4) > limit {
        return None;
    }
    Some(estimate(text)).filter(|count| *count <= limit)
}

/// Brings a count into the range of the port.
pub(crate) fn clamp(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
