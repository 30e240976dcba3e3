//! Texts of a card that override texts of a preset.

use std::ops::Range;

use super::MAIN;

/// Macro for the overridden text.
const ORIGINAL: &str = "original";

pub(super) fn has_original(text: &str) -> bool {
    find_original(text).is_some()
}

/// Returns the text of a card that overrides a prompt.
pub(super) fn overriding(identifier: &str, over: &str, own: &str) -> String {
    let text = with_original(&over.replace('\r', ""), own);
    if !may_be_empty(over) {
        return text;
    }
    // The card's macros are expanded before the prompts: if nothing is left, the preset's text is sent.
    let field = if identifier == MAIN { "charPrompt" } else { "charInstruction" };
    format!("{{{{#if {field}}}}}{text}{{{{else}}}}{own}{{{{/if}}}}")
}

/// Checks for a text of macros alone, which may expand to nothing. O(length).
pub(super) fn may_be_empty(text: &str) -> bool {
    let (mut rest, mut depth) = (text, 0_usize);
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '{' if rest.starts_with("{{") => {
                depth += 1;
                2
            }
            '}' if depth > 0 && rest.starts_with("}}") => {
                depth -= 1;
                2
            }
            _ if depth == 0 => return false,
            letter => letter.len_utf8(),
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    depth == 0
}

/// Finds the first call of the macro, in any letters and with any white space in it. O(length).
fn find_original(text: &str) -> Option<Range<usize>> {
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find("{{")) {
        let at = from + found;
        let inner = text.get(at + 2..).unwrap_or_default().trim_start();
        let is_named = inner.get(..ORIGINAL.len()).is_some_and(|name| name.eq_ignore_ascii_case(ORIGINAL));
        let rest = inner.get(ORIGINAL.len()..).filter(|_| is_named).map(str::trim_start);
        if let Some(rest) = rest.and_then(|rest| rest.strip_prefix("}}")) {
            return Some(at..text.len() - rest.len());
        }
        from = at + 1;
    }
    None
}

/// Replaces the first `{{original}}` with a text and removes the others.
fn with_original(text: &str, original: &str) -> String {
    let mut result = String::with_capacity(text.len() + original.len());
    let (mut rest, mut original) = (text, Some(original));
    while let Some(call) = find_original(rest) {
        result.push_str(rest.get(..call.start).unwrap_or_default());
        result.push_str(original.take().unwrap_or_default());
        rest = rest.get(call.end..).unwrap_or_default();
    }
    result + rest
}
