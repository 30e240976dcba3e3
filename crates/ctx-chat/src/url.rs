//! Redacts passwords and keys in URLs.

use std::ops::Range;

/// Replacement of a secret.
const REDACTED: &str = "***";

/// Redacts possible secrets in the URLs of a text: user names, passwords, parameter values, and fragments.
///
/// Keeps the scheme, host, port, path, and any other text.
///
/// ```
/// use ctx_chat::redact_url;
///
/// assert_eq!(redact_url("https://a:b@host/v1?key=c&d"), "https://***@host/v1?key=***&***");
/// assert_eq!(redact_url("https://host/v1"), "https://host/v1");
/// ```
pub fn redact_url(text: &str) -> String {
    let (mut redacted, mut end) = (String::with_capacity(text.len()), 0);
    for secret in url_secrets(text) {
        redacted.push_str(&text[end..secret.start]);
        redacted.push_str(REDACTED);
        end = secret.end;
    }
    redacted + &text[end..]
}

/// Returns the ranges of possible secrets in the URLs of a text, in order.
pub fn url_secrets(text: &str) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("://") {
        let begin = from + at + "://".len();
        let is_end = |character: char| character.is_whitespace() || "\"'`<>".contains(character);
        let end = text[begin..].find(is_end).map_or(text.len(), |end| begin + end);
        let path = text[begin..end].find(['/', '?', '#', '\\']).map_or(end, |path| begin + path);
        // A password may contain the characters that end a host. So treat everything before the last `@` as a
        // password, up to the first parameter.
        let parameters = text[begin..end].find(['?', '#']).map_or(end, |query| begin + query);
        let host = text[begin..path].rfind('@').or_else(|| text[begin..parameters].rfind('@'));
        if let Some(host) = host.filter(|host| *host > 0) {
            secrets.push(begin..begin + host);
        }
        let mut part = parameters;
        while part < end {
            let value = part + 1;
            let next = text[value..end].find(['&', ';', '#', '?']).map_or(end, |next| value + next);
            let is_fragment = text[part..].starts_with('#');
            let name = text[value..next].find('=').filter(|_| !is_fragment);
            let secret = name.map_or(value, |name| value + name + 1)..next;
            secrets.extend(Some(secret).filter(|secret| !secret.is_empty()));
            part = next;
        }
        from = end;
    }
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact_url(text), expected);
    }

    #[test]
    fn hides_passwords_and_parameters() {
        check("http://h:80/v1", "http://h:80/v1");
        check("http://user@h", "http://***@h");
        check("http://a:b@c@h/x", "http://***@h/x");
        check("http://a:p/w@h/x", "http://***@h/x");
        check("http://h?key=a?b=c", "http://h?key=***?b=***");
        check("http://h/v1?sk-1#sk-2", "http://h/v1?***#***");
        check("http://h/v1?a=&b=1", "http://h/v1?a=&b=***");
        check("postgres://u:p@h/db and https://x:y@z", "postgres://***@h/db and https://***@z");
        check("no address: a@b?key=c", "no address: a@b?key=c");
        check("\"http://é:ü@h?ß=ä\"", "\"http://***@h?ß=***\"");
        check("://", "://");
    }
}
