//! Request headers: the conversation and the options of a turn.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use ctx_types::phrase;
use ctx_wire::Dialect;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::api_error::ApiError;

/// Maximum length of a conversation name, in bytes.
const MAX_NAME: usize = 200;

/// Options in the headers of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestOptions {
    /// Conversation to continue. The body may name it too.
    pub(crate) conversation: Option<String>,
    /// Message to continue from. The default is the last message.
    pub(crate) after: Option<String>,
    /// Agent of Claude Code that sends the request, if it is not the main one.
    pub(crate) agent: Option<String>,
    /// Revision that the client has seen.
    pub(crate) revision: Option<u64>,
    /// Whether the response includes a report of the request.
    pub(crate) explains: bool,
    /// Whether to return the provider request without sending or storing it.
    pub(crate) dry_run: bool,
    /// Headers for the provider.
    provider_headers: HeaderMap,
    /// Query parameters for the provider.
    pub(crate) parameters: Vec<(String, String)>,
}

/// Headers sent to every provider.
const PASSED_HEADERS: [&str; 4] = ["idempotency-key", "traceparent", "tracestate", "x-stainless-retry-count"];

/// Headers sent to the provider whose API the client uses. They describe the client.
const CLIENT_HEADERS: &[&str] = &["user-agent", "x-client-request-id"];

/// Prefix of more headers that describe the client.
const STAINLESS_PREFIX: &str = "x-stainless-";

/// Headers of clients of Anthropic's API.
const ANTHROPIC_HEADERS: &[&str] =
    &["anthropic-beta", "anthropic-version", "anthropic-user-profile-id", "anthropic-workspace-id"];

/// Headers of clients of `OpenAI`'s APIs. The gateway's key decides organization and project.
const OPENAI_HEADERS: &[&str] = &["openai-beta"];

/// Headers of clients of Gemini's API.
const GEMINI_HEADERS: &[&str] = &["x-goog-api-client"];

/// Headers of a provider's response that the client gets, and all headers about rate limits.
const RETURNED_HEADERS: [&str; 5] =
    ["retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id"];

/// Query parameters sent to the provider whose API the client uses.
const PASSED_PARAMETERS: [&str; 2] = ["alt", "beta"];

/// First version of Anthropic's API without sampling parameters.
const FIRST_VERSION_WITHOUT_SAMPLERS: &str = "2026-10-21";

impl RequestOptions {
    /// Returns the headers for a provider. Credentials are not among them.
    pub(crate) fn headers_for(&self, client: Dialect, provider: Dialect) -> HeaderMap {
        let api_headers = match provider {
            Dialect::Anthropic => ANTHROPIC_HEADERS,
            Dialect::Gemini => GEMINI_HEADERS,
            _ => OPENAI_HEADERS,
        };
        let is_client_header =
            |name: &str| CLIENT_HEADERS.contains(&name) || name.starts_with(STAINLESS_PREFIX);
        let is_passed = |name: &str| {
            PASSED_HEADERS.contains(&name)
                || (has_same_provider(client, provider)
                    && (api_headers.contains(&name) || is_client_header(name)))
        };
        let passed = self.provider_headers.iter().filter(|(name, _)| is_passed(name.as_str()));
        passed.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Returns the key that the client repeats in a retry.
    pub(crate) fn idempotency_key(&self) -> Option<&str> {
        self.provider_headers.get("idempotency-key")?.to_str().ok()
    }

    /// Returns whether the API version of the client has no sampling parameters.
    pub(crate) fn has_no_samplers(&self, client: Dialect, provider: Dialect) -> bool {
        let version = self.provider_headers.get("anthropic-version").and_then(|value| value.to_str().ok());
        let is_new = |version: &str| {
            version.starts_with(|c: char| c.is_ascii_digit()) && version >= FIRST_VERSION_WITHOUT_SAMPLERS
        };
        client == provider && provider == Dialect::Anthropic && version.is_some_and(is_new)
    }

    /// Reads the headers.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Self, ApiError> {
        let revision = single_header(headers, "x-ctx-revision")?;
        let revision =
            revision.map(|text| text.parse().map_err(|_| invalid_header("x-ctx-revision"))).transpose()?;
        Ok(Self {
            conversation: single_header(headers, "x-ctx-conversation")?
                .map(|name| decode_name(&name).and_then(|name| parse_conversation_name(&name)))
                .transpose()?,
            after: single_header(headers, "x-ctx-after")?,
            agent: single_header(headers, "x-claude-code-agent-id")?,
            revision,
            explains: flag_header(headers, "x-ctx-explain")?,
            dry_run: flag_header(headers, "x-ctx-dry-run")?,
            provider_headers: select_provider_headers(headers),
            parameters: Vec::new(),
        })
    }

    /// Adds the query parameters for the provider.
    #[must_use]
    pub(crate) fn with_query(self, query: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned();
        let parameters = pairs.filter(|(name, _)| PASSED_PARAMETERS.contains(&name.as_str())).collect();
        Self { parameters, ..self }
    }
}

fn select_provider_headers(headers: &HeaderMap) -> HeaderMap {
    let names = || {
        PASSED_HEADERS
            .iter()
            .chain(CLIENT_HEADERS)
            .chain(ANTHROPIC_HEADERS)
            .chain(OPENAI_HEADERS)
            .chain(GEMINI_HEADERS)
    };
    let is_known = |name: &str| name.starts_with(STAINLESS_PREFIX) || names().any(|known| name == *known);
    let known = headers.iter().filter(|(name, _)| is_known(name.as_str()));
    known.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns whether one provider has both API dialects.
pub(crate) fn has_same_provider(one: Dialect, other: Dialect) -> bool {
    let has_own_provider = |dialect| matches!(dialect, Dialect::Anthropic | Dialect::Gemini);
    one == other || !(has_own_provider(one) || has_own_provider(other))
}

/// Returns the headers of a provider's response that the client gets.
pub(crate) fn returned_headers(headers: &HeaderMap) -> HeaderMap {
    let is_returned = |name: &str| RETURNED_HEADERS.contains(&name) || name.contains("ratelimit");
    let returned = headers.iter().filter(|(name, _)| is_returned(name.as_str()));
    returned.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Checks the name of a conversation.
pub(crate) fn parse_conversation_name(name: &str) -> Result<String, ApiError> {
    let is_valid = (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    if is_valid {
        Ok(name.to_owned())
    } else {
        Err(ApiError::malformed(phrase!(
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
fn decode_name(name: &str) -> Result<String, ApiError> {
    let decoded = percent_decode_str(name).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| invalid_header("x-ctx-conversation"))
}

/// Returns the stored id of a key's conversation. Names of keys do not contain `/`.
pub(crate) fn stored_id(owner: &str, name: &str) -> String {
    format!("{owner}/{name}")
}

/// Returns the value of a header, or an error if the header is repeated.
fn single_header(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, ApiError> {
    let mut values = headers.get_all(HeaderName::from_static(name)).iter();
    match (values.next().map(|value| value.to_str()), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(text)), None) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        _ => Err(invalid_header(name)),
    }
}

fn flag_header(headers: &HeaderMap, name: &'static str) -> Result<bool, ApiError> {
    match single_header(headers, name)?.as_deref() {
        None | Some("0" | "false") => Ok(false),
        Some("1" | "true") => Ok(true),
        Some(_) => Err(ApiError::malformed(phrase!("the header `{name}` must be `1` or `0`", name)).at(name)),
    }
}

fn invalid_header(name: &str) -> ApiError {
    ApiError::malformed(phrase!("the header `{name}` is repeated or not valid", name)).at(name)
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
        assert_eq!(RequestOptions::from_headers(&headers).unwrap().conversation.as_deref(), Some(name));
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
