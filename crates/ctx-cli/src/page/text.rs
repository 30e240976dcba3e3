//! Texts of a page: harmless, and no more of them than a browser shows gladly.

use std::borrow::Cow;

use ctx_language::Language;
use ctx_types::{count_of, phrase};
use minijinja::HtmlEscape;

use crate::lang;
use crate::show::clean;

/// How many bytes of text all of a page may have.
const MAX_PAGE: usize = 2 * 1024 * 1024;

/// How many bytes one text may have.
const MAX_TEXT: usize = 32 * 1024;

/// What a page has room for, and what was left out for it.
#[derive(Debug)]
pub(super) struct Room {
    left: usize,
    cut_texts: usize,
    cut_bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { left: MAX_PAGE, cut_texts: 0, cut_bytes: 0 }
    }
}

/// The beginning of a text, as far as there is room.
#[derive(Debug)]
pub(super) struct Cut<'a> {
    pub(super) text: &'a str,
    /// How many bytes are missing.
    pub(super) missing: usize,
}

impl Room {
    /// Takes room for a text.
    pub(super) fn take<'a>(&mut self, text: &'a str) -> Cut<'a> {
        let wanted = text.len().min(MAX_TEXT).min(self.left);
        let end = (0..=wanted).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let missing = text.len() - end;
        self.left -= end;
        self.cut_texts += usize::from(missing > 0);
        self.cut_bytes += missing;
        Cut { text: text.get(..end).unwrap_or_default(), missing }
    }

    /// Describes what was left out.
    pub(super) fn notes(&self, language: Language) -> Vec<String> {
        let bytes = count_of!(self.cut_bytes, "byte");
        let note = match self.cut_texts {
            0 => return Vec::new(),
            1 => phrase!("1 text is cut by {bytes}; use ctx explain --json for the full text.", bytes),
            count => phrase!(
                "{count} texts are cut by {bytes} in total; use ctx explain --json for the full texts.",
                count,
                bytes
            ),
        };
        vec![lang::say(language, &note)]
    }
}

/// Returns a text without characters that a browser would obey rather than show.
pub(super) fn shown(text: &str) -> String {
    let text: Cow<'_, str> = if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    };
    clean(&text).into_owned()
}

/// Writes a text as HTML: names in backticks as code, all that a browser would obey as text.
pub(super) fn marked(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mut html = String::with_capacity(text.len());
    for (at, part) in parts.iter().enumerate() {
        let is_closed = at + 1 < parts.len();
        let escaped = HtmlEscape(part).to_string();
        match at % 2 {
            0 => html.push_str(&escaped),
            _ if is_closed && !part.is_empty() => html.extend(["<code>", &escaped, "</code>"]),
            // A backtick that has no other, or two with nothing between them, stand for themselves.
            _ => html.extend(["`", &escaped, if is_closed { "`" } else { "" }]),
        }
    }
    html
}

/// Describes how many bytes of a text are missing, if any.
pub(super) fn missing(language: Language, bytes: usize) -> Option<String> {
    (bytes > 0).then(|| lang::say(language, &phrase!("… {bytes} more", bytes = count_of!(bytes, "byte"))))
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(marked(text), expected);
    }

    #[test]
    fn names_in_backticks_are_code() {
        check("before `chat_history`", "before <code>chat_history</code>");
        check("`a` and `b`.", "<code>a</code> and <code>b</code>.");
    }

    #[test]
    fn nothing_of_a_text_is_obeyed() {
        check("<b>`</code><script>`&'", "&lt;b&gt;<code>&lt;&#x2f;code&gt;&lt;script&gt;</code>&amp;&#x27;");
    }

    #[test]
    fn backticks_without_another_stand_for_themselves() {
        check("a ` b", "a ` b");
        check("a `b` c ` <d", "a <code>b</code> c ` &lt;d");
        check("``", "``");
    }
}
