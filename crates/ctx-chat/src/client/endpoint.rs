//! Endpoint of a model, with its time limits and retries.

use ctx_types::phrase;
use std::fmt;
use std::time::Duration;

use ctx_wire::{Dialect, ReplyLimits};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::client::key::{ApiKey, REDACTED, redact};
use crate::error::ClientError;
use crate::url::{redact_url, url_secrets};

/// Minimum length of a secret in a URL, in bytes.
const MIN_SECRET: usize = 6;

/// Version of Anthropic's API that the dialect implements.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Endpoint of a model.
///
/// ```
/// use ctx_chat::Endpoint;
/// use ctx_wire::Dialect;
///
/// let endpoint = Endpoint::new(Dialect::OpenaiChat, "http://localhost:8080");
/// assert_eq!(endpoint.url()?, "http://localhost:8080/v1/chat/completions");
/// # Ok::<(), ctx_chat::ClientError>(())
/// ```
#[derive(Clone)]
pub struct Endpoint {
    /// Base URL of the API. If it has no path, `/v1` is added.
    pub base_url: String,
    /// API dialect.
    pub dialect: Dialect,
    /// Model, for Gemini, which has it in the URL. Other dialects have it in the body.
    pub model: Option<String>,
    /// Whether responses are streamed, for Gemini, which has this in the URL. True by default.
    pub streams: bool,
    /// API key. Local servers often need none.
    pub key: Option<ApiKey>,
    /// Additional headers by name. Their values are secret.
    pub headers: Vec<(String, SecretString)>,
    /// Time limits.
    pub time: TimeLimits,
    /// Retries.
    pub retry: RetryPolicy,
    /// Size limits of a response.
    pub reply: ReplyLimits,
}

/// Time limits of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// Time limit for connecting; 10 s by default.
    pub connect: Duration,
    /// Time limit from the request to the first chunk of the response; 180 s by default.
    ///
    /// For a response without streaming, the limit applies to the whole response.
    pub first_token: Duration,
    /// Time limit between two chunks, including keep-alive comments; 60 s by default.
    pub stall: Duration,
    /// Time limit for one whole attempt; 30 min by default.
    pub answer: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_token: Duration::from_secs(180),
            stall: Duration::from_secs(60),
            answer: Duration::from_secs(30 * 60),
        }
    }
}

/// Rules for retries.
///
/// Only temporary failures are retried, and only before the first chunk of the response. The provider's `retry-after`
/// is the minimum wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of retries; 1 by default, 0 for none.
    pub retries: usize,
    /// First wait; 500 ms by default. It doubles with each retry, plus a random part of up to the same length.
    pub first_wait: Duration,
    /// Maximum wait; 20 s by default.
    pub longest_wait: Duration,
    /// Maximum wait that a provider may request; 120 s by default. A longer wait is an error.
    pub longest_asked: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 1,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
            longest_asked: Duration::from_secs(120),
        }
    }
}

impl Endpoint {
    /// Creates an endpoint without a key, with the default limits.
    pub fn new(dialect: Dialect, base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            dialect,
            model: None,
            streams: true,
            key: None,
            headers: Vec::new(),
            time: TimeLimits::default(),
            retry: RetryPolicy::default(),
            reply: ReplyLimits::default(),
        }
    }

    /// Returns the provider's base URL for a dialect.
    pub const fn default_base_url(dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Anthropic => "https://api.anthropic.com/v1",
            Dialect::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            _ => "https://api.openai.com/v1",
        }
    }

    /// Returns the URL of requests.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Config`] if the base URL is not an `http` or `https` URL.
    pub fn url(&self) -> Result<String, ClientError> {
        self.parsed().map(String::from)
    }

    pub(super) fn parsed(&self) -> Result<Url, ClientError> {
        let mut url = self.checked_address(&self.verb()?)?;
        if self.dialect == Dialect::Gemini && self.streams {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        Ok(url)
    }

    /// Returns a URL below the base URL, in which the name of a model does not change the rest of the URL.
    ///
    /// The agent or the client, which name the model, may be untrusted.
    pub(super) fn checked_address(&self, verb: &str) -> Result<Url, ClientError> {
        let url = self.address(verb)?;
        if self.dialect == Dialect::Gemini && !url.path().starts_with(self.address("models/")?.path()) {
            return Err(ClientError::Config(phrase!(
                "the model name contains `..`, which is not allowed in a URL path"
            )));
        }
        Ok(url)
    }

    /// Returns a URL below the base URL.
    pub(super) fn address(&self, verb: &str) -> Result<Url, ClientError> {
        let mut url: Url = self.base_url.trim().parse().map_err(|_| {
            let url = redact_url(self.base_url.trim());
            ClientError::Config(phrase!(
                "the base URL `{url}` is not valid; use a URL such as `http://localhost:8080/v1`",
                url
            ))
        })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(ClientError::Config(phrase!("the base URL must start with `http://` or `https://`")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ClientError::Config(phrase!(
                "the base URL contains a password; use an API key or a header instead"
            )));
        }
        url.set_fragment(None);
        let base = match url.path().trim_end_matches('/') {
            "" => "/v1",
            path => path,
        };
        let path = format!("{base}/{verb}");
        url.set_path(&path);
        Ok(url)
    }

    /// Returns the end of the URL path, which depends on the dialect.
    fn verb(&self) -> Result<String, ClientError> {
        Ok(match self.dialect {
            Dialect::OpenaiChat => "chat/completions".to_owned(),
            Dialect::OpenaiResponses => "responses".to_owned(),
            Dialect::Anthropic => "messages".to_owned(),
            Dialect::Completion => "completions".to_owned(),
            Dialect::Gemini => {
                let model = self.model.as_deref().filter(|model| !model.is_empty());
                let model = model.map(|model| model.trim_start_matches("models/"));
                let none = || {
                    ClientError::Config(phrase!("this API dialect requires a model in its URL; set a model"))
                };
                let verb = if self.streams { "streamGenerateContent" } else { "generateContent" };
                format!("models/{}:{verb}", model.ok_or_else(none)?)
            }
            other => {
                return Err(ClientError::Config(phrase!(
                    "the client does not support `{other}`",
                    other = other.to_string()
                )));
            }
        })
    }

    pub(super) fn header_map(&self) -> Result<HeaderMap, ClientError> {
        let mut map = HeaderMap::new();
        if let Some(key) = &self.key {
            let key = key.secret().expose_secret();
            match self.dialect {
                Dialect::Anthropic => put(&mut map, "x-api-key", key)?,
                Dialect::Gemini => put(&mut map, "x-goog-api-key", key)?,
                _ => put(&mut map, "authorization", &format!("Bearer {key}"))?,
            }
        }
        if self.dialect == Dialect::Anthropic {
            map.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        map.insert("accept", HeaderValue::from_static("text/event-stream, application/json"));
        map.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in &self.headers {
            put(&mut map, name, value.expose_secret())?;
        }
        Ok(map)
    }

    /// Replaces every secret of the endpoint in a text.
    pub(super) fn redact(&self, text: String) -> String {
        let text = match &self.key {
            Some(key) => key.redact(text),
            None => text,
        };
        let text = self.headers.iter().fold(text, |text, (_, value)| redact(value, text));
        let in_url = url_secrets(&self.base_url).into_iter().map(|range| &self.base_url[range]);
        // A short parameter, such as a version, is not a secret, and occurs in other words.
        in_url
            .filter(|secret| secret.len() >= MIN_SECRET)
            .fold(text, |text, secret| text.replace(secret, REDACTED))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Endpoint")
            .field("base_url", &redact_url(&self.base_url))
            .field("dialect", &self.dialect)
            .field("key", &self.key)
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

fn put(map: &mut HeaderMap, name: &str, value: &str) -> Result<(), ClientError> {
    let name: HeaderName = name
        .parse()
        .map_err(|_| ClientError::Config(phrase!("`{name}` is not a valid header name", name)))?;
    let mut value: HeaderValue = value.parse().map_err(|_| {
        ClientError::Config(phrase!("the value of the header `{name}` is not valid", name = name.as_str()))
    })?;
    value.set_sensitive(true);
    map.insert(name, value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacts_parameters_of_its_url() {
        let endpoint =
            Endpoint::new(Dialect::OpenaiChat, "http://user:long-password@h/v1?key=long-secret&v=1");
        let text = endpoint.redact("no /v1?key=long-secret&v=1 for user:long-password".to_owned());
        assert!(!text.contains("long-secret") && !text.contains("long-password"), "{text}");
        assert!(text.contains("&v=1"), "{text}");
    }
}
