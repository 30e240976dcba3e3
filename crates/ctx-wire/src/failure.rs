//! What a provider answers instead of an answer.

mod figures;

use std::fmt;

use ctx_types::{Phrase, phrase};
use serde_json::Value;

pub use figures::OverflowFigures;

/// How much of a provider's words is kept, in characters.
const MAX_WORDS: usize = 500;

/// An error that a provider reported, or a body that is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What a caller can do about it.
    pub kind: FailureKind,
    /// The status of the response, if it came as one and not within a stream.
    pub status: Option<u16>,
    /// The provider's own code, such as `context_length_exceeded`.
    pub code: Option<String>,
    /// The provider's words, shortened; for people. [`Failure::overflow_figures`] reads what can be read in them.
    pub message: String,
}

/// What a caller can do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The request is larger than the window: send less.
    Overflow,
    /// Too many requests: wait.
    RateLimited,
    /// Money or quota is used up: waiting does not help.
    QuotaExhausted,
    /// The provider has trouble: try again.
    Unavailable,
    /// The key is missing, wrong, or not allowed to do this.
    Unauthorized,
    /// There is no such model or address.
    NotFound,
    /// The provider does not take the request as it is.
    Refused,
    /// The answer is not what this dialect answers.
    Unreadable,
}

impl Failure {
    /// Reads a response that is no success: its status and the text of its body, whatever that is.
    ///
    /// Overflows have no common shape; recognized are the codes and phrases of OpenAI, Anthropic, Gemini,
    /// llama.cpp, vLLM, Ollama and `OpenRouter`.
    ///
    /// ```
    /// use ctx_wire::{Failure, FailureKind};
    ///
    /// let body = r#"{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
    /// assert_eq!(Failure::read(400, body).kind, FailureKind::Overflow);
    /// assert_eq!(Failure::read(503, "<html>").kind, FailureKind::Unavailable);
    /// ```
    pub fn read(status: u16, body: &str) -> Self {
        let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        let mut failure = error_of(&value).map_or_else(|| Self::plain(body), Self::of_error);
        failure.status = Some(status);
        failure.kind = by_words(&failure).unwrap_or_else(|| by_status(status));
        failure
    }

    /// Reads the figures in the words about a request that is too large; none about another failure.
    ///
    /// Known are the sentences of OpenAI (2026), Anthropic, Gemini, `OpenRouter`, vLLM and llama.cpp.
    ///
    /// ```
    /// use ctx_wire::Failure;
    ///
    /// let body = r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#;
    /// let figures = Failure::read(400, body).overflow_figures().unwrap();
    /// assert_eq!((figures.limit, figures.sent), (Some(200_000), Some(210_000)));
    /// ```
    pub fn overflow_figures(&self) -> Option<OverflowFigures> {
        (self.kind == FailureKind::Overflow).then(|| figures::read(&self.message.to_lowercase()))
    }

    /// Reads the error within a body or a chunk of a stream, if there is one.
    pub(crate) fn within(value: &Value) -> Option<Self> {
        let mut failure = Self::of_error(error_of(value)?);
        failure.kind = by_words(&failure).unwrap_or(FailureKind::Unavailable);
        Some(failure)
    }

    /// Reads an event of a stream that is an error itself.
    pub(crate) fn of_event(event: &Value) -> Self {
        let mut failure = Self::of_error(event);
        failure.kind = by_words(&failure).unwrap_or(FailureKind::Unavailable);
        failure
    }

    /// Reports that a body is not what the dialect answers.
    pub(crate) fn unreadable(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Unreadable, status: None, code: None, message: message.into() }
    }

    fn of_error(error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let message = text("message").or_else(|| error.as_str()).unwrap_or("no reason is given");
        let code = text("code").or_else(|| text("type")).or_else(|| text("status")).map(shortened);
        Self { kind: FailureKind::Refused, status: None, code, message: shortened(message) }
    }

    fn plain(body: &str) -> Self {
        let words = body.trim();
        let words = if words.starts_with('<') { page_words(words) } else { words.to_owned() };
        let message = if words.is_empty() { "no reason is given".to_owned() } else { shortened(&words) };
        Self { kind: FailureKind::Refused, status: None, code: None, message }
    }
}

impl Failure {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        let message = self.message.as_str();
        match self.status {
            Some(status) => phrase!("status {status}: {message}", status, message),
            // Most are texts of this crate.
            None if self.kind == FailureKind::Unreadable => Phrase::original(message),
            None => Phrase::verbatim(message),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

impl std::error::Error for Failure {}

/// Returns the title of a web page, or its text without tags.
fn page_words(page: &str) -> String {
    let title = page.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let text = title.map_or(page, |(title, _)| title);
    let parts = text.split('<').map(|part| part.split_once('>').map_or(part, |(_, words)| words));
    parts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The first words of a text on one line.
fn shortened(text: &str) -> String {
    let first = text.chars().take(MAX_WORDS);
    first.map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// The error object of a body: `error` of most, the first of a list as Gemini sends it, or a bare `detail`.
fn error_of(value: &Value) -> Option<&Value> {
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
    let found = value.get("error").filter(|error| !error.is_null());
    found.or_else(|| value.get("detail").filter(|detail| detail.is_string()))
}

/// Phrases by which providers say that a request is larger than the window.
const OVERFLOW: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "context limit",
    "prompt is too long",
    "input is too long",
    "input token count",
    "maximum number of tokens",
    "too many tokens",
    "exceed_context_size",
    "request too large",
    "request_too_large",
];

/// Phrases by which providers say that waiting does not help.
const QUOTA: &[&str] = &["insufficient_quota", "exceeded your current quota", "credit balance", "billing"];

fn by_words(failure: &Failure) -> Option<FailureKind> {
    let words = format!("{} {}", failure.code.as_deref().unwrap_or_default(), failure.message).to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    let may_overflow = matches!(failure.status, None | Some(400 | 413 | 422 | 500));
    if may_overflow && says(OVERFLOW) {
        return Some(FailureKind::Overflow);
    }
    if says(QUOTA) {
        return Some(FailureKind::QuotaExhausted);
    }
    match failure.code.as_deref() {
        Some("rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED") => {
            Some(FailureKind::RateLimited)
        }
        Some("overloaded_error" | "api_error" | "server_error" | "UNAVAILABLE") => {
            Some(FailureKind::Unavailable)
        }
        Some("authentication_error" | "permission_error" | "invalid_api_key") => {
            Some(FailureKind::Unauthorized)
        }
        Some("invalid_request_error") if failure.status.is_none() => Some(FailureKind::Refused),
        _ => None,
    }
}

fn by_status(status: u16) -> FailureKind {
    match status {
        401 | 403 => FailureKind::Unauthorized,
        402 => FailureKind::QuotaExhausted,
        404 | 405 | 410 => FailureKind::NotFound,
        413 => FailureKind::Overflow,
        408 | 409 | 425 | 500.. => FailureKind::Unavailable,
        429 => FailureKind::RateLimited,
        _ => FailureKind::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_without_tags() {
        let page = "<html><title>503 Service\n Unavailable</title><body><h1>503</h1></body></html>";
        assert_eq!(Failure::read(503, page).message, "503 Service Unavailable");
        assert_eq!(Failure::read(503, "<p>Too <b>busy</b></p>").message, "Too busy");
        assert_eq!(Failure::read(503, "<html></html>").message, "no reason is given");
    }
}
