//! Texts that differ only in a clock or an id.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Returns a hash of a text without its times, dates, numbers of 5 digits and more, and UUIDs.
///
/// Every run of letters, digits, and `-:.+_` that has a digit and looks like one of these is replaced by a placeholder.
/// Two texts with the same hash differ at most in such runs. Linear in the text.
pub(crate) fn masked_hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let words = || text.as_bytes().split(|byte| !byte.is_ascii_alphabetic());
    let has_month = words().any(is_calendar_name);
    let is_inner =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'.' | b'+' | b'_');
    for run in text.as_bytes().chunk_by(|left, right| is_inner(*left) == is_inner(*right)) {
        if is_inner(run[0]) && is_moving(run, has_month) { 0_u8.hash(&mut hasher) } else { hasher.write(run) }
    }
    hasher.finish()
}

/// Names of months and days, which stand beside numbers in dates that are written out.
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

/// Returns whether a word is the name of a month or day, or its first three letters.
fn is_calendar_name(word: &[u8]) -> bool {
    CALENDAR.iter().any(|name| {
        let name = name.as_bytes();
        word.eq_ignore_ascii_case(name) || word.len() == 3 && word.eq_ignore_ascii_case(&name[..3])
    })
}

/// Returns whether a word is a time, date, id, or a part of a date that is written out.
fn is_moving(word: &[u8], has_month: bool) -> bool {
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
    is_time || is_id || digits >= 4 || has_month && digits == trimmed.len()
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
        same("at 9:05 PM", "at 10:15 AM");
        same("id 6f9619ff-8b86-d011-b42d-00cf4fc964ff", "id 00000000-8b86-4011-b42d-00cf4fc964aa");
        assert_ne!(masked_hash("the red door"), masked_hash("the blue door"));
        assert_ne!(masked_hash("v1.2 of the tool"), masked_hash("v1.2 of the test"));
    }
}
