//! Ports: what a host implements so that the pure crates can reach the world.
//!
//! Each is optional; without it the feature that needs it is off and says so. What has to wait returns a
//! [`PortFuture`], so that no runtime is required. A preview never waits: it asks the `cached` variants only.

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

/// What a port that has to wait returns.
pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Counts the tokens of texts in one encoding.
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
    /// Returns the identity of the encoding; texts remember their counts under it.
    ///
    /// Two counters with the same identity give every text the same count.
    fn encoding(&self) -> EncodingId;

    /// Returns the number of tokens of a text, at most [`u32::MAX`]; never more than its bytes.
    fn count(&self, text: &str) -> u32;

    /// Returns the number of tokens of a text unless it is above `limit`.
    ///
    /// A counter that can stop early overrides this; by default everything is counted.
    fn count_till_limit(&self, text: &str, limit: u32) -> Option<u32> {
        Some(self.count(text)).filter(|count| *count <= limit)
    }

    /// Returns the number of tokens of a text that remembers it; counts only what was not counted before.
    fn count_text(&self, text: &Text) -> u32 {
        text.tokens_with(self.encoding(), |text| self.count(text))
    }
}

/// Loads the bytes of attachments.
pub trait AssetStore: Send + Sync {
    /// Loads the bytes of an attachment if they are at most `max_bytes`.
    ///
    /// Errors: [`PortErrorKind::NotFound`], [`PortErrorKind::TooLarge`], [`PortErrorKind::Denied`],
    /// [`PortErrorKind::Unavailable`].
    fn load<'a>(
        &'a self,
        attachment: &'a Attachment,
        max_bytes: u64,
    ) -> PortFuture<'a, Result<Asset, PortError>>;

    /// Returns the answer of [`load`](Self::load) if it is at hand without waiting; by default it never is.
    fn cached(&self, _attachment: &Attachment, _max_bytes: u64) -> Option<Result<Asset, PortError>> {
        None
    }
}

/// The bytes of a file; shared, and shown by their number alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Asset {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// The media type that the store knows for them, for example `image/png`.
    pub mime_type: Option<Arc<str>>,
    /// How large what they hold is; nothing until somebody has measured it.
    pub measures: Measures,
}

/// How large a picture, recording or document is, as far as its bytes say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Width and height of a picture in pixels.
    pub size: Option<(NonZeroU32, NonZeroU32)>,
    /// The length of a recording or film in seconds, rounded up.
    pub seconds: Option<u32>,
    /// The number of pages of a document.
    pub pages: Option<u32>,
}

impl Asset {
    /// Makes an asset of bytes of which nothing else is known.
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

/// Turns recordings and pictures into text.
pub trait Transcriber: Send + Sync {
    /// Returns what is said or seen in an attachment, whose bytes are loaded already.
    ///
    /// Errors: [`PortErrorKind::Unsupported`] for a kind of media that it cannot read, and those of
    /// [`AssetStore::load`].
    fn transcribe<'a>(&'a self, attachment: &'a Attachment) -> PortFuture<'a, Result<Text, PortError>>;

    /// Returns the answer if it was made before; by default it never was.
    fn cached(&self, _attachment: &Attachment) -> Option<Result<Text, PortError>> {
        None
    }
}

/// Reads the text of documents.
pub trait DocumentText: Send + Sync {
    /// Returns the text of a document, whose bytes are loaded already.
    ///
    /// Errors: [`PortErrorKind::Unsupported`] for a format that it cannot read, [`PortErrorKind::Invalid`]
    /// for a broken file, [`PortErrorKind::Denied`] for one under a password, and those of
    /// [`AssetStore::load`].
    fn extract<'a>(&'a self, attachment: &'a Attachment) -> PortFuture<'a, Result<ExtractedText, PortError>>;

    /// Returns the answer if it is at hand without waiting; by default it never is.
    fn cached(&self, _attachment: &Attachment) -> Option<Result<ExtractedText, PortError>> {
        None
    }

    /// Counts the pages of a document, whose bytes are loaded already; by default their number is unknown.
    ///
    /// It is asked for every document, also in a preview, and says what a document costs that is sent as it is.
    fn pages(&self, _attachment: &Attachment) -> Option<u32> {
        None
    }
}

/// The text of a document, or as much of it as limits allow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtractedText {
    /// The text.
    pub text: Text,
    /// What is not in the text, and why: a phrase such as `pages after the first 500`.
    pub left_out: Option<Arc<str>>,
}

impl<T: Into<Text>> From<T> for ExtractedText {
    /// A text of which nothing was left out.
    fn from(text: T) -> Self {
        Self { text: text.into(), left_out: None }
    }
}

/// What a host lends for the files that travel with messages; each is optional.
#[derive(Clone, Copy, Default)]
pub struct AttachmentPorts<'a> {
    /// Loads their bytes; without it they stay references, which no request can hold.
    pub assets: Option<&'a dyn AssetStore>,
    /// Reads the text of documents.
    pub documents: Option<&'a dyn DocumentText>,
    /// Turns recordings and pictures into text.
    pub transcriber: Option<&'a dyn Transcriber>,
}

impl fmt::Debug for AttachmentPorts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttachmentPorts")
            .field("assets", &self.assets.is_some())
            .field("documents", &self.documents.is_some())
            .field("transcriber", &self.transcriber.is_some())
            .finish()
    }
}

/// Gives texts vectors, such that texts of like meaning have like ones.
pub trait Embedder: Send + Sync {
    /// Returns one vector for each text, all of one length.
    ///
    /// Errors: [`PortErrorKind::TooLarge`] if the texts are too long for the model, [`PortErrorKind::Denied`],
    /// [`PortErrorKind::Unavailable`], [`PortErrorKind::TimedOut`], [`PortErrorKind::Cancelled`].
    fn embed<'a>(&'a self, texts: &'a [Text]) -> PortFuture<'a, Result<Vec<Vec<f32>>, PortError>>;
}

/// Writes summaries, usually by asking a model.
pub trait Summarizer: Send + Sync {
    /// Returns the text that a prompt asks for; it may be blank, which the caller has to check.
    ///
    /// Errors: [`PortErrorKind::TooLarge`] if the prompt does not fit the model, [`PortErrorKind::Denied`],
    /// [`PortErrorKind::Unavailable`], [`PortErrorKind::TimedOut`], [`PortErrorKind::Cancelled`].
    fn summarize<'a>(
        &'a self,
        request: &'a SummaryRequest,
    ) -> PortFuture<'a, Result<SummaryAnswer, PortError>>;

    /// Returns how many tokens a prompt and its answer may have together; by default that is unknown.
    fn window(&self) -> Option<u32> {
        None
    }

    /// Hears which request of how many, from 1, is made next where messages do not fit one prompt: their parts one by
    /// one, and last the request that joins the summaries of the parts. By default that is ignored.
    fn begins(&self, _request: usize, _of: usize) {}
}

/// What a summary is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRequest {
    /// The whole prompt, sent as one user message.
    pub prompt: Text,
    /// The model to ask, as `profile:model`; the host's choice if absent.
    pub model: Option<Arc<str>>,
    /// The sampling temperature; the model's default if absent.
    pub temperature: Option<f64>,
    /// How many tokens the answer may have; the model's default if absent.
    pub max_tokens: Option<u32>,
}

/// What a summarizer answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryAnswer {
    /// The text.
    pub text: Text,
    /// How the answer ended.
    pub finish: SummaryFinish,
}

impl<T: Into<Text>> From<T> for SummaryAnswer {
    /// An answer that is complete.
    fn from(text: T) -> Self {
        Self { text: text.into(), finish: SummaryFinish::Complete }
    }
}

/// How an answer ended, as far as the provider says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SummaryFinish {
    /// The model was done, or nothing else is known.
    #[default]
    Complete,
    /// The limit of tokens cut it off.
    Length,
    /// The model called a tool instead.
    ToolCall,
    /// The model or the provider refused.
    Refused,
}

/// Lists the tools that a model may call.
pub trait ToolCatalog: Send + Sync {
    /// Returns the tools in the order in which they are sent; equal calls give equal lists.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// Returns instructions on the use of tools for the prompt, if the host has any.
    fn usage(&self) -> Option<Text> {
        None
    }

    /// Returns what the prompt should say of the present state of tools, all of them if none is named.
    fn context(&self, _names: &[&str]) -> Option<Text> {
        None
    }
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// The name by which it is called.
    pub name: Arc<str>,
    /// What it does, for the model.
    pub description: Option<Text>,
    /// The JSON schema of its arguments.
    pub parameters: Arc<Value>,
}

/// Reports facts about the host's machine.
pub trait SystemInfo: Send + Sync {
    /// Returns a fact: `os`, `osVersion`, `arch`, `platform`, `hostname`, `locale`; none if unknown.
    fn fact(&self, name: &str) -> Option<Arc<str>>;
}

/// A limit of time that was set when it was made.
pub trait Deadline: Send + Sync {
    /// Returns whether the time is over or the work was cancelled. Cheap: it is asked in loops.
    fn is_over(&self) -> bool;

    /// Waits until the time is over.
    fn over(&self) -> PortFuture<'_, ()>;

    /// Makes a deadline that is over after `limit` from now, or with this one if that comes first.
    fn within(&self, limit: Duration) -> Box<dyn Deadline>;
}

/// Measures how long things take; it never decides anything.
pub trait Stopwatch: Send + Sync {
    /// Returns the time since some fixed moment before the first call; it never goes back.
    fn elapsed(&self) -> Duration;
}

/// Why a port did not do what it was asked for.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.phrase())]
pub struct PortError {
    /// The kind, by which callers decide.
    pub kind: PortErrorKind,
    /// What happened: lower case, no full stop, things named in backticks, no secrets.
    pub detail: Phrase,
    /// The cause, if the host tells it.
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

impl PortError {
    /// Creates an error without a cause.
    pub fn new(kind: PortErrorKind, detail: Phrase) -> Self {
        Self { kind, detail, source: None }
    }

    /// Writes it in one phrase.
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

/// What kind of failure a port reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PortErrorKind {
    /// The thing asked for does not exist.
    NotFound,
    /// It is larger than allowed.
    TooLarge,
    /// Its kind or format is not supported.
    Unsupported,
    /// It is broken.
    Invalid,
    /// Access is not allowed.
    Denied,
    /// The service cannot be reached or is overloaded.
    Unavailable,
    /// The time limit was reached.
    TimedOut,
    /// The caller or the user cancelled.
    Cancelled,
}

impl PortErrorKind {
    /// Returns the wording used in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not found",
            Self::TooLarge => "too large",
            Self::Unsupported => "not supported",
            Self::Invalid => "not readable",
            Self::Denied => "not allowed",
            Self::Unavailable => "not available",
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether the same request may succeed later.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Unavailable | Self::TimedOut)
    }
}

impl fmt::Display for PortErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Answers with the prompt in capitals; cannot read a blank one.
    struct Loud;

    impl Summarizer for Loud {
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
    fn a_port_needs_no_runtime() {
        assert_eq!(summarize(&Loud, "hello").unwrap(), "HELLO".into());
    }

    #[test]
    fn an_error_tells_its_kind_and_keeps_its_cause() {
        let error = summarize(&Loud, " ").unwrap_err();
        assert_eq!(error.to_string(), "not readable: the prompt is blank");
        assert!(error.source().is_some() && !error.kind.is_transient());
    }

    #[test]
    fn every_port_can_be_shared_behind_a_pointer() {
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
