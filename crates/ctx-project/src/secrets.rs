//! Redacts secrets in the text of a `ctx.toml`: headers, unknown endpoint keys, and secrets in URLs.

use std::ops::Range;

use ctx_chat::{redact_text, text_secrets, url_secrets};
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::{KeyRow, KeyRule, Reach, Secrecy, ValueType, find, rule_of};

/// Replaces possible secrets with asterisks. Keeps the length of the text and the positions of quotes.
///
/// In invalid TOML, works line by line. A line that is not a complete setting hides all lines below it, because they
/// may belong to a value on several lines.
pub fn covered(text: &str) -> String {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut secrets = Secrets { text: body, hidden: Vec::new(), values: Vec::new() };
    match DeTable::parse(body) {
        Ok(table) => {
            secrets.add_table(table.get_ref(), 0, Region::Top);
            let values = secrets.values.iter().map(|range| Replacement { range: range.clone(), by: '0' });
            let lines = replace(body, &values.collect::<Vec<_>>());
            secrets.add_lines(&lines, Syntax::Valid);
        }
        Err(_) => secrets.add_lines(body, Syntax::Invalid),
    }
    let mark = &text[..text.len() - body.len()];
    mark.to_owned() + &replace(body, &secrets.hidden)
}

/// Redacts URLs in the texts of a value.
pub(crate) fn redact_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(redact_text(text)),
        Value::Array(items) => items.iter().map(redact_value).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, member)| (key.clone(), redact_value(member))).collect()
        }
        value => value.clone(),
    }
}

/// Replaces each byte of a text that has a replacement.
fn replace(text: &str, replacements: &[Replacement]) -> String {
    let mut shown: Vec<Option<char>> = vec![None; text.len()];
    for replacement in replacements {
        shown[replacement.range.clone()].fill(Some(replacement.by));
    }
    let mut replaced = String::with_capacity(text.len());
    for (begin, character) in text.char_indices() {
        let end = begin + character.len_utf8();
        match shown[begin] {
            Some(STAR) if "\r\n".contains(character) => replaced.push(character),
            Some(_) => replaced.extend(shown[begin..end].iter().flatten()),
            None => replaced.push(character),
        }
    }
    replaced
}

/// Replacement of a secret.
const STAR: char = '*';

/// A range whose bytes are replaced by a character.
struct Replacement {
    range: Range<usize>,
    by: char,
}

/// Rules for the values in a table.
#[derive(Clone, Copy)]
enum Region {
    /// Top level of the file.
    Top,
    /// Table of an endpoint.
    Endpoint(&'static [KeyRow]),
    /// Other table with known keys.
    Table(&'static [KeyRow]),
    /// Value of a known key in such a table.
    Value(KeyRule),
    /// Values of unknown keys, which may be secrets.
    Hidden,
    /// Value of a known key that is a path or a list of paths.
    Path,
    /// Values of other known keys.
    Shown,
}

impl Region {
    fn below(self, key: &str) -> Self {
        match self {
            Self::Top => match rule_of(key) {
                Some(rule) if rule.hides_unknown() => Self::Endpoint(rule.rows()),
                Some(rule) if !rule.rows().is_empty() => Self::Table(rule.rows()),
                Some(rule) => Self::of_known(rule),
                None => Self::Hidden,
            },
            Self::Endpoint(rows) => find(rows, key).map_or(Self::Hidden, Self::Value),
            Self::Table(rows) => find(rows, key).map_or(Self::Hidden, Self::of_known),
            // A known key of an endpoint and a path are not tables.
            Self::Value(_) | Self::Hidden | Self::Path => Self::Hidden,
            Self::Shown if names_secret(key) => Self::Hidden,
            Self::Shown => self,
        }
    }

    fn of_known(rule: KeyRule) -> Self {
        if let ValueType::Path = rule.value_type { Self::Path } else { Self::Shown }
    }

    /// Returns the region of a list's items.
    fn items(self) -> Self {
        if let Self::Value(_) = self { Self::Hidden } else { self }
    }

    /// Returns the redaction of a value that is not a table or list.
    fn secrecy(self, is_text: bool) -> Secrecy {
        match self {
            Self::Top | Self::Path | Self::Shown => Secrecy::Shown,
            Self::Endpoint(_) | Self::Table(_) | Self::Hidden => Secrecy::Hidden,
            // A number may be an API key in the wrong place.
            Self::Value(rule) if rule.reach == Reach::Secret && !is_text => Secrecy::Hidden,
            Self::Value(rule) => rule.secrecy,
        }
    }

    /// Returns the region of the table under a header.
    fn of_header(header: &DeTable<'_>) -> Self {
        let (mut region, mut table) = (Self::Top, Some(header));
        while let Some((key, value)) = table.and_then(|table| table.iter().next()) {
            region = region.below(key.get_ref());
            table = match value.get_ref() {
                DeValue::Array(items) => items.iter().next().and_then(|item| item.get_ref().as_table()),
                value => value.as_table(),
            };
        }
        region
    }

    /// Returns whether a line is shown that begins a setting and does not complete it.
    fn shows_incomplete(self, line: &str) -> bool {
        let key = line.split_once('=').map_or("", |(key, _)| key).trim();
        let is_bare = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
        !line.contains('\\')
            && key.chars().all(is_bare)
            && matches!(self.below(key), Self::Path | Self::Shown)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Valid,
    Invalid,
}

/// Possible secrets in a text.
struct Secrets<'t> {
    text: &'t str,
    hidden: Vec<Replacement>,
    /// Ranges of all values that are not tables or lists.
    values: Vec<Range<usize>>,
}

impl Secrets<'_> {
    /// Adds the secrets of a table that was parsed from the text at `begin`.
    fn add_table(&mut self, table: &DeTable<'_>, begin: usize, region: Region) {
        for (key, value) in table {
            self.add_value(value, begin, region.below(key.get_ref()));
        }
    }

    fn add_value(&mut self, value: &Spanned<DeValue<'_>>, begin: usize, region: Region) {
        let span = begin + value.span().start..begin + value.span().end;
        match value.get_ref() {
            DeValue::Table(table) => self.add_table(table, begin, region),
            DeValue::Array(items) => {
                items.iter().for_each(|item| self.add_value(item, begin, region.items()));
            }
            DeValue::String(text) => {
                let inner = inside_quotes(self.text, span.clone());
                let whole = 0..text.len();
                let secrets = match region.secrecy(true) {
                    Secrecy::Shown => text_secrets(text),
                    Secrecy::Url => url_secrets(text),
                    Secrecy::Hidden => vec![whole],
                };
                if self.text[inner.clone()] == **text {
                    self.add_at(inner.start, secrets);
                } else if !secrets.is_empty() {
                    // Escapes move the positions.
                    self.hide(inner);
                }
                self.values.push(span);
            }
            _ => {
                if region.secrecy(false) == Secrecy::Hidden {
                    self.hide_as_text(span.clone());
                }
                self.values.push(span);
            }
        }
    }

    fn add_at(&mut self, begin: usize, secrets: Vec<Range<usize>>) {
        for secret in secrets {
            self.hide(begin + secret.start..begin + secret.end);
        }
    }

    fn hide(&mut self, range: Range<usize>) {
        self.hidden.push(Replacement { range, by: STAR });
    }

    /// Hides a value without quotes. The redacted text is valid TOML, which diagnostics need to find positions in it.
    fn hide_as_text(&mut self, range: Range<usize>) {
        // A single digit is not a secret.
        if range.len() > 1 {
            let quotes = [range.start..range.start + 1, range.end - 1..range.end];
            self.hide(range);
            self.hidden.extend(quotes.map(|range| Replacement { range, by: '"' }));
        }
    }

    /// Adds the secrets of each line: URLs, settings in comments, and in invalid TOML all settings.
    ///
    /// The lines of valid TOML have placeholders instead of values, whose secrets are already known.
    fn add_lines(&mut self, lines: &str, syntax: Syntax) {
        // The table of a line, and the table of a setting in a comment.
        let (mut region, mut commented) = (Region::Top, Region::Top);
        let (mut end, mut is_open) = (0, false);
        for line in lines.split_inclusive('\n') {
            let begin = end + line.len() - line.trim_start().len();
            end += line.len();
            let line = line.trim();
            let all = begin..begin + line.len();
            if is_open {
                self.hide(all);
                continue;
            }
            self.add_at(begin, text_secrets(line));
            self.add_at(begin, random_words(line));
            let comment = line.strip_prefix('#').map(|text| text.trim_start_matches(['#', ' ', '\t']));
            let setting = comment.unwrap_or(line);
            let begin = all.end - setting.len();
            if comment.is_none()
                && let Some((_, rest)) = line.split_once('#')
            {
                let begin = all.end - rest.len();
                match DeTable::parse(rest) {
                    // In invalid TOML, the mark may be part of a value.
                    _ if syntax == Syntax::Invalid => self.hide(begin..all.end),
                    Ok(table) => self.add_table(table.get_ref(), begin, region),
                    Err(_) => {}
                }
            }
            match DeTable::parse(setting) {
                Ok(header) if setting.starts_with('[') => {
                    commented = Region::of_header(header.get_ref());
                    if comment.is_none() {
                        region = commented;
                    }
                }
                Ok(table) if comment.is_some() => self.add_table(table.get_ref(), begin, commented),
                Ok(table) if syntax == Syntax::Invalid => self.add_table(table.get_ref(), begin, region),
                Err(_) if comment.is_none() && syntax == Syntax::Invalid => {
                    is_open = true;
                    if !region.shows_incomplete(setting) {
                        self.hide(all);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns whether a key below a known key may name a secret.
fn names_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    // `tokenThreshold` and `maxTokens` are settings.
    key.ends_with("token")
        || ["api-key", "apikey", "api_key", "secret", "password", "authorization"]
            .iter()
            .any(|word| key.contains(word))
}

/// Returns the ranges of words in a line that look like a key: at least 16 letters and digits of both kinds.
fn random_words(line: &str) -> Vec<Range<usize>> {
    let (mut words, mut end) = (Vec::new(), 0);
    let is_between = |c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c));
    for word in line.split_inclusive(is_between) {
        let begin = end;
        end += word.len();
        let word = word.trim_end_matches(is_between);
        let has = |is_kind: fn(&u8) -> bool| word.as_bytes().iter().any(is_kind);
        if word.len() >= 16 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) {
            words.push(begin..begin + word.len());
        }
    }
    words
}

/// Returns the range of a string without its quotes.
fn inside_quotes(text: &str, span: Range<usize>) -> Range<usize> {
    let raw = &text[span.clone()];
    let is_around =
        |quotes: &&str| raw.len() >= 2 * quotes.len() && raw.starts_with(*quotes) && raw.ends_with(*quotes);
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(is_around).map_or(0, str::len);
    span.start + quotes..span.end - quotes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(covered(text), expected);
        assert_eq!(covered(text).len(), text.len());
        let marked = format!("\u{feff}{text}");
        assert_eq!(covered(&marked), format!("\u{feff}{expected}"));
    }

    #[test]
    fn hides_values_of_unknown_keys_and_headers() {
        check("[endpoint]\nkey = \"sk-1\" # x\n", "[endpoint]\nkey = \"****\" # x\n");
        check(
            "[ endpoint . headers ] # ours\nx-team = 'ab\\'\n",
            "[ endpoint . headers ] # ours\nx-team = '***'\n",
        );
        check(
            "[transcription]\nheaders = { a = \"b\\\"c\" }\n",
            "[transcription]\nheaders = { a = \"****\" }\n",
        );
        check("endpoint.headers.a = 'é'", "endpoint.headers.a = '**'");
        check(
            "[endpoint]\nkey = 12\nother = 1.5\nlast = true\nshort = 5\n",
            "[endpoint]\nkey = \"\"\nother = \"*\"\nlast = \"**\"\nshort = 5\n",
        );
        check("[endpoint]\nkey-env = 12\nretries = 2\n", "[endpoint]\nkey-env = \"\"\nretries = 2\n");
        check("endpoint = 'sk'\nfallbacks = ['sk']\n", "endpoint = '**'\nfallbacks = ['**']\n");
    }

    #[test]
    fn hides_values_on_several_lines() {
        check(
            "[endpoint]\nheaders = [\n  \"a\",\n  [\"b\"],\n]\n",
            "[endpoint]\nheaders = [\n  \"*\",\n  [\"*\"],\n]\n",
        );
        check("[endpoint]\nkey = \"\"\"\nsk-1\"\"\"\n", "[endpoint]\nkey = \"\"\"\n****\"\"\"\n");
        check(
            "x = \"\"\"\n[tools]\n\"\"\"\n[endpoint]\nkey = 'a'\n",
            "x = \"\"\"\n*******\n\"\"\"\n[endpoint]\nkey = '*'\n",
        );
    }

    #[test]
    fn hides_lines_after_incomplete_setting() {
        check("[endpoint]\nkey = \"sk-1\nmodel = 'm'\n", "[endpoint]\n***********\n***********\n");
        check("[endpoint]\nkey = sk-1\n", "[endpoint]\n**********\n");
        check("[endpoint]\nkey \"sk-1\"\n", "[endpoint]\n**********\n");
        check("endpoint.key = sk-1\n", "*******************\n");
        check("agent = ]\n[endpoint]\n", "agent = ]\n**********\n");
        check("[endpiont]\nkey = sk-1\n", "[endpiont]\n**********\n");
    }

    #[test]
    fn reads_names_as_toml_does() {
        check("[\"end\\u0070oint\"]\nkey = 'a'\n", "[\"end\\u0070oint\"]\nkey = '*'\n");
        check("endpoint = { model = 'm', key = 'a' }\n", "endpoint = { model = 'm', key = '*' }\n");
        check("[[endpoint.more]]\nname = 'a'\n", "[[endpoint.more]]\nname = '*'\n");
    }

    #[test]
    fn hides_passwords_and_parameters_of_urls() {
        check("[endpoint]\nbase-url = 'http://a:b@h'\n", "[endpoint]\nbase-url = 'http://***@h'\n");
        check("[endpoint]\nbase-url = 'a:b@h'\n", "[endpoint]\nbase-url = '***@h'\n");
        check("store = 'postgres://a:é@h?k=v' # x\n", "store = 'postgres://****@h?k=*' # x\n");
        check("store = 's.db' # http://a:b@h\n", "store = 's.db' # http://***@h\n");
        check("[endpoint]\nbase-url = 'http://h/v1'\n", "[endpoint]\nbase-url = 'http://h/v1'\n");
    }

    #[test]
    fn covers_fallbacks_as_endpoint() {
        check(
            "[[fallbacks]]\nbase-url = 'http://h'\nkey = 'sk'\n",
            "[[fallbacks]]\nbase-url = 'http://h'\nkey = '**'\n",
        );
        check("[fallbacks.headers]\na = 'sk'\n", "[fallbacks.headers]\na = '**'\n");
        check("[[fallbacks]]\nheaders.a = 'sk'\n", "[[fallbacks]]\nheaders.a = '**'\n");
        check("fallbacks = [{ headers = { a = 'sk' } }]\n", "fallbacks = [{ headers = { a = '**' } }]\n");
        check("fallbacks = [\n  { key = 'sk' },\n]\n", "fallbacks = [\n  { key = '**' },\n]\n");
    }

    #[test]
    fn hides_settings_in_comments() {
        check("[endpoint]\n# key = 'sk'\n#model = 'm'\n", "[endpoint]\n# key = '**'\n#model = 'm'\n");
        check("# [endpoint.headers]\n# a = 'sk'\n", "# [endpoint.headers]\n# a = '**'\n");
    }

    #[test]
    fn hides_values_in_wrong_places() {
        check("api-key = 'sk'\nagent = 'a'\n", "api-key = '**'\nagent = 'a'\n");
        check("[endpiont]\nmodel = 'm'\n", "[endpiont]\nmodel = '*'\n");
        check(
            "[tools]\nfoldr = 'sk'\nallow = { tools = ['a'] }\n",
            "[tools]\nfoldr = '**'\nallow = { tools = ['a'] }\n",
        );
        check("[compression]\napi-key = 'sk'\n", "[compression]\napi-key = '**'\n");
        check("[[processors]]\napiToken = 'sk'\n", "[[processors]]\napiToken = '**'\n");
        let settings = "[compression]\ntokenThreshold = 4000\nsummaryMaxTokens = 500\n";
        check(settings, settings);
        check("[store]\npassword = 'sk'\n", "[store]\npassword = '**'\n");
        check("worldbooks = { a = 'sk' }\n", "worldbooks = { a = '**' }\n");
        check("tools = 'sk'\n", "tools = '**'\n");
        check("[endpoint]\nmodel = 'm' # key = 'sk'\n", "[endpoint]\nmodel = 'm' # key = '**'\n");
        check(
            "agent = 'a#b' # old: sk-0123456789abcdef, x\n",
            "agent = 'a#b' # old: *******************, x\n",
        );
        check("agent = 'a' # sk\nmodel =\n", "agent = 'a' #***\nmodel =\n");
    }

    #[test]
    fn shows_everything_else() {
        let plain = "store = 's.db'\n[endpoint]\nmodel = 'm'\nretries = 2\n[tools]\nfolder = 'notes'\n";
        check(plain, plain);
        let template = include_str!("../templates/ctx.toml");
        check(template, template);
    }

    /// A string of TOML.
    struct TomlString {
        string: String,
        /// Writes a part of the text as the string does.
        part: fn(&str) -> String,
    }

    /// Writes a string in a form that can represent it.
    fn written(text: &str, form: usize) -> TomlString {
        let escaped: fn(&str) -> String =
            |text| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let coded: fn(&str) -> String = |text| {
            let codes: Vec<String> = text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
            codes.concat()
        };
        let is_literal = !text.contains(['\'', '\n']);
        let (string, part) = match form {
            0 => (format!("\"{}\"", coded(text)), coded),
            1 => (format!("\"\"\"\n{}\"\"\"", escaped(text)), escaped),
            2 => (format!("\"\"\"\\\n   {}\\\n  \"\"\"", escaped(text)), escaped),
            3 if is_literal => (format!("'{text}'"), str::to_owned as fn(&str) -> String),
            4 if is_literal => (format!("'''{text}'''"), str::to_owned as fn(&str) -> String),
            5 if is_literal => (format!("'''\n{text}\n'''"), str::to_owned as fn(&str) -> String),
            _ => (format!("\"{}\"", escaped(text)), escaped),
        };
        TomlString { string, part }
    }

    proptest! {
        #[test]
        fn shows_no_secret_in_any_form(
            (first, second) in ("canary[a-z]{4,8}", "yranac[a-z]{4,8}"),
            between in prop::sample::select("x'\"`<> /\\?#@;&=%é:{}[]\n".chars().collect::<Vec<_>>()),
            place in 0_usize..8,
            table in prop::sample::select(vec!["endpoint", "transcription", "fallbacks"]),
            (form, layout, around) in (0_usize..7, 0_usize..4, 0_usize..6),
            is_marked in any::<bool>(),
        ) {
            let secret = format!("{first}{between}{second}");
            let (key, value) = match place {
                0 => ("x-key", secret.clone()),
                1 => ("headers.x-key", secret.clone()),
                2 => ("base-url", format!("https://u:{secret}@host.example/v1")),
                3 => ("base-url", format!("https://host.example/v1?a=b&key={secret}")),
                4 => ("base-url", format!("http:u:{secret}@host.example")),
                5 => ("base-url", format!("u:{secret}@host.example")),
                6 => ("store", format!("postgres://u:{secret}@host.example/db")),
                _ => ("store", format!("postgres://host.example/db?key={secret}")),
            };
            let TomlString { string, part } = written(&value, form);
            let setting = match (key, table, layout) {
                ("store", ..) => format!("store = {string}\n"),
                (_, "fallbacks", 0 | 1) => format!("[[fallbacks]]\n{key} = {string}\n"),
                (_, "fallbacks", 2) => format!("fallbacks = [\n{{ {key} = {string} }},\n]\n"),
                (_, "fallbacks", _) => format!("fallbacks = [{{ {key} = {string} }}]\n"),
                (_, _, 0) => format!("[{table}]\nmodel = 'm'\n{key} = {string}\n"),
                (_, _, 1) => format!("{table}.{key} = {string}\n"),
                (_, _, 2) => format!("\"{table}\" = {{ {key} = {string} }}\n"),
                _ => format!("[ {table} ] # t\n\t{key}={string}# c\n"),
            };
            let text = match around {
                0 | 1 => setting,
                2 => format!("x = \"\"\"\n[tools]\n\"\"\"\n{setting}"),
                // Invalid TOML.
                3 => format!("{setting}agent = \n"),
                4 => format!("agent = ]\n{setting}"),
                _ => format!("{setting}[[[\n"),
            };
            prop_assert!(around > 2 || crate::config::value_of(&text).is_some(), "{}", text);
            let text = if is_marked { format!("\u{feff}{text}") } else { text };
            let shown = covered(&text);
            prop_assert_eq!(shown.len(), text.len());
            let body = shown.trim_start_matches('\u{feff}');
            prop_assert!(around > 2 || crate::config::value_of(body).is_some(), "{}", shown);
            prop_assert!(!shown.contains(&part(&secret)) && !shown.contains(&part(&first)), "{}", shown);
            // The text after an `@` may be the host.
            let is_host = between == '@' && place == 7;
            prop_assert!(is_host || !shown.contains(&part(&second)), "{}", shown);
            let redacted = redact_value(&json!([value]))[0].to_string();
            prop_assert!(place < 2 || place == 5 || !redacted.contains(&first), "{}", redacted);
        }
    }
}
