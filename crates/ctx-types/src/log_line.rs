use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::phrasing::{self, Phrase};
use crate::words;

/// A log line of a processor.
///
/// A log explains a result. Problems in content are a [`Diagnostic`](crate::Diagnostic); outcomes of messages
/// are a [`Decision`](crate::report::Decision).
///
/// ```
/// use ctx_types::phrase;
/// use ctx_types::session::{LogLevel, LogLine};
/// use serde_json::json;
///
/// assert_eq!(LogLine::from(phrase!("{count} rules applied", count = 3)).level, LogLevel::Info);
///
/// let line = LogLine::warn(phrase!("a rule matched nothing")).with_details(json!({ "rule": "trim" }));
/// assert_eq!(line.to_string(), r#"warn: a rule matched nothing {"rule":"trim"}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// Level of the line.
    pub level: LogLevel,
    /// Message in one phrase: lower case, no final period, names in backticks.
    #[serde(flatten, serialize_with = "phrasing::as_message")]
    #[cfg_attr(feature = "schema", schemars(with = "phrasing::fields::Message"))]
    pub message: Phrase,
    /// Additional data for programs and debugging.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl LogLine {
    /// Creates an info line; `From<Phrase>` does the same.
    pub fn info(message: Phrase) -> Self {
        Self::new(LogLevel::Info, message)
    }

    /// Creates a line about an unexpected, non-fatal event.
    pub fn warn(message: Phrase) -> Self {
        Self::new(LogLevel::Warn, message)
    }

    /// Creates a line about a failure.
    pub fn error(message: Phrase) -> Self {
        Self::new(LogLevel::Error, message)
    }

    fn new(level: LogLevel, message: Phrase) -> Self {
        Self { level, message, details: None }
    }

    /// Adds details.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

impl From<Phrase> for LogLine {
    fn from(message: Phrase) -> Self {
        Self::info(message)
    }
}

/// Omits the level [`LogLevel::Info`] and writes details as compact JSON.
impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.level != LogLevel::Info {
            write!(f, "{}: ", self.level)?;
        }
        write!(f, "{}", self.message)?;
        match &self.details {
            Some(details) => write!(f, " {details}"),
            None => Ok(()),
        }
    }
}

words! {
    /// The level of a log line, in ascending order.
    #[derive(Default, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum LogLevel: [as_str] {
        /// Normal processing.
        #[default]
        Info = "info",
        /// An unexpected, non-fatal event.
        Warn = "warn",
        /// A failure.
        Error = "error",
    }
}
