//! Request headers: the conversation and the options of a turn.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use ctx_types::phrase;
use ctx_wire::Dialect;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::refusal::Refusal;

/// Maximum length of a conversation name, in bytes.
const MAX_NAME: usize = 200;

/// Options in the headers of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Conversation to continue. The body may name it too.
    pub(crate) conversation: Option<String>,
    /// Message to continue from. The default is the last message.
    pub(crate) after: Option<String>,
    /// Revision that the client has seen.
    pub(crate) revision: Option<u64>,
    /// Whether the response includes a report of the request.
    pub(crate) explains: bool,
    /// Whether to return the provider request without sending or storing it.
    pub(crate) dry_run: bool,
    /// Headers for the provider.
    passed: HeaderMap,
    /// Query parameters for the provider.
    pub(crate) parameters: Vec<(String, String)>,
}

/// Headers sent to every provider.
const PASSED: [&str; 4] = ["idempotency-key", "traceparent", "tracestate", "x-stainless-retry-count"];

/// Headers sent to the provider whose API the client uses. They describe the client.
const CLIENT: &[&str] = &["user-agent", "x-client-request-id"];

/// Prefix of more headers that describe the client.
const STAINLESS: &str = "x-stainless-";

/// Headers sent to Anthropic's API.
const ANTHROPIC: &[&str] =
    &["anthropic-beta", "anthropic-version", "anthropic-user-profile-id", "anthropic-workspace-id"];

/// Headers sent to `OpenAI`'s APIs. The gateway's key decides organization and project.
const OPENAI: &[&str] = &["openai-beta"];

/// Headers sent to Gemini's API.
const GEMINI: &[&str] = &["x-goog-api-client"];

/// Headers of a provider's response that the client gets, and all headers about rate limits.
const RETURNED: [&str; 5] = ["retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id"];

/// Query parameters sent to the provider whose API the client uses.
const PARAMETERS: [&str; 2] = ["alt", "beta"];

/// First version of Anthropic's API without sampling parameters.
const WITHOUT_SAMPLERS: &str = "2026-10-21";

impl Wishes {
    /// Returns the headers for a provider. Credentials are not among them.
    pub(crate) fn headers_for(&self, client: Dialect, provider: Dialect) -> HeaderMap {
        let own = match provider {
            Dialect::Anthropic => ANTHROPIC,
            Dialect::Gemini => GEMINI,
            _ => OPENAI,
        };
        let describes_client = |name: &str| CLIENT.contains(&name) || name.starts_with(STAINLESS);
        let is_passed = |name: &str| {
            PASSED.contains(&name)
                || own.contains(&name)
                || (has_same_provider(client, provider) && describes_client(name))
        };
        let passed = self.passed.iter().filter(|(name, _)| is_passed(name.as_str()));
        passed.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Returns the key that the client repeats in a retry.
    pub(crate) fn idempotency_key(&self) -> Option<&str> {
        self.passed.get("idempotency-key")?.to_str().ok()
    }

    /// Returns whether the client's API version has no sampling parameters.
    pub(crate) fn has_no_samplers(&self, provider: Dialect) -> bool {
        let version = self.passed.get("anthropic-version").and_then(|value| value.to_str().ok());
        let is_new =
            |version: &str| version.starts_with(|c: char| c.is_ascii_digit()) && version >= WITHOUT_SAMPLERS;
        provider == Dialect::Anthropic && version.is_some_and(is_new)
    }

    /// Reads the headers.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let revision = one(headers, "x-ctx-revision")?;
        let revision = revision.map(|text| text.parse().map_err(|_| odd("x-ctx-revision"))).transpose()?;
        Ok(Self {
            conversation: one(headers, "x-ctx-conversation")?
                .map(|name| decode_name(&name).and_then(|name| conversation(&name)))
                .transpose()?,
            after: one(headers, "x-ctx-after")?,
            revision,
            explains: flag(headers, "x-ctx-explain")?,
            dry_run: flag(headers, "x-ctx-dry-run")?,
            passed: passed(headers),
            parameters: Vec::new(),
        })
    }

    /// Adds the query parameters for the provider.
    #[must_use]
    pub(crate) fn with_query(self, query: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned();
        let parameters = pairs.filter(|(name, _)| PARAMETERS.contains(&name.as_str())).collect();
        Self { parameters, ..self }
    }
}

fn passed(headers: &HeaderMap) -> HeaderMap {
    let names = || PASSED.iter().chain(CLIENT).chain(ANTHROPIC).chain(OPENAI).chain(GEMINI);
    let is_known = |name: &str| name.starts_with(STAINLESS) || names().any(|known| name == *known);
    let known = headers.iter().filter(|(name, _)| is_known(name.as_str()));
    known.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns whether one provider has both API dialects.
pub(crate) fn has_same_provider(one: Dialect, other: Dialect) -> bool {
    let is_own = |dialect| matches!(dialect, Dialect::Anthropic | Dialect::Gemini);
    one == other || !(is_own(one) || is_own(other))
}

/// Returns the headers of a provider's response that the client gets.
pub(crate) fn returned_headers(headers: &HeaderMap) -> HeaderMap {
    let is_returned = |name: &str| RETURNED.contains(&name) || name.contains("ratelimit");
    let returned = headers.iter().filter(|(name, _)| is_returned(name.as_str()));
    returned.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Checks the name of a conversation.
pub(crate) fn conversation(name: &str) -> Result<String, Refusal> {
    let is_fine = (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    if is_fine {
        Ok(name.to_owned())
    } else {
        Err(Refusal::malformed(phrase!(
            "a conversation name must have 1 to {limit} bytes and no control characters",
            limit = MAX_NAME
        )))
    }
}

/// Bytes that a header cannot contain, and `%`. All bytes of non-ASCII letters are encoded.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// Encodes the name of a conversation for a header.
pub(crate) fn encode_name(name: &str) -> String {
    // HTTP ignores spaces around the value of a header.
    let rest = name.trim_start_matches(' ');
    let inner = rest.trim_end_matches(' ');
    let spaces = |count: usize| "%20".repeat(count);
    let (before, after) = (name.len() - rest.len(), rest.len() - inner.len());
    format!("{}{}{}", spaces(before), utf8_percent_encode(inner, ENCODED), spaces(after))
}

/// Decodes the name of a conversation from a header.
fn decode_name(name: &str) -> Result<String, Refusal> {
    let decoded = percent_decode_str(name).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| odd("x-ctx-conversation"))
}

/// Returns the stored id of a key's conversation. Names of keys do not contain `/`.
pub(crate) fn stored_id(owner: &str, name: &str) -> String {
    format!("{owner}/{name}")
}

/// Returns the value of a header, or an error if the header is repeated.
fn one(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, Refusal> {
    let mut values = headers.get_all(HeaderName::from_static(name)).iter();
    match (values.next().map(|value| value.to_str()), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(text)), None) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        _ => Err(odd(name)),
    }
}

fn flag(headers: &HeaderMap, name: &'static str) -> Result<bool, Refusal> {
    match one(headers, name)?.as_deref() {
        None | Some("0" | "false") => Ok(false),
        Some("1" | "true") => Ok(true),
        Some(_) => Err(Refusal::malformed(phrase!("the header `{name}` must be `1` or `0`", name)).at(name)),
    }
}

fn odd(name: &str) -> Refusal {
    Refusal::malformed(phrase!("the header `{name}` is repeated or not valid", name)).at(name)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    /// Encodes a name, and reads it from a header without the spaces around the value.
    #[track_caller]
    fn check(name: &str, expected: &str) {
        let encoded = encode_name(name);
        assert_eq!(encoded, expected);
        let value = HeaderValue::from_str(encoded.trim()).unwrap();
        let headers = HeaderMap::from_iter([(HeaderName::from_static("x-ctx-conversation"), value)]);
        assert_eq!(Wishes::of(&headers).unwrap().conversation.as_deref(), Some(name));
    }

    #[test]
    fn returns_names_as_they_were_given() {
        check("my diary", "my diary");
        check("50%25", "50%2525");
        check("对话", "%E5%AF%B9%E8%AF%9D");
        check("  padded ", "%20%20padded%20");
        check("  ", "%20%20");
        check("\u{a0}x\u{3000}", "%C2%A0x%E3%80%80");
    }
}
