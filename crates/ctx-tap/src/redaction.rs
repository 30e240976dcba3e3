//! Removes credentials from recorded requests.

use sha2::{Digest as _, Sha256};
use url::form_urlencoded;

use crate::head::Header;

/// Headers that identify the account, and the list in which browsers send a key.
const REMOVED: &[&str] =
    &["openai-organization", "openai-project", "chatgpt-account-id", "sec-websocket-protocol"];

/// Words in the names of headers and query parameters whose values may be credentials.
const CREDENTIAL_WORDS: &[&str] =
    &["auth", "cookie", "credential", "key", "password", "secret", "signature", "token"];

/// Headers that identify a conversation, or name folders.
const HASHED: &[&str] =
    &["x-claude-code-session-id", "session-id", "session_id", "thread-id", "x-codex-turn-metadata"];

/// Minimum length of a credential that is also removed from bodies.
const MIN_CREDENTIAL: usize = 16;

/// Text in place of a credential.
const REPLACEMENT: &str = "[removed]";

/// Headers and path of a request, without credentials.
#[derive(Debug)]
pub(crate) struct RedactedHead {
    pub(crate) headers: Vec<Header>,
    /// Path and query.
    pub(crate) path: String,
    /// The removed values.
    pub(crate) credentials: Vec<String>,
}

impl RedactedHead {
    pub(crate) fn new(headers: &[Header], path: &str) -> Self {
        let (mut kept, mut credentials) = (Vec::new(), Vec::new());
        for Header { name, value } in headers {
            if is_credential(name) {
                // Without `Bearer`. A cookie has several values.
                credentials.extend(value.split([' ', ';', ',']).map(str::to_owned));
            } else {
                // A value may be an address with a query, such as that of `referer`.
                let is_hashed = HASHED.contains(&name.as_str());
                let value = if is_hashed { hash(value) } else { redact_query(value, &mut credentials) };
                kept.push(Header { name: name.clone(), value });
            }
        }
        let path = redact_query(path, &mut credentials);
        credentials.retain(|credential| credential.len() >= MIN_CREDENTIAL);
        Self { headers: kept, path, credentials }
    }

    /// Removes the credentials from other text: a server may repeat them in an error.
    pub(crate) fn redact(&self, text: String) -> String {
        self.credentials.iter().fold(text, |text, credential| {
            if text.contains(credential) { text.replace(credential, REPLACEMENT) } else { text }
        })
    }
}

fn is_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    REMOVED.contains(&name.as_str()) || CREDENTIAL_WORDS.iter().any(|word| name.contains(word))
}

/// Removes query parameters that may be credentials. The others stay unchanged.
fn redact_query(path: &str, credentials: &mut Vec<String>) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    let mut kept = Vec::new();
    for pair in query.split('&') {
        let decoded = form_urlencoded::parse(pair.as_bytes()).next();
        match decoded.filter(|(name, _)| is_credential(name)) {
            Some((_, value)) => credentials
                .extend([value.into_owned(), pair.split_once('=').unwrap_or_default().1.to_owned()]),
            None => kept.push(pair),
        }
    }
    if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
}

/// Returns `sha256:` and 16 hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_every_credential() {
        let names = [
            "authorization",
            "proxy-authorization",
            "x-api-key",
            "api-key",
            "x-goog-api-key",
            "cookie",
            "set-cookie",
            "openai-organization",
            "openai-project",
            "chatgpt-account-id",
            "cf-aig-authorization",
            "x-amz-security-token",
        ];
        let header = |name: &str, value: &str| Header { name: name.to_owned(), value: value.to_owned() };
        let mut headers: Vec<Header> =
            names.iter().map(|name| header(name, "Bearer canary-value-of-16")).collect();
        headers.extend([header("accept", "*/*"), header("session-id", "canary-session")]);
        headers
            .push(header("sec-websocket-protocol", "realtime, openai-insecure-api-key.canary-of-browsers"));
        headers.push(header("referer", "https://app.example/?key=canary-of-an-address&page=2"));
        let path = "/v1beta/models/x:generateContent?alt=sse&key=canary%2Dquery-of-16&KEY=&%6bey=canary-odd-name-of-16&access_token=canary-token&x";
        let head = RedactedHead::new(&headers, path);
        let text = format!("{:?} {}", head.headers, head.path);
        assert!(!text.contains("canary"), "{text}");
        assert_eq!(head.path, "/v1beta/models/x:generateContent?alt=sse&x");
        assert_eq!(head.headers.len(), 3);
        assert_eq!(head.headers[2].value, "https://app.example/?page=2");
        assert_eq!(head.headers[1].value.len(), "sha256:".len() + 16);
        let echoed =
            "wrong key canary-value-of-16, canary%2Dquery-of-16, canary-query-of-16, canary-odd-name-of-16"
                .to_owned();
        assert!(!head.redact(echoed).contains("canary"));
        assert_eq!(head.redact("Bearer of news".to_owned()), "Bearer of news");
    }
}
