//! A catalogue: the texts of one language, found by what they are in English.
//!
//! Its files are pairs of lines, English above the other language, divided by blank ones; `#` begins a comment. A
//! line such as `[templates]` begins a section: `templates` has templates of phrases, whose holes have the same names in
//! both lines; `words` has fixed texts; `codes` has `CODE: title` above the way out; `causes` has a code above its
//! cause.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ctx_types::{Argument, Divider, Phrase, PhrasePart};

use crate::CodeText;

/// The texts of one language. A host that has phrases of its own puts them above those of the libraries.
#[derive(Debug, Default)]
pub struct Catalogue {
    templates: BTreeMap<&'static str, &'static str>,
    words: BTreeMap<&'static str, &'static str>,
    /// Titles and ways out, by codes.
    codes: BTreeMap<&'static str, CodeText>,
    causes: BTreeMap<&'static str, &'static str>,
    /// Where is looked for what is not here.
    below: Option<&'static Self>,
}

impl Catalogue {
    /// Reads the files of a catalogue; a section that is not known is left out. O(bytes · log texts).
    pub fn read(files: &[&'static str]) -> Self {
        let mut catalogue = Self::default();
        for (section, english, other) in files.iter().flat_map(|file| entries(file)) {
            match section {
                "templates" => drop(catalogue.templates.insert(english, other)),
                "words" => drop(catalogue.words.insert(english, other)),
                "causes" => drop(catalogue.causes.insert(english, other)),
                "codes" => {
                    let named = english.split_once(": ");
                    let text = named.map(|(code, title)| (code, CodeText { title, way_out: other }));
                    catalogue.codes.extend(text);
                }
                _ => {}
            }
        }
        catalogue
    }

    /// Puts the catalogue above another, which has what this one has not.
    #[must_use]
    pub const fn above(mut self, below: &'static Self) -> Self {
        self.below = Some(below);
        self
    }

    /// Writes a phrase by its template, and what stands in it by theirs; in English where there is no translation.
    pub fn say(&self, phrase: &Phrase) -> String {
        if phrase.is_verbatim() {
            let text = phrase.to_string();
            return self.word(&text).map_or(text, str::to_owned);
        }
        if phrase.is_original()
            && let Some(word) = self.word(&phrase.to_string())
        {
            return word.to_owned();
        }
        let Some(template) = self.template(phrase.template()) else { return phrase.to_string() };
        let (mut text, mut quote) = (String::new(), Quote::default());
        for part in phrase.parts(template) {
            let part = match part {
                PhrasePart::Literal(literal) => {
                    quote.read(literal);
                    Cow::Borrowed(literal)
                }
                PhrasePart::Argument(argument) => self.argument(argument, quote.is_open),
            };
            text = spaced(text, &part);
        }
        text
    }

    /// Returns the translation of a template, with the same holes.
    pub fn template(&self, template: &str) -> Option<&'static str> {
        self.found(|own| own.templates.get(template).copied())
    }

    /// Returns the translation of a fixed text.
    pub fn word(&self, english: &str) -> Option<&'static str> {
        self.found(|own| own.words.get(english).copied())
    }

    /// Returns the title and the way out of a code.
    pub fn code(&self, code: &str) -> Option<CodeText> {
        self.found(|own| own.codes.get(code).copied())
    }

    /// Returns what causes the findings of a code.
    pub fn cause(&self, code: &str) -> Option<&'static str> {
        self.found(|own| own.causes.get(code).copied())
    }

    fn found<T>(&self, find: impl Fn(&Self) -> Option<T>) -> Option<T> {
        find(self).or_else(|| find(self.below?))
    }

    /// Writes an argument. Quoted text and the items of a list are names or values, and are not translated.
    fn argument<'a>(&'a self, argument: &'a Argument, is_quoted: bool) -> Cow<'a, str> {
        match argument {
            Argument::Phrase(phrase) => Cow::Owned(self.say(phrase)),
            Argument::Text(text) if !is_quoted => Cow::Borrowed(self.word(text).unwrap_or(text)),
            Argument::List(items, divider) => Cow::Owned(self.list(items, *divider)),
            other => Cow::Owned(other.to_string()),
        }
    }

    fn list(&self, items: &[Argument], divider: Divider) -> String {
        let (between, last) = match divider {
            Divider::Or => ("、", " 或 "),
            Divider::And => ("、", " 和 "),
            Divider::Semicolon => ("；", "；"),
            _ => ("、", "、"),
        };
        let items: Vec<Cow<'_, str>> = items.iter().map(|item| self.argument(item, true)).collect();
        match items.split_last() {
            Some((end, rest)) if !rest.is_empty() => format!("{}{last}{end}", rest.join(between)),
            _ => items.concat(),
        }
    }
}

/// State of the quotation marks of a template, up to the current place.
#[derive(Default)]
struct Quote {
    is_open: bool,
}

impl Quote {
    /// Reads a literal. An apostrophe within a word is not a quotation mark.
    fn read(&mut self, literal: &str) {
        let mut before = ' ';
        for mark in literal.chars() {
            self.is_open = match mark {
                '`' | '"' => !self.is_open,
                '“' => true,
                '”' => false,
                '\'' if !self.is_open => !before.is_alphanumeric(),
                '\'' => false,
                _ => self.is_open,
            };
            before = mark;
        }
    }
}

/// Returns the texts of a file: the section of each, the English, and the translation.
fn entries(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let mut section = "";
    file.split("\n\n").filter_map(move |block| {
        let mut lines = block.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut first = lines.next()?;
        if let Some(name) = first.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
            first = lines.next()?;
        }
        Some((section, first, lines.next()?))
    })
}

/// Puts a text behind another, with a blank where Chinese and what is none would touch outside of backticks.
pub fn spaced(mut text: String, behind: &str) -> String {
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let is_other = |c: char| c == '`' || c.is_ascii_alphanumeric();
    let is_within = text.bytes().filter(|byte| *byte == b'`').count() % 2 == 1;
    if let (false, Some(last), Some(first)) = (is_within, text.chars().next_back(), behind.chars().next())
        && (is_chinese(last) && is_other(first) || is_other(last) && is_chinese(first))
    {
        text.push(' ');
    }
    text + behind
}

#[cfg(test)]
mod tests {
    use ctx_types::{ToArgument as _, phrase};

    use super::*;

    const OWN: &str = "# What a host says.\n\n[templates]\n{count} things\n{count} 个东西\n\n\
                       `add id: {text}`\n`add id: {text}`\n\n'{text}'\n'{text}'\n\n\"a {text}\"\n\"a {text}\"\n\n\
                       “{text}”\n“{text}”\n\n`a` {text}\n`a` {text}\n\nit's {text}\nit's {text}\n\n[words]\nmine\n我的\n";

    #[track_caller]
    fn check(phrase: &Phrase, expected: &str) {
        let own = Catalogue::read(&[OWN]);
        let own = match crate::Language::Zh.catalogue() {
            Some(below) => own.above(below),
            None => own,
        };
        assert_eq!(own.say(phrase), expected);
    }

    #[test]
    fn a_host_says_its_own_phrases_and_those_of_libraries() {
        check(&phrase!("{count} things", count = 2), "2 个东西");
        check(&phrase!("unknown anchor `{name}`", name = "mine"), "未知的锚点 `mine`");
        check(&phrase!("nobody translated {what}", what = "mine"), "nobody translated mine");
    }

    #[test]
    fn what_is_quoted_is_a_name_and_what_is_not_may_be_a_word() {
        let found = |found| phrase!("expected {expected}, found {found}", expected = "mine", found);
        check(&found(phrase!("the text `{text}`", text = "mine")), "应为我的，实为文本 `mine`");
        check(&found(Phrase::verbatim("mine")), "应为我的，实为我的");
    }

    #[test]
    fn translates_no_quoted_text() {
        let typed = |template| Phrase::new(template, vec![("text", "mine".to_argument())]);
        for template in ["`add id: {text}`", "'{text}'", "\"a {text}\"", "“{text}”"] {
            check(&typed(template), &template.replace("{text}", "mine"));
        }
        check(&typed("`a` {text}"), "`a` 我的");
        check(&typed("it's {text}"), "it's 我的");
        let values = Argument::list(["mine"], Divider::Or);
        check(&phrase!("one of {names}", names = values), "mine 之一");
    }

    #[test]
    fn quotes_unknown_messages_of_other_programs() {
        let invalid = |message| phrase!("invalid JSON: {message}", message = Phrase::original(message));
        check(&invalid("trailing comma"), "JSON 无效：多余的逗号");
        check(&invalid("some new message"), "JSON 无效：原文为“some new message”");
    }

    #[test]
    fn lists_are_divided_as_in_chinese() {
        let names = |names: &[&str], divider| {
            let names = Argument::names(names, divider);
            phrase!("one of {names}", names)
        };
        check(&names(&["a"], Divider::Or), "`a` 之一");
        check(&names(&["a", "b", "c"], Divider::Or), "`a`、`b` 或 `c` 之一");
    }
}
