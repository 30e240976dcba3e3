//! API errors in the format of each dialect.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use ctx_chat::{ClientError, StoreError, TurnFailure};
use ctx_project::ProjectError;
use ctx_types::internal::excerpt;
use ctx_types::{Phrase, phrase};
use ctx_wire::{Dialect, FailureKind};

use crate::dialect;

/// An error response to a request.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    kind: ApiErrorKind,
    pub(crate) message: Phrase,
    /// Invalid field.
    pub(crate) place: Option<String>,
    /// Time after which a retry may succeed.
    retry_after: Option<Duration>,
    /// Headers of the provider's error.
    headers: Box<HeaderMap>,
}

/// Types of API errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiErrorKind {
    /// Malformed request.
    Malformed,
    /// Missing or invalid key.
    Unauthorized,
    /// Not permitted for the key.
    Forbidden,
    /// Unknown resource.
    NotFound,
    /// Another request changed or locked the conversation.
    Conflict,
    /// Request that is too large to read.
    TooLarge,
    /// Conversation that does not fit the context window.
    Overflow,
    /// Exceeded limit.
    RateLimited,
    /// Invalid response from the provider.
    Provider,
    /// Exceeded time limit.
    TimedOut,
    /// Temporarily unavailable.
    Unavailable,
    /// Internal error.
    Internal,
}

impl ApiError {
    pub(crate) fn new(status: u16, kind: ApiErrorKind, message: Phrase) -> Self {
        Self { status, kind, message, place: None, retry_after: None, headers: Box::default() }
    }

    pub(crate) fn malformed(message: Phrase) -> Self {
        Self::new(400, ApiErrorKind::Malformed, message)
    }

    pub(crate) fn too_large(message: Phrase) -> Self {
        Self::new(413, ApiErrorKind::TooLarge, message)
    }

    pub(crate) fn not_found(message: Phrase) -> Self {
        Self::new(404, ApiErrorKind::NotFound, message)
    }

    pub(crate) fn forbidden(message: Phrase) -> Self {
        Self::new(403, ApiErrorKind::Forbidden, message)
    }

    pub(crate) fn conflict(message: Phrase) -> Self {
        Self::new(409, ApiErrorKind::Conflict, message)
    }

    pub(crate) fn unavailable(message: Phrase) -> Self {
        Self::new(503, ApiErrorKind::Unavailable, message)
    }

    pub(crate) fn rate_limited(message: Phrase, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..Self::new(429, ApiErrorKind::RateLimited, message) }
    }

    pub(crate) fn busy(message: Phrase, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..Self::unavailable(message) }
    }

    pub(crate) fn internal() -> Self {
        Self::new(500, ApiErrorKind::Internal, phrase!("internal error; please report it"))
    }

    /// Sets the invalid field.
    #[must_use]
    pub(crate) fn at(self, place: &str) -> Self {
        Self { place: Some(place.to_owned()), ..self }
    }

    /// Sets further headers of the response.
    #[must_use]
    pub(crate) fn with_headers(self, headers: HeaderMap) -> Self {
        Self { headers: Box::new(headers), ..self }
    }

    /// Returns the error type for logs and metrics.
    pub(crate) const fn code(&self) -> &'static str {
        self.openai().1
    }

    /// Returns the type and code in OpenAI's API.
    pub(crate) const fn openai(&self) -> (&'static str, &'static str) {
        match self.kind {
            ApiErrorKind::Malformed => ("invalid_request_error", "invalid_request"),
            ApiErrorKind::Unauthorized => ("invalid_request_error", "invalid_api_key"),
            ApiErrorKind::Forbidden => ("invalid_request_error", "permission_denied"),
            ApiErrorKind::NotFound => ("invalid_request_error", "not_found"),
            ApiErrorKind::Conflict => ("invalid_request_error", "conflict"),
            ApiErrorKind::TooLarge => ("invalid_request_error", "request_too_large"),
            ApiErrorKind::Overflow => ("invalid_request_error", "context_length_exceeded"),
            ApiErrorKind::RateLimited => ("rate_limit_error", "rate_limit_exceeded"),
            ApiErrorKind::Provider => ("server_error", "upstream_error"),
            ApiErrorKind::TimedOut => ("server_error", "timeout"),
            ApiErrorKind::Unavailable => ("server_error", "unavailable"),
            ApiErrorKind::Internal => ("server_error", "internal_error"),
        }
    }

    /// Returns the type in Anthropic's API.
    pub(crate) const fn anthropic(&self) -> &'static str {
        match self.kind {
            ApiErrorKind::Malformed | ApiErrorKind::Conflict | ApiErrorKind::Overflow => {
                "invalid_request_error"
            }
            ApiErrorKind::Unauthorized => "authentication_error",
            ApiErrorKind::Forbidden => "permission_error",
            ApiErrorKind::NotFound => "not_found_error",
            ApiErrorKind::TooLarge => "request_too_large",
            ApiErrorKind::RateLimited => "rate_limit_error",
            ApiErrorKind::TimedOut => "timeout_error",
            ApiErrorKind::Unavailable => "overloaded_error",
            ApiErrorKind::Provider | ApiErrorKind::Internal => "api_error",
        }
    }

    /// Returns the status in Gemini's API.
    pub(crate) const fn gemini(&self) -> &'static str {
        match self.kind {
            ApiErrorKind::Malformed | ApiErrorKind::TooLarge | ApiErrorKind::Overflow => "INVALID_ARGUMENT",
            ApiErrorKind::Unauthorized => "UNAUTHENTICATED",
            ApiErrorKind::Forbidden => "PERMISSION_DENIED",
            ApiErrorKind::NotFound => "NOT_FOUND",
            ApiErrorKind::Conflict => "ABORTED",
            ApiErrorKind::RateLimited => "RESOURCE_EXHAUSTED",
            ApiErrorKind::TimedOut => "DEADLINE_EXCEEDED",
            ApiErrorKind::Provider | ApiErrorKind::Unavailable => "UNAVAILABLE",
            ApiErrorKind::Internal => "INTERNAL",
        }
    }

    /// Formats the error for the client's dialect.
    pub(crate) fn into_response(self, dialect: Dialect) -> Response<Body> {
        let body = dialect::write_error(dialect, &self, &self.message.to_string());
        let mut response = Response::new(Body::from(body.to_string()));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        // Tell clients that retry automatically that a malformed request never succeeds.
        if self.kind == ApiErrorKind::Malformed {
            response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
        }
        response.headers_mut().extend(*self.headers);
        response
    }
}

impl From<ClientError> for ApiError {
    /// The operator configures keys and base URLs of providers, so their errors are server errors.
    fn from(error: ClientError) -> Self {
        let message = error.phrase();
        match &error {
            ClientError::Config(_) => Self::new(500, ApiErrorKind::Internal, message),
            ClientError::TimedOut { .. } => Self::new(504, ApiErrorKind::TimedOut, message),
            ClientError::Cancelled => Self::new(503, ApiErrorKind::Unavailable, message),
            ClientError::Provider { retry_after, .. } => {
                Self { retry_after: *retry_after, ..Self::from_failure(&error, message) }
            }
            _ => Self::from_failure(&error, message),
        }
    }
}

impl ApiError {
    fn from_failure(error: &ClientError, message: Phrase) -> Self {
        let (status, kind) = match error.failure().map(|failure| failure.kind) {
            Some(FailureKind::Overflow) => (400, ApiErrorKind::Overflow),
            Some(FailureKind::RateLimited | FailureKind::QuotaExhausted) => (429, ApiErrorKind::RateLimited),
            Some(FailureKind::Unavailable) => (503, ApiErrorKind::Unavailable),
            Some(FailureKind::Refused) => (400, ApiErrorKind::Malformed),
            _ => (502, ApiErrorKind::Provider),
        };
        Self::new(status, kind, message)
    }
}

impl From<TurnFailure> for ApiError {
    fn from(failure: TurnFailure) -> Self {
        let message = failure.phrase();
        match failure {
            TurnFailure::Model(error) => error.into(),
            failure if failure.code() == "CONTEXT_TOO_LARGE" => {
                Self::new(400, ApiErrorKind::Overflow, message)
            }
            TurnFailure::Conversation(error) => error.into(),
            TurnFailure::Blank | TurnFailure::Filtered => Self::new(502, ApiErrorKind::Provider, message),
            _ => Self::new(500, ApiErrorKind::Internal, message),
        }
    }
}

impl ApiError {
    /// Reports that there is no conversation with this stored id.
    pub(crate) fn no_conversation(id: &str) -> Self {
        let name = id.split_once('/').map_or(id, |(_, name)| name);
        Self::not_found(phrase!("no conversation `{id}`", id = excerpt(name)))
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { id } => Self::no_conversation(&id),
            StoreError::Stale { .. } => {
                Self::conflict(phrase!("another request changed the conversation; retry"))
            }
            StoreError::Held { .. } | StoreError::LeaseLost { .. } => {
                Self::conflict(phrase!("another turn of this conversation is running"))
            }
            StoreError::Replaced { .. } => {
                tracing::error!(%error, "the store failed");
                Self::unavailable(phrase!(
                    "the conversation store was deleted or replaced; restart the gateway"
                ))
            }
            StoreError::Session(error) => Self::malformed(error.phrase()),
            StoreError::History(error) => Self::malformed(error.phrase()),
            error => {
                tracing::error!(%error, "the store failed");
                Self::unavailable(phrase!("the conversation store is not available; retry later"))
            }
        }
    }
}

impl From<ProjectError> for ApiError {
    /// The operator owns the files, so their errors appear only in the log.
    fn from(error: ProjectError) -> Self {
        tracing::error!(%error, "cannot load an agent");
        Self::new(500, ApiErrorKind::Internal, phrase!("cannot load the agent; see the log of the gateway"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_conflicts_of_turns() {
        let id = || "alice/c".to_owned();
        for error in [StoreError::Held { id: id() }, StoreError::LeaseLost { id: id() }] {
            let error = ApiError::from(error);
            assert_eq!((error.status, error.kind), (409, ApiErrorKind::Conflict));
            // The stored id contains the name of the key.
            assert!(!error.message.to_string().contains("alice"), "{}", error.message);
        }
    }
}
