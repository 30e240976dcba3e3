//! Texts that look like borders of turns.

use std::borrow::Cow;

/// Parts every border within a text by a space behind its first character, so that it is none any more.
///
/// O(text × borders).
pub(super) fn escape<'a>(text: &'a str, borders: &[String]) -> Cow<'a, str> {
    let mut escaped = Cow::Borrowed(text);
    for border in borders {
        if !escaped.contains(border.as_str()) {
            continue;
        }
        let mut rest = border.chars();
        let Some(first) = rest.next() else { continue };
        escaped = Cow::Owned(escaped.replace(border.as_str(), &format!("{first} {}", rest.as_str())));
    }
    escaped
}
