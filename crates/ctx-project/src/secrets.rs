//! What of `ctx.toml` is not shown: headers, and what somebody wrote beside them that may be a key.

/// The tables that say where models are reached.
const TABLES: [&str; 2] = ["endpoint", "transcription"];

/// The keys in them whose values anybody may see.
const PLAIN: [&str; 9] = [
    "base-url",
    "dialect",
    "model",
    "key-env",
    "key-file",
    "connect-timeout",
    "first-token-timeout",
    "stall-timeout",
    "retries",
];

/// Puts stars in the place of texts that may be secret; every byte and every quote stays where it was.
///
/// It goes line by line and not by the syntax, so that a line that is no TOML is covered too.
pub fn covered(text: &str) -> String {
    let (mut table, mut covered) = (String::new(), String::with_capacity(text.len()));
    for line in text.split_inclusive('\n') {
        let begin = line.trim_start();
        if let Some(header) = begin.strip_prefix('[') {
            let name = header.trim_start_matches('[').split(']').next().unwrap_or_default();
            table = name.replace(['"', '\'', ' '], "");
        }
        match line.split_once('=') {
            Some((key, _)) if is_secret(&table, key.trim()) => {
                covered.push_str(&line[..=key.len()]);
                covered.push_str(&without_texts(&line[key.len() + 1..]));
            }
            _ => covered.push_str(line),
        }
    }
    covered
}

fn is_secret(table: &str, key: &str) -> bool {
    let (table, key) = match table {
        "" => key.split_once('.').unwrap_or((key, "")),
        table => (table, key),
    };
    let table = table.trim();
    let is_below =
        TABLES.iter().any(|name| table.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
    is_below || (TABLES.contains(&table) && !PLAIN.contains(&key.trim()))
}

/// Covers what stands in quotes, to the end of the line where a quote is not closed.
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
        check("[endpoint]\nkey = \"sk-1\nmodel = 'm'\n", "[endpoint]\nkey = \"****\nmodel = 'm'\n");
    }

    #[test]
    fn all_else_is_shown() {
        let plain = "store = 's.db'\n[endpoint]\nmodel = 'm'\nretries = 2\n[tools]\nfolder = 'notes'\n";
        check(plain, plain);
    }
}
