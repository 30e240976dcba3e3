//! Counting with `bpe-openai`: linear in the worst case, and a limited count stops at the limit.

use bpe_openai::{Tokenizer, cl100k_base, o200k_base};

use crate::encoding::Encoding;
use crate::estimate::{clamp, estimate, estimate_till_limit};

/// Counts the tokens of a text.
pub(crate) fn count(encoding: Encoding, text: &str) -> u32 {
    match tokenizer(encoding) {
        Some(tokenizer) => clamp(tokenizer.count(text)),
        None => estimate(text),
    }
}

/// Counts the tokens of a text unless they are above `limit`. O(limit), not O(text).
pub(crate) fn count_till_limit(encoding: Encoding, text: &str, limit: u32) -> Option<u32> {
    let Some(tokenizer) = tokenizer(encoding) else { return estimate_till_limit(text, limit) };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    tokenizer.count_till_limit(&tokenizer.normalize(text), limit).map(clamp)
}

fn tokenizer(encoding: Encoding) -> Option<&'static Tokenizer> {
    match encoding {
        Encoding::Estimate => None,
        Encoding::Cl100kBase => Some(cl100k_base()),
        Encoding::O200kBase => Some(o200k_base()),
    }
}
