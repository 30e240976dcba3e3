//! Services that a host implements.
//!
//! Without a service, the features that need it are disabled and report it. Slow methods return a
//! [`PortFuture`] for any runtime. A preview calls only `cached` methods.

use crate::{Phrase, phrase};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::attachment::Attachment;
use crate::text::{EncodingId, Text};
use crate::words;

/// The future of a slow method.
pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Counts tokens in one encoding.
///
/// ```
/// use ctx_types::ports::TokenCounter;
/// use ctx_types::{EncodingId, Text};
///
/// /// One token a byte.
/// struct Bytes;
///
/// impl TokenCounter for Bytes {
///     fn encoding(&self) -> EncodingId {
///         EncodingId(1)
///     }
///
///     fn count(&self, text: &str) -> u32 {
///         u32::try_from(text.len()).unwrap_or(u32::MAX)
///     }
/// }
///
/// let counter: &dyn TokenCounter = &Bytes;
/// assert_eq!(counter.count_text(&Text::from("hello")), 5);
/// assert_eq!(counter.count_till_limit("hello", 4), None);
/// ```
pub trait TokenCounter: Send + Sync {
    /// Returns the encoding id, which is the cache key of counts.
    ///
    /// Counters with equal ids must return equal counts.
    fn encoding(&self) -> EncodingId;

    /// Returns the number of tokens, at most [`u32::MAX`] and the number of bytes.
    fn count(&self, text: &str) -> u32;

    /// Returns the number of tokens unless it exceeds `limit`. Override it to stop early.
    fn count_till_limit(&self, text: &str, limit: u32) -> Option<u32> {
        Some(self.count(text)).filter(|count| *count <= limit)
    }

    /// Returns the number of tokens, cached in the text.
    fn count_text(&self, text: &Text) -> u32 {
        text.tokens_with(self.encoding(), |text| self.count(text))
    }
}

/// Loads the bytes of attachments.
pub trait AssetStore: Send + Sync {
    /// Loads an attachment of at most `max_bytes`.
    ///
    /// Errors: [`PortErrorKind::NotFound`], [`PortErrorKind::TooLarge`], [`PortErrorKind::Denied`],
    /// [`PortErrorKind::Unavailable`].
    fn load<'a>(
        &'a self,
        attachment: &'a Attachment,
        max_bytes: u64,
    ) -> PortFuture<'a, Result<Asset, PortError>>;

    /// Returns the result of [`load`](Self::load) if available without waiting. Default: `None`.
    fn cached(&self, _attachment: &Attachment, _max_bytes: u64) -> Option<Result<Asset, PortError>> {
        None
    }
}

/// The shared bytes of a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Asset {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// Media type from the store, for example `image/png`.
    pub mime_type: Option<Arc<str>>,
    /// Dimensions of the media; empty until measured.
    pub measures: Measures,
}

/// Dimensions of media, from its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Width and height of an image in pixels.
    pub size: Option<(NonZeroU32, NonZeroU32)>,
    /// Duration of audio or video in seconds, rounded up.
    pub seconds: Option<u32>,
    /// Number of pages of a document.
    pub pages: Option<u32>,
}

impl Asset {
    /// Creates an asset without a media type or dimensions.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { bytes: bytes.into(), mime_type: None, measures: Measures::default() }
    }
}

impl fmt::Debug for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, mime_type, .. } = self;
        write!(f, "Asset({} bytes, {})", bytes.len(), mime_type.as_deref().unwrap_or("of unknown type"))
    }
}

/// Converts recordings and images to text.
pub trait Transcriber: Send + Sync {
    /// Transcribes or describes a loaded attachment.
    ///
    /// Errors: [`PortErrorKind::Unsupported`] for other media, and the errors of [`AssetStore::load`].
    fn transcribe<'a>(&'a self, attachment: &'a Attachment) -> PortFuture<'a, Result<Text, PortError>>;

    /// Returns a cached result. Default: `None`.
    fn cached(&self, _attachment: &Attachment) -> Option<Result<Text, PortError>> {
        None
    }
}

/// Extracts text from documents.
pub trait DocumentText: Send + Sync {
    /// Extracts the text of a loaded document.
    ///
    /// Errors: [`PortErrorKind::Unsupported`] for an unknown format, [`PortErrorKind::Invalid`] for a damaged
    /// file, [`PortErrorKind::Denied`] for a password, and the errors of [`AssetStore::load`].
    fn extract<'a>(&'a self, attachment: &'a Attachment) -> PortFuture<'a, Result<ExtractedText, PortError>>;

    /// Returns a cached result. Default: `None`.
    fn cached(&self, _attachment: &Attachment) -> Option<Result<ExtractedText, PortError>> {
        None
    }

    /// Counts the pages of a loaded document. Default: `None`.
    ///
    /// Called for each document, also in previews, to estimate its tokens as a file.
    fn pages(&self, _attachment: &Attachment) -> Option<u32> {
        None
    }
}

/// Text of a document, within the limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtractedText {
    /// The text.
    pub text: Text,
    /// The omitted part, such as `pages after the first 500`.
    pub left_out: Option<Arc<str>>,
}

impl<T: Into<Text>> From<T> for ExtractedText {
    fn from(text: T) -> Self {
        Self { text: text.into(), left_out: None }
    }
}

/// Services for attachments; each is optional.
#[derive(Clone, Copy, Default)]
pub struct AttachmentPorts<'a> {
    /// Loads bytes, without which attachments cannot be sent.
    pub assets: Option<&'a dyn AssetStore>,
    /// Extracts text from documents.
    pub documents: Option<&'a dyn DocumentText>,
    /// Converts recordings and images to text.
    pub transcriber: Option<&'a dyn Transcriber>,
}

crate::opaque!(AttachmentPorts<'_>);

/// Computes embedding vectors of texts.
pub trait Embedder: Send + Sync {
    /// Returns one vector per text, all of equal length.
    ///
    /// Errors: [`PortErrorKind::TooLarge`], [`PortErrorKind::Denied`], [`PortErrorKind::Unavailable`],
    /// [`PortErrorKind::TimedOut`], [`PortErrorKind::Cancelled`].
    fn embed<'a>(&'a self, texts: &'a [Text]) -> PortFuture<'a, Result<Vec<Vec<f32>>, PortError>>;
}

/// Writes summaries, usually with a model.
pub trait Summarizer: Send + Sync {
    /// Returns a summary, which may be blank.
    ///
    /// Errors: [`PortErrorKind::TooLarge`] for the prompt, [`PortErrorKind::Denied`],
    /// [`PortErrorKind::Unavailable`], [`PortErrorKind::TimedOut`], [`PortErrorKind::Cancelled`].
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> PortFuture<'a, Result<SummaryAnswer, PortError>>;

    /// Returns the context window, for prompt and response together. Default: unknown.
    fn window(&self) -> Option<u32> {
        None
    }

    /// Reports the number of the next request, from 1, and the total, if messages do not fit one prompt. The
    /// last request joins the partial summaries. By default does nothing.
    fn begins(&self, _request: usize, _of: usize) {}
}

/// A request for a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRequest {
    /// The complete prompt, sent as one user message.
    pub prompt: Text,
    /// The model, as `profile:model`. Default: the host's choice.
    pub model: Option<Arc<str>>,
    /// Sampling temperature. Default: the model's.
    pub temperature: Option<f64>,
    /// Maximum tokens of the response. Default: the model's.
    pub max_tokens: Option<u32>,
}

/// The response of a summarizer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryAnswer {
    /// The text.
    pub text: Text,
    /// The finish reason.
    pub finish: SummaryFinish,
}

impl<T: Into<Text>> From<T> for SummaryAnswer {
    fn from(text: T) -> Self {
        Self { text: text.into(), finish: SummaryFinish::Complete }
    }
}

/// Finish reason of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SummaryFinish {
    /// Complete, or unknown.
    #[default]
    Complete,
    /// Stopped at the token limit.
    Length,
    /// A tool call instead of a summary.
    ToolCall,
    /// A refusal of the model or provider.
    Refused,
}

/// Lists tools for the model.
pub trait ToolCatalog: Send + Sync {
    /// Returns the tools in a stable order.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// Returns instructions for the prompt on how to use tools.
    fn usage(&self) -> Option<Text> {
        None
    }

    /// Returns the state of the named tools for the prompt; of all if `names` is empty.
    fn context(&self, _names: &[&str]) -> Option<Text> {
        None
    }
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// The name.
    pub name: Arc<str>,
    /// The description for the model.
    pub description: Option<Text>,
    /// The JSON Schema of the arguments.
    pub parameters: Arc<Value>,
}

/// Reports facts about the host's machine.
pub trait SystemInfo: Send + Sync {
    /// Returns a fact: `os`, `osVersion`, `arch`, `platform`, `hostname`, or `locale`.
    fn fact(&self, name: &str) -> Option<Arc<str>>;
}

/// A time limit.
pub trait Deadline: Send + Sync {
    /// Returns whether the time is over or the work was cancelled. Must be cheap: loops call it.
    fn is_over(&self) -> bool;

    /// Waits until the time is over.
    fn over(&self) -> PortFuture<'_, ()>;

    /// Creates a deadline at `limit` from now, but not after this one.
    fn within(&self, limit: Duration) -> Box<dyn Deadline>;
}

/// Measures durations for reports; never affects results.
pub trait Stopwatch: Send + Sync {
    /// Returns the time since a fixed moment. Monotonic.
    fn elapsed(&self) -> Duration;
}

/// Error of a port.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.phrase())]
pub struct PortError {
    /// The kind, for program logic.
    pub kind: PortErrorKind,
    /// The message: lower case, no final period, names in backticks, no secrets.
    pub detail: Phrase,
    /// The cause.
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

impl PortError {
    /// Creates an error without a cause.
    pub fn new(kind: PortErrorKind, detail: Phrase) -> Self {
        Self { kind, detail, source: None }
    }

    /// Returns the error as a phrase.
    pub fn phrase(&self) -> Phrase {
        phrase!("{kind}: {detail}", kind = Phrase::from(self.kind.as_str()), detail = self.detail)
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }
}

words! {
    /// Kind of port error.
    #[non_exhaustive]
    pub enum PortErrorKind: [as_str] {
        /// The object does not exist.
        NotFound = "not found",
        /// The object exceeds a limit.
        TooLarge = "too large",
        /// The kind or format is not supported.
        Unsupported = "not supported",
        /// The data is damaged.
        Invalid = "not readable",
        /// Access is denied.
        Denied = "not allowed",
        /// The service is unreachable or overloaded.
        Unavailable = "not available",
        /// The time limit was reached.
        TimedOut = "timed out",
        /// The caller or the user cancelled.
        Cancelled = "cancelled",
    }
}

impl PortErrorKind {
    /// Returns whether a retry may succeed.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Unavailable | Self::TimedOut)
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    struct UppercaseSummarizer;

    impl Summarizer for UppercaseSummarizer {
        fn summarize<'a>(
            &'a self,
            request: &'a SummaryRequest,
        ) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
            Box::pin(async move {
                match request.prompt.trim() {
                    "" => Err(PortError::new(PortErrorKind::Invalid, phrase!("the prompt is blank"))
                        .with_source(fmt::Error)),
                    prompt => Ok(prompt.to_uppercase().into()),
                }
            })
        }
    }

    fn summarize(summarizer: &dyn Summarizer, prompt: &str) -> Result<SummaryAnswer, PortError> {
        let request =
            SummaryRequest { prompt: prompt.into(), model: None, temperature: None, max_tokens: None };
        let mut answer = summarizer.summarize(&request);
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => answer,
            Poll::Pending => Err(PortError::new(PortErrorKind::TimedOut, phrase!("pending"))),
        }
    }

    #[test]
    fn runs_port_without_async_runtime() {
        assert_eq!(summarize(&UppercaseSummarizer, "hello").unwrap(), "HELLO".into());
    }

    #[test]
    fn reports_error_kind_and_keeps_cause() {
        let error = summarize(&UppercaseSummarizer, " ").unwrap_err();
        assert_eq!(error.to_string(), "not readable: the prompt is blank");
        assert!(error.source().is_some() && !error.kind.is_transient());
    }

    #[test]
    fn allows_sharing_every_port_across_threads() {
        fn is_shared<T: Send + Sync + ?Sized>() {}
        is_shared::<dyn TokenCounter>();
        is_shared::<dyn AssetStore>();
        is_shared::<dyn Transcriber>();
        is_shared::<dyn DocumentText>();
        is_shared::<dyn Summarizer>();
        is_shared::<dyn ToolCatalog>();
        is_shared::<dyn SystemInfo>();
        is_shared::<dyn Deadline>();
        is_shared::<dyn Stopwatch>();
    }
}
