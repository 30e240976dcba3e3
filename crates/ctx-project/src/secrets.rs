//! Redacts secrets in the text of a `ctx.toml`: headers, unknown endpoint keys, and secrets in URLs.

use ctx_chat::url_secrets;
use serde_json::{Map, Value};

use crate::config::{Secrecy, find, rule_of};
use crate::toml_document;

/// The settings of a line or a table.
type Settings = Map<String, Value>;

/// Replaces possible secrets with asterisks. Keeps the length of the text and the positions of quotes.
///
/// Works line by line, because the text may be invalid TOML. In endpoint tables, a line that is not a complete
/// setting redacts the rest of the file: it may be a value on several lines, or a mistake.
pub fn covered(text: &str) -> String {
    let (mut table, mut is_odd) = (String::new(), false);
    let mut covered = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let begin = line.trim();
        let setting = match toml_document::read(begin) {
            Ok(Value::Object(setting)) => Some(setting),
            _ => None,
        };
        is_odd |= setting.is_none() && hidden(&table, None, begin) == Hidden::All;
        if is_odd {
            covered.extend(line.chars().flat_map(starred));
            continue;
        }
        if begin.starts_with('[') {
            table = setting.as_ref().map_or_else(|| "endpoint".to_owned(), header);
            is_odd = setting.is_none();
        }
        match hidden(&table, setting.as_ref(), begin) {
            Hidden::Addresses => covered.push_str(&without_address_secrets(line)),
            Hidden::Texts => {
                let (key, value) = line.split_at(line.find('=').map_or(0, |at| at + 1));
                covered.push_str(key);
                covered.push_str(&without_texts(value));
            }
            Hidden::All => covered.extend(line.chars().flat_map(starred)),
        }
    }
    covered
}

/// Redaction of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hidden {
    /// Secrets in URLs.
    Addresses,
    Texts,
    All,
}

/// Returns the dotted path of a table header.
fn header(table: &Settings) -> String {
    let Some((name, below)) = table.iter().next() else { return String::new() };
    let below = match below {
        Value::Array(list) => list.first().and_then(Value::as_object),
        value => value.as_object(),
    };
    match below.filter(|below| !below.is_empty()) {
        Some(below) => format!("{name}.{}", header(below)),
        None => name.clone(),
    }
}

fn hidden(table: &str, setting: Option<&Settings>, line: &str) -> Hidden {
    if line.starts_with('[') {
        return Hidden::Addresses;
    }
    let (first, below) = table.split_once('.').map_or((table, None), |(first, below)| (first, Some(below)));
    let Some(setting) = setting else {
        let key = line.split(['.', '=']).next().unwrap_or_default();
        let key = key.trim_matches(['"', '\'', ' ', '\t']);
        let is_meant =
            holds_secrets(first) || (table.is_empty() && (holds_secrets(key) || key.contains('\\')));
        return if is_meant { Hidden::All } else { Hidden::Addresses };
    };
    let is_hidden = match holds_secrets(first) {
        true => below.is_some() || has_secret(first, setting),
        false => table.is_empty() && setting.iter().any(|(name, value)| is_secret_table(name, value)),
    };
    if is_hidden { Hidden::Texts } else { Hidden::Addresses }
}

/// Returns whether a table may contain an API key under a known or unknown key.
fn holds_secrets(table: &str) -> bool {
    rule_of(table).is_some_and(crate::config::KeyRule::hides_unknown)
}

fn is_secret_table(name: &str, value: &Value) -> bool {
    holds_secrets(name)
        && match value {
            Value::Object(settings) => has_secret(name, settings),
            Value::Array(tables) => tables.iter().any(|table| is_secret_table(name, table)),
            _ => true,
        }
}

fn has_secret(table: &str, settings: &Settings) -> bool {
    let rows = rule_of(table).map(crate::config::KeyRule::rows).unwrap_or_default();
    settings.keys().any(|key| find(rows, key).is_none_or(|rule| rule.secrecy == Secrecy::Hidden))
}

/// Redacts passwords and parameters in URLs.
fn without_address_secrets(line: &str) -> String {
    let (mut covered, mut end) = (String::with_capacity(line.len()), 0);
    for secret in url_secrets(line) {
        covered.push_str(&line[end..secret.start]);
        covered.extend(line[secret.clone()].chars().flat_map(starred));
        end = secret.end;
    }
    covered + &line[end..]
}

/// Returns one asterisk for each byte of a character. Keeps whitespace.
fn starred(character: char) -> impl Iterator<Item = char> {
    let (shown, count) =
        if character.is_ascii_whitespace() { (character, 1) } else { ('*', character.len_utf8()) };
    std::iter::repeat_n(shown, count)
}

/// Redacts quoted text. An unclosed quote ends at the end of the line.
fn without_texts(value: &str) -> String {
    let (mut quote, mut covered, mut is_escaped) = (None, String::with_capacity(value.len()), false);
    for character in value.chars() {
        let is_end = !is_escaped && quote == Some(character);
        is_escaped = quote == Some('"') && character == '\\' && !is_escaped;
        match quote {
            Some(_) if is_end || "\r\n".contains(character) => covered.push(character),
            Some(_) => covered.extend(std::iter::repeat_n('*', character.len_utf8())),
            None => covered.push(character),
        }
        if is_end {
            quote = None;
        } else if quote.is_none() && matches!(character, '"' | '\'') {
            quote = Some(character);
        }
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(covered(text), expected);
        assert_eq!(covered(text).len(), text.len());
    }

    #[test]
    fn what_may_be_a_key_is_covered_in_its_place() {
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
    }

    #[test]
    fn a_text_that_is_not_closed_is_covered_to_its_end() {
        check("[endpoint]\nkey = \"sk-1\nmodel = 'm'\n", "[endpoint]\n*** * *****\n***** * ***\n");
    }

    #[test]
    fn what_is_no_whole_setting_is_covered_to_the_end_of_each_line() {
        check(
            "[endpoint]\nheaders = [\n  \"a\",\n  [\"b\"],\n]\n",
            "[endpoint]\n******* * *\n  ****\n  ******\n*\n",
        );
        check("[endpoint]\nkey = \"\"\"\nsk-1\"\"\"\n", "[endpoint]\n*** * ***\n*******\n");
        check("[endpoint]\nkey = sk-1\n", "[endpoint]\n*** * ****\n");
        check("[endpoint]\nkey \"sk-1\"\n", "[endpoint]\n*** ******\n");
        check("endpoint.key = sk-1\n", "************ * ****\n");
    }

    #[test]
    fn names_are_read_as_toml_reads_them() {
        check("[\"end\\u0070oint\"]\nkey = 'a'\n", "[\"end\\u0070oint\"]\nkey = '*'\n");
        check("endpoint = { model = 'm', key = 'a' }\n", "endpoint = { model = '*', key = '*' }\n");
        check("[[endpoint.more]]\nname = 'a'\n", "[[endpoint.more]]\nname = '*'\n");
    }

    #[test]
    fn an_address_with_a_password_or_a_key_is_covered() {
        check("[endpoint]\nbase-url = 'http://a:b@h'\n", "[endpoint]\nbase-url = 'http://***@h'\n");
        check("store = 'postgres://a:é@h?k=v' # x\n", "store = 'postgres://****@h?k=*' # x\n");
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
        check("fallbacks = [\n  { key = 'sk' },\n]\n", "********* * *\n  * *** * **** **\n*\n");
    }

    #[test]
    fn all_else_is_shown() {
        let plain = "store = 's.db'\n[endpoint]\nmodel = 'm'\nretries = 2\n[tools]\nfolder = 'notes'\n";
        check(plain, plain);
    }
}
