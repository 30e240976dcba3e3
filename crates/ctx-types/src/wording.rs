//! Words in findings and reasons: what strangers wrote, quoted harmlessly, and numbers of things.

use std::borrow::Cow;

/// How many characters of a stranger's text a finding quotes.
const MAX_QUOTED: usize = 64;

/// Returns the beginning of what a stranger wrote, with an ellipsis if it goes on and control characters
/// escaped.
///
/// A name can be as long as its file; one that is quoted in full by a thousand findings fills the memory.
/// O(1): no more than 65 characters are looked at.
///
/// ```
/// use ctx_types::excerpt;
///
/// assert_eq!(excerpt("chat_history"), "chat_history");
/// assert_eq!(excerpt("a\nb\u{1b}[2J"), r"a\nb\u{1b}[2J");
/// assert_eq!(excerpt(&"x".repeat(1_000)).chars().count(), 65);
/// ```
pub fn excerpt(text: &str) -> Cow<'_, str> {
    let end = text.char_indices().nth(MAX_QUOTED).map(|(end, _)| end);
    let start = end.and_then(|end| text.get(..end)).unwrap_or(text);
    if end.is_none() && !start.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(start.len());
    for character in start.chars() {
        match character.is_control() {
            true => shown.extend(character.escape_debug()),
            false => shown.push(character),
        }
    }
    shown.push_str(if end.is_some() { "…" } else { "" });
    Cow::Owned(shown)
}

/// Writes a number of things: `1 message`, `2 messages`. The thing is named in the singular.
///
/// ```
/// use ctx_types::plural;
///
/// assert_eq!(plural(1, "message"), "1 message");
/// assert_eq!(plural(0, "message"), "0 messages");
/// ```
pub fn plural(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// Writes a number with commas between thousands.
///
/// ```
/// use ctx_types::thousands;
///
/// assert_eq!((thousands(999), thousands(12_300)), ("999".to_owned(), "12,300".to_owned()));
/// ```
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut written = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}
