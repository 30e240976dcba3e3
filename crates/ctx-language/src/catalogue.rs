//! Translations of one language, looked up by the English text.
//!
//! Files consist of pairs of lines, English above the translation, separated by blank lines; `#` starts a
//! comment. Sections: `[templates]` (with equal placeholders in both lines), `[words]`, `[originals]` (templates of
//! error messages of other programs), `[codes]` (`CODE: title` above the fix), `[causes]` (code above its cause).

use std::borrow::Cow;
use std::collections::BTreeMap;

use ctx_types::Phrase;
use ctx_types::internal::{Argument, Divider, PhrasePart};

use crate::CodeText;

/// Longest error message of another program that is matched with templates.
const MAX_ORIGINAL_BYTES: usize = 500;

/// Maximum nesting of messages of other programs that is translated.
const MAX_ORIGINAL_DEPTH: usize = 3;

/// Texts of one language. A host can layer its own catalogue above the libraries'.
#[derive(Debug, Default)]
pub struct Catalogue {
    templates: BTreeMap<&'static str, &'static str>,
    words: BTreeMap<&'static str, &'static str>,
    /// Templates of error messages of other programs.
    originals: Vec<(&'static str, &'static str)>,
    /// Titles and fixes by code.
    codes: BTreeMap<&'static str, CodeText>,
    causes: BTreeMap<&'static str, &'static str>,
    /// Fallback catalogue.
    below: Option<&'static Self>,
}

impl Catalogue {
    /// Parses catalogue files; skips unknown sections. O(bytes · log texts).
    pub fn read(files: &[&'static str]) -> Self {
        let mut catalogue = Self::default();
        for (section, english, other) in files.iter().flat_map(|file| entries(file)) {
            match section {
                "templates" => drop(catalogue.templates.insert(english, other)),
                "words" => drop(catalogue.words.insert(english, other)),
                "originals" => catalogue.originals.push((english, other)),
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

    /// Sets the catalogue for texts that this one lacks.
    #[must_use]
    pub const fn with_fallback(mut self, below: &'static Self) -> Self {
        self.below = Some(below);
        self
    }

    /// Translates a phrase and its phrase arguments; untranslated parts stay in English.
    pub fn say(&self, phrase: &Phrase) -> String {
        if phrase.is_original()
            && let Some(text) = self.original(&phrase.to_string(), MAX_ORIGINAL_DEPTH)
        {
            return text;
        }
        let own = phrase.template();
        let word = || phrase.arguments().is_empty().then(|| self.word(own)).flatten();
        let Some(template) = self.template(own).or_else(word) else { return phrase.to_string() };
        phrase.parts(template).fold(String::new(), |text, part| {
            let part = match part {
                PhrasePart::Literal(literal) => Cow::Borrowed(literal),
                PhrasePart::Argument(argument) => self.argument(argument),
            };
            append_spaced(text, &part)
        })
    }

    fn template(&self, template: &str) -> Option<&'static str> {
        self.find_in_layers(|own| own.templates.get(template).copied())
    }

    /// Returns the translation of a fixed text.
    pub fn word(&self, english: &str) -> Option<&'static str> {
        self.find_in_layers(|own| own.words.get(english).copied())
    }

    pub(crate) fn code(&self, code: &str) -> Option<CodeText> {
        self.find_in_layers(|own| own.codes.get(code).copied())
    }

    pub(crate) fn cause(&self, code: &str) -> Option<&'static str> {
        self.find_in_layers(|own| own.causes.get(code).copied())
    }

    /// Translates a message of another program or a saved message, and its parts if they are known too.
    fn original(&self, text: &str, depth: usize) -> Option<String> {
        if let Some(known) = self.word(text).or_else(|| self.template(text)) {
            return Some(known.to_owned());
        }
        if depth == 0 || text.len() > MAX_ORIGINAL_BYTES {
            return None;
        }
        self.find_in_layers(|own| {
            own.originals.iter().find_map(|(english, other)| {
                let values = match_template(english, text)?;
                // A message within a message must have a translation. Otherwise, the sentence would mix two
                // languages.
                let filled = values.into_iter().map(|(name, value)| {
                    // Users name keys, files and flags, sometimes with a word of the catalogue.
                    let is_name = matches!(name, "path" | "name" | "file" | "flag");
                    let translated = (!is_name).then(|| self.original(value, depth - 1)).flatten();
                    let is_quoted = value.len() > 1 && value.starts_with('`') && value.ends_with('`');
                    let is_free = match name {
                        "message" | "thing" | "reason" | "found" => is_quoted,
                        // A path has no spaces.
                        "path" => !value.contains(' '),
                        _ => true,
                    };
                    Some((name, translated.or_else(|| is_free.then(|| value.to_owned()))?))
                });
                let filled: Vec<(&str, String)> = filled.collect::<Option<_>>()?;
                Some(fill_template(other, &filled))
            })
        })
    }

    fn find_in_layers<T>(&self, find: impl Fn(&Self) -> Option<T>) -> Option<T> {
        find(self).or_else(|| find(self.below?))
    }

    /// Translates only phrases: other text may come from a user.
    fn argument<'a>(&'a self, argument: &'a Argument) -> Cow<'a, str> {
        match argument {
            Argument::Phrase(phrase) => Cow::Owned(self.say(phrase)),
            Argument::Text(text) => Cow::Borrowed(text),
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
        let items: Vec<Cow<'_, str>> = items.iter().map(|item| self.argument(item)).collect();
        match items.split_last() {
            Some((end, rest)) if !rest.is_empty() => {
                append_spaced(append_spaced(rest.join(between), last), end)
            }
            _ => items.concat(),
        }
    }
}

/// Returns the values of the placeholders if the template matches the whole text. Each value is as short as possible.
fn match_template<'a>(template: &'static str, text: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (prefix, holes) = template.split_once('{')?;
    let mut rest = text.strip_prefix(prefix)?;
    let mut values = Vec::new();
    for hole in holes.split('{') {
        let (name, literal) = hole.split_once('}')?;
        let end = if literal.is_empty() { rest.len() } else { rest.find(literal)? };
        values.push((name, &rest[..end]));
        rest = &rest[end + literal.len()..];
    }
    rest.is_empty().then_some(values)
}

fn fill_template(template: &str, values: &[(&str, String)]) -> String {
    let mut holes = template.split('{');
    let prefix = holes.next().unwrap_or_default().to_owned();
    holes.fold(prefix, |text, hole| {
        let (name, literal) = hole.split_once('}').unwrap_or((hole, ""));
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        append_spaced(append_spaced(text, value), literal)
    })
}

/// Section, English text, and translation.
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

/// Appends a text. Outside backticks, puts a space between Chinese and other letters, but not between Chinese
/// letters, or between a Chinese bracket and a letter.
fn append_spaced(mut text: String, mut behind: &str) -> String {
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let is_other = |c: char| c == '`' || c.is_ascii_alphanumeric();
    let is_within = text.bytes().filter(|byte| *byte == b'`').count() % 2 == 1;
    let is_end = |c: char| is_chinese(c) || matches!(c, '）' | '」' | '》');
    let ends = |text: &str| text.trim_end_matches(' ').chars().next_back().is_some_and(is_end);
    let (bare, after) = (text.trim_end_matches(' ').len(), behind.trim_start_matches(' '));
    let has_blank = bare < text.len() || after.len() < behind.len();
    if has_blank && !is_within && ends(&text) && after.starts_with(is_chinese) {
        text.truncate(bare);
        behind = after;
    }
    if let (false, Some(last), Some(first)) = (is_within, text.chars().next_back(), behind.chars().next())
        && (is_chinese(last) && is_other(first) || is_other(last) && is_chinese(first))
    {
        text.push(' ');
    }
    text + behind
}

#[cfg(test)]
mod tests {
    use ctx_types::internal::ToArgument as _;
    use ctx_types::phrase;

    use super::*;

    const OWN: &str = "# What a host says.\n\n[templates]\n{count} things\n{count} 个东西\n\n\
                       [words]\nmine\n我的\n";

    #[track_caller]
    fn check(phrase: &Phrase, expected: &str) {
        let own = Catalogue::read(&[OWN]);
        let own = match crate::Language::Zh.catalogue() {
            Some(below) => own.with_fallback(below),
            None => own,
        };
        assert_eq!(own.say(phrase), expected);
    }

    #[test]
    fn translates_phrases_of_host_and_libraries() {
        check(&phrase!("{count} things", count = 2), "2 个东西");
        check(&phrase!("the preset has no anchor `{name}`", name = "mine"), "预设没有锚点 `mine`");
        check(&phrase!("nobody translated {what}", what = "mine"), "nobody translated mine");
    }

    #[test]
    fn translates_phrases_and_no_texts() {
        let found =
            |found| phrase!("expected {expected}, found {found}", expected = Phrase::from("mine"), found);
        check(&found(phrase!("the string `{text}`", text = "mine")), "应为我的，实为字符串 `mine`");
        check(&found(Phrase::verbatim("mine")), "应为我的，实为 mine");
        check(&phrase!("one of {names}", names = Argument::list(["mine"], Divider::Or)), "mine 之一");
    }

    #[test]
    fn keeps_catalogue_words_typed_by_user() {
        let chinese = crate::Language::Zh.catalogue().unwrap();
        let templates: Vec<&'static str> =
            chinese.templates.keys().copied().filter(|known| *known != "{original}").collect();
        let names = |template: &'static str| -> Vec<&'static str> {
            let names = template.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
            names.filter(|name| !name.is_empty()).collect()
        };
        for word in chinese.words.keys().filter(|word| !word.contains(['{', '}'])) {
            assert_eq!(chinese.say(&Phrase::verbatim(*word)), *word);
            let template = templates[word.len() % templates.len()];
            let fill = |text: &str| {
                let arguments = names(template).into_iter().map(|name| (name, text.to_argument()));
                chinese.say(&Phrase::new(template, arguments.collect()))
            };
            let marked = fill("\u{1}");
            let plain = |text: &str| text.replace(' ', "");
            assert_eq!(plain(&fill(word)), plain(&marked.replace('\u{1}', word)), "{template}: {word}");
        }
    }

    #[test]
    fn quotes_unknown_messages_of_other_programs() {
        let invalid = |message: &str| phrase!("invalid JSON: {message}", message = Phrase::original(message));
        check(&invalid("trailing comma"), "JSON 无效：多余的逗号");
        check(&invalid("some new message"), "JSON 无效：原文为“some new message”");
        check(&invalid("a.b[0]: some new message"), "JSON 无效：原文为“a.b[0]: some new message”");
        check(&invalid("no path: trailing comma"), "JSON 无效：原文为“no path: trailing comma”");
        let nested = "presetMessages[0].content: invalid type: map, where a key should be a string";
        let translated = "`presetMessages[0].content`：键应为字符串，实为对象";
        check(&invalid(nested), &format!("JSON 无效：{translated}"));
        for key in ["name", "model", "user", "error", "key", "preset", "conversation"] {
            let message = format!("{key}: invalid type: map, where a key should be a string");
            check(&invalid(&message), &format!("JSON 无效：`{key}`：键应为字符串，实为对象"));
        }
        check(&invalid("unknown flag key"), "JSON 无效：未知标志 key");
        for (message, translated) in [
            (
                "found character that cannot start any token, while scanning for the next token",
                "查找下一个标记时，遇到不能作为标记开头的字符",
            ),
            (
                "did not find expected '-' indicator, while parsing a block collection at line 2 column 3",
                "解析列表（第 2 行第 3 列）时，缺少 `-`",
            ),
            (
                "did not find expected ',' or ']', while parsing a flow sequence at line 2 column 3",
                "解析 `[ ]` 列表（第 2 行第 3 列）时，缺少 `,` 或 `]`",
            ),
            (
                "found unexpected end of stream, while scanning a quoted scalar at line 1 column 4",
                "扫描带引号的文本（第 1 行第 4 列）时，文件过早结束",
            ),
            ("property of strings at byte 2 is not supported", "字节 2 处的字符串属性不受支持"),
            ("unclosed table, expected `]`", "表未结束，应为 `]`"),
            ("key with no value, expected `=`", "键没有值，应为 `=`"),
            ("invalid basic string, expected `\"`", "字符串无效，应为 `\"`"),
            (
                "too few unicode value digits, expected unicode hexadecimal value",
                r"转义 `\u` 后的十六进制位数不足，应为十六进制数",
            ),
            ("string values must be quoted, expected basic string", "字符串值必须加引号，应为带引号的字符串"),
            ("unexpected key or value, expected nothing", "多余的键或值"),
            ("invalid date, expected a two-digit day (DD)", "日期无效，应为两位日期"),
        ] {
            check(&invalid(message), &format!("JSON 无效：{translated}"));
        }
        check(&invalid("invalid pattern at byte 4: unterminated group"), "JSON 无效：分组未结束（字节 4）");
    }

    #[test]
    fn puts_no_blank_between_chinese_words() {
        let texts = |parts: &[&str]| parts.iter().fold(String::new(), |text, part| append_spaced(text, part));
        assert_eq!(texts(&["小林", " 的内容"]), "小林的内容");
        assert_eq!(texts(&["在 ", "消息", " 中"]), "在消息中");
        assert_eq!(texts(&["在 ", "n1", " 中"]), "在 n1 中");
        assert_eq!(texts(&["`小", " 林`"]), "`小 林`");
        assert_eq!(texts(&["`a`（缺少时间）", " 或 ", "`b`"]), "`a`（缺少时间）或 `b`");
        let words = Argument::list([phrase!("a list"), Phrase::from("null")], Divider::And);
        check(&phrase!("one of {names}", names = words), "列表和 null 之一");
    }

    #[test]
    fn divides_lists_as_in_chinese() {
        let names = |names: &[&str], divider| {
            let names = Argument::names(names, divider);
            phrase!("one of {names}", names)
        };
        check(&names(&["a"], Divider::Or), "`a` 之一");
        check(&names(&["a", "b", "c"], Divider::Or), "`a`、`b` 或 `c` 之一");
    }
}
