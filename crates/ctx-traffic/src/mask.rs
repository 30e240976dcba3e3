//! Texts that differ only in a clock or an id.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Returns a hash of a text without its times, dates, and ids.
///
/// A word is a run of letters, digits, and `-:.+_`. Each word that looks like a time, a date, seconds or milliseconds since
/// 1970, a UUID or another long id is replaced by a placeholder. Two texts with the same hash differ at most in such words.
/// Linear in the text.
pub(crate) fn masked_hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let is_inner =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'.' | b'+' | b'_');
    let runs: Vec<&[u8]> =
        text.as_bytes().chunk_by(|left, right| is_inner(*left) == is_inner(*right)).collect();
    // Every second run is a word.
    let word = |at: Option<usize>| at.and_then(|at| runs.get(at)).copied().unwrap_or_default();
    for (at, run) in runs.iter().enumerate() {
        let beside = |step: usize| [at.checked_sub(step), at.checked_add(step)].map(word);
        let is_dated = || {
            let ([left, right], [before, after]) = (beside(2), beside(4));
            is_calendar_name(left)
                || is_calendar_name(right)
                || is_number(left) && is_calendar_name(before)
                || is_number(right) && is_calendar_name(after)
        };
        if is_inner(run[0]) && (is_moving(run) || is_number(run) && is_dated()) {
            0_u8.hash(&mut hasher);
        } else {
            hasher.write(run);
        }
    }
    hasher.finish()
}

/// Names of months and days.
const CALENDAR: [&str; 19] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// Returns whether a word is a number, such as the day or year of a date.
fn is_number(word: &[u8]) -> bool {
    let trimmed = word.strip_suffix(b".").unwrap_or(word);
    !trimmed.is_empty() && trimmed.iter().all(u8::is_ascii_digit)
}

/// Returns whether a word is the name of a month or day, or its first three letters.
fn is_calendar_name(word: &[u8]) -> bool {
    let word = word.strip_suffix(b".").unwrap_or(word);
    CALENDAR.iter().any(|name| {
        let name = name.as_bytes();
        word.eq_ignore_ascii_case(name) || word.len() == 3 && word.eq_ignore_ascii_case(&name[..3])
    })
}

/// Returns whether a word is a time, date, or id.
fn is_moving(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let trimmed = word.strip_suffix(b".").unwrap_or(word);
    if digits == 0 {
        let is_half_of_day = trimmed.eq_ignore_ascii_case(b"am") || trimmed.eq_ignore_ascii_case(b"pm");
        return is_calendar_name(trimmed) || is_half_of_day;
    }
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    let dividers = word.iter().filter(|byte| matches!(byte, b'-' | b':' | b'.')).count();
    let is_time = dividers > 0
        && digits >= 3
        && word.iter().all(|byte| !byte.is_ascii_alphabetic() || b"TZUCGMTtzapm".contains(byte));
    let is_id = word.len() >= 16 && (word.iter().all(is_hex) || digits >= 6);
    let whole = trimmed.split(|byte| *byte == b'.').next().unwrap_or_default();
    let is_since_1970 = is_number(whole) && matches!(whole.len(), 10 | 13);
    is_time || is_id || is_since_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_times_dates_and_ids() {
        let same =
            |left: &str, right: &str| assert_eq!(masked_hash(left), masked_hash(right), "{left} {right}");
        same("It is 2026-11-29T05:00:00Z now.", "It is 2026-12-01T17:30:59Z now.");
        same("Today: Tuesday, 1 December 2026.", "Today: Sunday, 29 November 2026.");
        same("On December 1, 2026.", "On November 29, 2025.");
        same("at 9:05 PM", "at 10:15 AM");
        same("at 1764565200.25", "at 1764565299");
        same("id 6f9619ff-8b86-d011-b42d-00cf4fc964ff", "id 00000000-8b86-4011-b42d-00cf4fc964aa");
        assert_ne!(masked_hash("the red door"), masked_hash("the blue door"));
        assert_ne!(masked_hash("You may call 3 tools."), masked_hash("You may call 4 tools."));
        assert_ne!(masked_hash("at most 4096 tokens"), masked_hash("at most 8192 tokens"));
        assert_ne!(masked_hash("v1.2 of the tool"), masked_hash("v1.2 of the test"));
    }
}
