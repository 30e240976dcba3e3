use std::borrow::Cow;

const MAX_QUOTED: usize = 64;

/// Returns the first 64 characters of untrusted text, with an ellipsis if it is longer, and escapes control
/// characters. O(1).
///
/// A thousand diagnostics may quote a name as long as its file.
///
/// ```
/// use ctx_types::internal::excerpt;
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
        if character.is_control() { shown.extend(character.escape_debug()) } else { shown.push(character) }
    }
    shown.push_str(if end.is_some() { "…" } else { "" });
    Cow::Owned(shown)
}

/// Formats a count of a singular noun: `1 message`, `2 messages`.
///
/// ```
/// use ctx_types::internal::plural;
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

/// Formats a number with thousands separators.
///
/// ```
/// use ctx_types::internal::thousands;
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
