use std::borrow::Cow;

use ctx_macros::{Dialect, Expansion, Registry, Template};
use ctx_regex::{Match, Replacement};
use ctx_types::{Source, Text};

use super::form::Form;

#[derive(Clone, Debug)]
pub(super) struct Replace {
    replacement: Replacement,
    macros: Macros,
}

#[derive(Clone, Debug)]
enum Macros {
    None,
    /// Compiled once: the text has no groups.
    Compiled(Box<Template>),
    /// Groups are inserted first, and can be macro arguments.
    Around {
        dialect: Dialect,
        registry: Box<Registry>,
    },
}

pub(super) type Expand<'a> = dyn FnMut(&Template, &Source) -> Expansion + 'a;

impl Replace {
    /// Also returns the template, for its diagnostics.
    pub(super) fn read(text: &str, form: Form, dialect: Dialect, registry: &Registry) -> (Self, Template) {
        let replacement = form.replacement(text);
        let macros = form.match_macro().map_or(Cow::Borrowed(text), |name| without_match(text, name));
        let template = Template::parse(&Text::from(&*macros), dialect, registry);
        let macros = match replacement.as_literal() {
            _ if template.is_plain() => Macros::None,
            Some(literal) => {
                Macros::Compiled(Box::new(Template::parse(&Text::from(literal), dialect, registry)))
            }
            None => Macros::Around { dialect, registry: Box::new(registry.clone()) },
        };
        (Self { replacement, macros }, template)
    }

    pub(super) fn has_macros(&self) -> bool {
        !matches!(self.macros, Macros::None)
    }

    /// Appends the replacement of a match; `trims` are removed from groups.
    ///
    /// Matched text is data: its macros are not expanded.
    pub(super) fn append(
        &self,
        found: &Match<'_>,
        trims: &[Text],
        expand: &mut dyn FnMut(&Template) -> Text,
        out: &mut String,
    ) {
        match &self.macros {
            Macros::None => self.replacement.expand(found, out, &mut |text, is_group, out| {
                out.push_str(&if is_group { trim_all(text, trims) } else { Cow::Borrowed(text) });
            }),
            Macros::Compiled(template) => out.push_str(&expand(template)),
            Macros::Around { dialect, registry } => {
                let mut text = String::new();
                self.replacement.expand(found, &mut text, &mut |text, is_group, out| {
                    protect(&if is_group { trim_all(text, trims) } else { Cow::Borrowed(text) }, out);
                });
                let template = Template::parse(&Text::from(text), *dialect, registry);
                unprotect(&expand(&template), out);
            }
        }
    }
}

/// Removes `{{name}}` in any case. O(text).
fn without_match<'a>(text: &'a str, name: &str) -> Cow<'a, str> {
    let length = name.len() + 4;
    let is_match = |at: usize| {
        let inner = text.get(at..at + length).and_then(|found| found.strip_prefix("{{")?.strip_suffix("}}"));
        inner.is_some_and(|inner| inner.eq_ignore_ascii_case(name))
    };
    let mut kept = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices('{') {
        if at >= from && is_match(at) {
            kept.push_str(text.get(from..at).unwrap_or_default());
            from = at + length;
        }
    }
    match from {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(kept + text.get(from..).unwrap_or_default()),
    }
}

fn trim_all<'a>(text: &'a str, trims: &[Text]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for trim in trims.iter().filter(|trim| !trim.is_empty()) {
        if text.contains(trim.as_str()) {
            text = Cow::Owned(text.replace(trim.as_str(), ""));
        }
    }
    text
}

/// Characters of the macro syntax. Each is replaced with a noncharacter code point.
const SPECIAL: [char; 4] = ['{', '}', '<', '\\'];
const FIRST_STAND_IN: u32 = 0xFDD0;
/// Escapes these code points in the original text; a digit follows.
const ESCAPE: char = '\u{FDD4}';

/// Appends a text in which no macro can be parsed.
fn protect(text: &str, out: &mut String) {
    for c in text.chars() {
        if let Some(index) = (0..).zip(SPECIAL).find_map(|(index, special)| (special == c).then_some(index)) {
            out.extend(char::from_u32(FIRST_STAND_IN + index));
        } else if ('\u{FDD0}'..=ESCAPE).contains(&c) {
            out.push(ESCAPE);
            out.extend(char::from_digit(u32::from(c) - FIRST_STAND_IN, 10));
        } else {
            out.push(c);
        }
    }
}

/// Reverses [`protect`].
fn unprotect(text: &str, out: &mut String) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let index = u32::from(c).wrapping_sub(FIRST_STAND_IN);
        let special = usize::try_from(index).ok().and_then(|index| SPECIAL.get(index));
        let own = chars.peek().filter(|_| c == ESCAPE).and_then(|digit| digit.to_digit(5));
        match (special, own) {
            (Some(special), _) => out.push(*special),
            (None, Some(digit)) => {
                chars.next();
                out.extend(char::from_u32(FIRST_STAND_IN + digit));
            }
            (None, None) => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restores_protected_texts() {
        for text in ["", "a{{b}}<USER>\\{", "\u{FDD0}\u{FDD3}\u{FDD4}0{", "中\u{FDD5}"] {
            let mut protected = String::new();
            protect(text, &mut protected);
            assert!(!protected.contains(SPECIAL), "{text}");
            let mut back = String::new();
            unprotect(&protected, &mut back);
            assert_eq!(back, text);
        }
    }

    #[test]
    fn removes_only_match_placeholder() {
        assert_eq!(without_match("a{{match}}b{{Match}}{{user}}中", "match"), "ab{{user}}中");
        assert_eq!(without_match("{{{match}}}{{match}}", "match"), "{}");
        assert_eq!(without_match("中文", "match"), "中文");
    }
}
