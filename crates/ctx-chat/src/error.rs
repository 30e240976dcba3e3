//! Why a provider gave no answer.

use std::fmt;
use std::time::Duration;

use ctx_types::{Phrase, phrase};
use ctx_wire::{Failure, FailureKind, StreamError};

/// Why a provider gave no answer. No variant holds a key: the provider's words are searched for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum ClientError {
    /// The endpoint makes no sense, or its key cannot be had.
    Config(Phrase),
    /// The file with the API key cannot be read.
    KeyFile {
        /// The file.
        path: String,
        /// What happened.
        reason: Phrase,
    },
    /// The host name of the provider has no address.
    UnknownHost {
        /// The host.
        host: String,
    },
    /// The provider cannot be reached.
    Unreachable {
        /// The host.
        host: String,
        /// What happened.
        detail: String,
    },
    /// No program listens at the address of the provider.
    ConnectionRefused {
        /// The host, and the port if the URL names one.
        host: String,
    },
    /// The server names another address.
    Redirected {
        /// The base URL at the other address.
        base_url: String,
    },
    /// The provider does not prove to be who it is said to be.
    Untrusted {
        /// The host.
        host: String,
        /// What is wrong with its certificate.
        detail: String,
    },
    /// The connection broke.
    Disconnected {
        /// The host.
        host: String,
        /// What happened.
        detail: String,
    },
    /// Nothing came within a limit of time.
    TimedOut {
        /// What was waited for.
        phase: Phase,
        /// The limit.
        limit: Duration,
    },
    /// The provider reports an error.
    Provider {
        /// What it says.
        failure: Failure,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The stream of the answer cannot be read to its end.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A response is larger than what is taken.
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The caller cancelled.
    Cancelled,
}

impl ClientError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Config(phrase) => phrase.clone(),
            Self::KeyFile { path, reason } => {
                phrase!("cannot read the API key from `{path}`: {reason}", path, reason)
            }
            Self::UnknownHost { host } => phrase!("cannot find the host `{host}`; check the base URL", host),
            Self::Unreachable { host, detail } => {
                phrase!("cannot reach `{host}`: {detail}", host, detail = Phrase::original(detail))
            }
            Self::ConnectionRefused { host } => phrase!("connection refused by `{host}`", host),
            Self::Redirected { base_url } => {
                phrase!("the server redirects the request; set the base URL to `{base_url}`", base_url)
            }
            Self::Untrusted { host, detail } => {
                phrase!(
                    "cannot verify the certificate of `{host}`: {detail}",
                    host,
                    detail = Phrase::original(detail)
                )
            }
            Self::Disconnected { host, detail } => {
                phrase!("lost the connection to `{host}`: {detail}", host, detail = Phrase::original(detail))
            }
            Self::TimedOut { phase, limit } => {
                phrase!(
                    "{phase} took longer than {limit} s",
                    phase = Phrase::from(phase.as_str()),
                    limit = limit.as_secs_f32()
                )
            }
            Self::Provider { failure, retry_after } => refused(failure, *retry_after),
            Self::Stream(error) => error.phrase(),
            Self::TooLarge { limit } => phrase!("the response exceeds the limit of {limit} bytes", limit),
            Self::Cancelled => phrase!("the request was canceled"),
        }
    }
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// The connection.
    Connect,
    /// The first piece of the answer.
    FirstToken,
    /// The next piece.
    NextToken,
    /// The whole answer.
    Answer,
}

impl Phase {
    /// Returns the wording for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connecting",
            Self::FirstToken => "the first chunk of the response",
            Self::NextToken => "the next chunk of the response",
            Self::Answer => "the complete response",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl ClientError {
    /// Returns the kind of failure that the provider reports, within a response or a stream.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Provider { failure, .. } | Self::Stream(StreamError::Provider(failure)) => Some(failure),
            _ => None,
        }
    }

    /// Returns whether the request was larger than the model's window: a shorter one may succeed.
    pub fn is_overflow(&self) -> bool {
        self.failure().is_some_and(|failure| failure.kind == FailureKind::Overflow)
    }

    /// Returns whether the same request may succeed if it is sent again.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Disconnected { .. } | Self::TimedOut { .. } => true,
            // A server that is not running does not start while a user waits, and a name is resolved again by the
            // system.
            Self::ConnectionRefused { .. } | Self::UnknownHost { .. } => false,
            Self::Stream(StreamError::Truncated | StreamError::Malformed { .. }) => true,
            Self::Config(_)
            | Self::KeyFile { .. }
            | Self::Redirected { .. }
            | Self::Untrusted { .. }
            | Self::TooLarge { .. }
            | Self::Cancelled => false,
            Self::Provider { .. } | Self::Stream(_) => self.failure().is_some_and(|failure| {
                matches!(failure.kind, FailureKind::RateLimited | FailureKind::Unavailable)
            }),
        }
    }

    /// Returns a short code for logs and stored messages, such as `LLM_RATE_LIMITED`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(_) | Self::KeyFile { .. } => "LLM_CONFIG",
            Self::Unreachable { .. } | Self::ConnectionRefused { .. } | Self::UnknownHost { .. } => {
                "LLM_UNREACHABLE"
            }
            Self::Redirected { .. } => "LLM_NOT_FOUND",
            Self::Untrusted { .. } => "LLM_UNTRUSTED",
            Self::Disconnected { .. } => "LLM_DISCONNECTED",
            Self::TimedOut { .. } => "LLM_TIMEOUT",
            Self::TooLarge { .. } => "LLM_TOO_LARGE",
            Self::Cancelled => "LLM_CANCELLED",
            Self::Provider { failure, .. } | Self::Stream(StreamError::Provider(failure)) => {
                code_of(failure.kind)
            }
            Self::Stream(StreamError::Truncated) => "LLM_TRUNCATED",
            Self::Stream(StreamError::TooLarge { .. }) => "LLM_TOO_LARGE",
            Self::Stream(_) => "LLM_MALFORMED",
        }
    }

    /// Returns the error with all texts of others passed through `clean`.
    pub(super) fn cleaned(self, clean: &dyn Fn(String) -> String) -> Self {
        let failure = |failure: Failure| Failure {
            code: failure.code.map(clean),
            message: clean(failure.message),
            ..failure
        };
        match self {
            Self::Config(phrase) => Self::Config(cleaned(phrase, clean)),
            Self::Unreachable { host, detail } => Self::Unreachable { host, detail: clean(detail) },
            Self::Redirected { base_url } => Self::Redirected { base_url: clean(base_url) },
            Self::Untrusted { host, detail } => Self::Untrusted { host, detail: clean(detail) },
            Self::Disconnected { host, detail } => Self::Disconnected { host, detail: clean(detail) },
            Self::Provider { failure: of, retry_after } => {
                Self::Provider { failure: failure(of), retry_after }
            }
            Self::Stream(StreamError::Provider(of)) => Self::Stream(StreamError::Provider(failure(of))),
            Self::Stream(StreamError::Malformed { excerpt }) => {
                Self::Stream(StreamError::Malformed { excerpt: clean(excerpt) })
            }
            other => other,
        }
    }
}

fn code_of(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Overflow => "LLM_CONTEXT_OVERFLOW",
        FailureKind::RateLimited => "LLM_RATE_LIMITED",
        FailureKind::QuotaExhausted => "LLM_QUOTA",
        FailureKind::Unavailable => "LLM_UNAVAILABLE",
        FailureKind::Unauthorized => "LLM_UNAUTHORIZED",
        FailureKind::NotFound => "LLM_NOT_FOUND",
        FailureKind::Unreadable => "LLM_MALFORMED",
        _ => "LLM_REFUSED",
    }
}

/// Returns a phrase that passed through `clean`: it stays one if nothing in it was secret.
pub(super) fn cleaned(phrase: Phrase, clean: &dyn Fn(String) -> String) -> Phrase {
    let (text, cleaned) = (phrase.to_string(), clean(phrase.to_string()));
    if text == cleaned { phrase } else { Phrase::verbatim(cleaned) }
}

/// Describes a failed request, and what the user can do.
fn refused(failure: &Failure, retry_after: Option<Duration>) -> Phrase {
    if failure.kind == FailureKind::Unreadable {
        return phrase!("cannot read the response of the provider: {failure}", failure = failure.phrase());
    }
    let refused = phrase!("the provider rejected the request: {failure}", failure = failure.phrase());
    let refused = match retry_after {
        Some(wait) => phrase!("{refused}; retry after {seconds} s", refused, seconds = wait.as_secs()),
        None => refused,
    };
    match failure.kind {
        FailureKind::Unauthorized => phrase!("{refused}; check the API key", refused),
        FailureKind::NotFound => {
            phrase!("{refused}; check the model and the base URL", refused)
        }
        FailureKind::QuotaExhausted => phrase!("{refused}; retrying will not help", refused),
        _ => refused,
    }
}
