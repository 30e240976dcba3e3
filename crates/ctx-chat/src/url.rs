//! Redacts passwords and keys in URLs.

use std::ops::Range;

use reqwest::Url;

/// Replacement of a secret.
const REDACTED: &str = "***";

/// Schemes whose host may follow without slashes, as in `http:host`.
const SPECIAL_SCHEMES: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];

/// Redacts possible secrets in a text that is a URL as a whole: user names, passwords, parameter values, and fragments.
///
/// Keeps the scheme, host, port, and path. The host is the one that receives the request.
///
/// ```
/// use ctx_chat::redact_url;
///
/// assert_eq!(redact_url("https://a:b@host/v1?key=c&d"), "https://***@host/v1?key=***&***");
/// assert_eq!(redact_url("https://host/v1"), "https://host/v1");
/// assert_eq!(redact_url("https://аpi.example"), "https://xn--pi-6kc.example/");
/// ```
pub fn redact_url(url: &str) -> String {
    // A URL parser ignores these control characters, and writes other characters of a host in ASCII.
    let parsed =
        (url.contains(['\t', '\r', '\n']) || !url.is_ascii()).then(|| Url::parse(url).ok()).flatten();
    let url = parsed.as_ref().map_or(url, Url::as_str);
    replace(url, url_secrets(url))
}

/// Redacts a text that may be a URL, or a path or another text that contains one. The URL extends to the end of the text.
pub fn redact_text(text: &str) -> String {
    replace(text, text_secrets(text))
}

/// Returns the ranges of possible secrets in a URL, in order.
pub fn url_secrets(url: &str) -> Vec<Range<usize>> {
    secrets(url, Authority::find(url).unwrap_or_default())
}

/// Returns the ranges of possible secrets in a text that may contain a URL, in order.
pub fn text_secrets(text: &str) -> Vec<Range<usize>> {
    Authority::find(text).map_or_else(Vec::new, |authority| secrets(text, authority))
}

/// Returns the scheme, host, and port of a valid URL.
pub fn url_origin(url: &str) -> Option<String> {
    let url = Url::parse(url.trim()).ok()?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{}{port}", url.scheme(), url.host_str()?))
}

fn replace(text: &str, secrets: Vec<Range<usize>>) -> String {
    let (mut redacted, mut end) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        redacted.push_str(&text[end..secret.start]);
        redacted.push_str(REDACTED);
        end = secret.end;
    }
    redacted + &text[end..]
}

/// Position of a URL's user info and host in a text.
#[derive(Clone, Copy, Default)]
struct Authority {
    /// Start of the scheme.
    scheme: usize,
    /// Start of the user info.
    begin: usize,
    is_special: bool,
}

impl Authority {
    /// Returns the authority of the first URL in a text.
    fn find(text: &str) -> Option<Self> {
        let is_of_scheme = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
        text.match_indices(':').find_map(|(colon, _)| {
            let name = text[..colon].trim_end_matches(is_of_scheme).len();
            let scheme = name + text[name..colon].find(|first: char| first.is_ascii_alphabetic())?;
            let (name, rest) = (&text[scheme..colon], &text[colon + 1..]);
            let is_special = SPECIAL_SCHEMES.iter().any(|special| name.eq_ignore_ascii_case(special));
            let skipped = if is_special {
                rest.len() - rest.trim_start_matches(['/', '\\']).len()
            } else {
                rest.starts_with("//").then_some(2)?
            };
            Some(Self { scheme, begin: colon + 1 + skipped, is_special })
        })
    }
}

fn secrets(text: &str, Authority { scheme, begin, is_special }: Authority) -> Vec<Range<usize>> {
    let rest = &text[begin..];
    if !rest.contains(['@', '?', '#']) {
        return Vec::new();
    }
    let all = begin..text.len();
    if is_special && Url::parse(&text[scheme..]).is_err() {
        return vec![all];
    }
    let is_end = |character: char| "/?#".contains(character) || (is_special && character == '\\');
    let end = |from: usize| text[from..].find(is_end).map_or(text.len(), |end| from + end);
    // Some database clients take everything before the first `@` as user info.
    let user = text[begin..end(begin)].rfind('@').or_else(|| rest.find('@').filter(|_| !is_special));
    let host = user.map_or(begin, |user| begin + user + 1);
    let path = end(host);
    let parameters = text[path..].find(['?', '#']).map_or(text.len(), |parameters| path + parameters);
    let user_info = begin..begin + user.unwrap_or_default();
    let mut secrets = vec![user_info];
    // A password with a `/` that is not encoded ends in the path.
    secrets.extend(text[path..parameters].rfind('@').map(|at| path + 1..path + at));
    let mut part = parameters;
    while part < text.len() {
        let value = part + 1;
        let next = text[value..].find(['&', ';', '#', '?']).map_or(text.len(), |next| value + next);
        let is_fragment = text[part..].starts_with('#');
        let name = text[value..next].find('=').filter(|_| !is_fragment).map(|name| value + name + 1);
        // A name without a value may be a key that ends with `=`.
        let name = name.filter(|name| !text[*name..next].trim_start_matches('=').is_empty());
        secrets.push(name.unwrap_or(value)..next);
        part = next;
    }
    secrets.retain(|secret| !secret.is_empty());
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact_url(text), expected);
        assert_eq!(redact_text(text), expected);
        let inside = format!("a/b/{text}");
        assert_eq!(redact_text(&inside), format!("a/b/{expected}"));
    }

    #[test]
    fn hides_passwords_and_parameters() {
        check("http://h:80/v1", "http://h:80/v1");
        check("http://user@h", "http://***@h");
        check("http://a:b@c@h/x", "http://***@h/x");
        check("http://h?key=a?b=c", "http://h?key=***?b=***");
        check("http://h/v1?sk-1#sk-2", "http://h/v1?***#***");
        check("http://h/v1?a=&b=1&c2Vj==", "http://h/v1?***&b=***&***");
        assert_eq!(redact_text("http://é:ü@h?ß=ä"), "http://***@h?ß=***");
        assert_eq!(redact_url("http://é:ü@h?ß=ä"), "http://***@h/?%C3%9F=***");
        check("postgres://u:p@h/db?k=v", "postgres://***@h/db?k=***");
        check("://", "://");
    }

    #[test]
    fn hides_whole_password_with_any_characters() {
        for end in ["'w", "\"w", "`w", "<w>", " w", "@w", ";w", "&w=w", "%40w"] {
            check(&format!("https://a:p{end}@h/x"), "https://***@h/x");
            check(&format!("postgres://a:p{end}@h/x"), "postgres://***@h/x");
        }
        for end in ["/w", "?w", "#w", "\\w", "\\\"w"] {
            check(&format!("https://a:p{end}@h/x"), "https://***");
            check(&format!("postgres://a:p{end}@h/x"), "postgres://***@h/x");
        }
        check("http:user:pw@h/x", "http:***@h/x");
        check("HTTPS:/user:pw@h?k=v w", "HTTPS:/***@h?k=***");
        check("http:\\\\user:pw@h", "http:\\\\***@h");
        check("postgres://u:p@h/db and https://x:y@z", "postgres://***@h/***@z");
    }

    #[test]
    fn hides_secrets_without_scheme_in_known_url_only() {
        assert_eq!(redact_url("user:pw@h/v1?key=k"), "***@h/v1?key=***");
        assert_eq!(redact_url("10.0.0.1:80/v1"), "10.0.0.1:80/v1");
        for path in ["a@b.yaml", "notes: a@b?key=c", "C:\\a@b", "is it?.yaml"] {
            assert_eq!(redact_text(path), path);
        }
    }

    #[test]
    fn shows_host_that_receives_request() {
        for (url, shown, origin) in [
            ("http://evil.com/a@h/x", "http://evil.com/***@h/x", "http://evil.com"),
            ("http://evil.com\\@h", "http://evil.com\\@h", "http://evil.com"),
            ("http://evil.com?x=@h", "http://evil.com?x=***", "http://evil.com"),
            ("http://h:1@evil.com:2", "http://***@evil.com:2", "http://evil.com:2"),
            ("http://h@\tevil.com", "http://***@evil.com/", "http://evil.com"),
        ] {
            assert_eq!(redact_url(url), shown);
            assert_eq!(url_origin(url).as_deref(), Some(origin));
        }
        check("postgres://h:1/x@evil.com/db", "postgres://***@evil.com/db");
        assert_eq!(url_origin("http://a:p/w@h"), None);
    }
}
