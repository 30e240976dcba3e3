//! Transcripts of recordings and films by asking a server: `POST /v1/audio/transcriptions`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use ctx_types::internal::Fingerprint;
use ctx_types::ports::{Asset, PortError, PortErrorKind, PortFuture, Transcriber};
use ctx_types::{Attachment, MediaKind, Phrase, Text, phrase};
use ctx_wire::Failure;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, Url};
use serde_json::Value;

use crate::client::endpoint::Endpoint;
use crate::client::transport::{self, words};
use crate::error::{ClientError, cleaned};

/// The largest file that OpenAI takes, in bytes.
const MAX_FILE: usize = 25 << 20;

/// How much of an answer is read, in bytes.
const MAX_ANSWER: usize = 4 << 20;

/// How many transcripts are kept.
const MAX_KEPT: usize = 256;

/// Asks a server for transcripts, in the form of OpenAI's `audio/transcriptions`, which others understand too.
///
/// A file is asked for once: its transcript is kept as long as this lives, by its bytes, so that previews have it
/// and no turn asks again. Nothing is sent again when it fails; the next turn will. `Send + Sync`.
///
/// ```
/// use ctx_chat::{AudioTranscriber, Endpoint};
/// use ctx_wire::Dialect;
///
/// let endpoint = Endpoint::new(Dialect::OpenaiChat, "http://localhost:8080");
/// let transcriber = AudioTranscriber::new(endpoint, "whisper-1")?;
/// assert_eq!(transcriber.url(), "http://localhost:8080/v1/audio/transcriptions");
/// # Ok::<(), ctx_chat::ClientError>(())
/// ```
pub struct AudioTranscriber {
    http: reqwest::Client,
    url: Url,
    endpoint: Endpoint,
    model: String,
    kept: Mutex<BTreeMap<(u64, usize), Text>>,
}

impl AudioTranscriber {
    /// Makes a transcriber; nothing is connected yet. The endpoint's dialect says only how its key is sent.
    ///
    /// Errors: [`ClientError::Config`] for an address, a header or certificates that cannot be used.
    pub fn new(endpoint: Endpoint, model: impl Into<String>) -> Result<Self, ClientError> {
        let made = endpoint.address("audio/transcriptions");
        let made = made.and_then(|url| Ok((transport::open(&endpoint, &url)?, url)));
        let (http, url) = made.map_err(|error| error.cleaned(&|text| endpoint.redact(text)))?;
        Ok(Self { http, url, endpoint, model: model.into(), kept: Mutex::default() })
    }

    /// Returns the address that is asked.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    fn kept(&self, asset: &Asset) -> Option<Text> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key(asset)).cloned()
    }

    fn keep(&self, asset: &Asset, text: &Text) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(key(asset), text.clone());
    }

    async fn ask(&self, file: &Attachment, asset: &Asset) -> Result<Text, PortError> {
        let (kind, body) = form(&self.model, &file_name(file)?, &mime_type(file), &asset.bytes)?;
        let request = self.http.post(self.url.clone()).header(CONTENT_TYPE, kind).body(body);
        let answer = async {
            let response = request.send().await.map_err(|error| unavailable(words(error)))?;
            let (status, body) = (response.status(), read(response).await?);
            let text = String::from_utf8_lossy(&body);
            if !status.is_success() {
                return Err(refused(status.as_u16(), &text));
            }
            // Servers that were asked for words alone answer so.
            let value: Option<Value> = serde_json::from_str(&text).ok();
            let said = value.as_ref().and_then(|value| value.get("text")).and_then(Value::as_str);
            said.map(Text::from)
                .ok_or_else(|| PortError::new(PortErrorKind::Invalid, phrase!("the response has no `text`")))
        };
        let limit = self.endpoint.time.first_token;
        let answer = tokio::time::timeout(limit, answer).await.unwrap_or_else(|_| {
            let detail = phrase!("no transcript within {seconds} s", seconds = limit.as_secs());
            Err(PortError::new(PortErrorKind::TimedOut, detail))
        });
        let clean = |text| self.endpoint.redact(text);
        answer.map_err(|error| PortError::new(error.kind, cleaned(error.detail, &clean)))
    }
}

impl Transcriber for AudioTranscriber {
    fn transcribe<'a>(&'a self, attachment: &'a Attachment) -> PortFuture<'a, Result<Text, PortError>> {
        Box::pin(async move {
            if !matches!(attachment.kind(), MediaKind::Audio | MediaKind::Video) {
                let detail = phrase!("only audio and video can be transcribed");
                return Err(PortError::new(PortErrorKind::Unsupported, detail));
            }
            let asset = attachment.loaded.as_ref();
            let asset = asset.ok_or_else(|| {
                PortError::new(PortErrorKind::NotFound, phrase!("the attachment is not loaded"))
            })?;
            if asset.bytes.len() > MAX_FILE {
                let detail =
                    phrase!("the attachment exceeds the limit of {limit} MiB", limit = MAX_FILE >> 20);
                return Err(PortError::new(PortErrorKind::TooLarge, detail));
            }
            if let Some(text) = self.kept(asset) {
                return Ok(text);
            }
            let text = self.ask(attachment, asset).await?;
            self.keep(asset, &text);
            Ok(text)
        })
    }

    fn cached(&self, attachment: &Attachment) -> Option<Result<Text, PortError>> {
        self.kept(attachment.loaded.as_ref()?).map(Ok)
    }
}

impl fmt::Debug for AudioTranscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AudioTranscriber").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// By what a transcript is known again: the bytes that it is of.
fn key(asset: &Asset) -> (u64, usize) {
    let numbers = asset
        .bytes
        .chunks(8)
        .map(|chunk| chunk.iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte)));
    (numbers.fold(Fingerprint::default(), Fingerprint::number).as_u64(), asset.bytes.len())
}

/// The name by whose ending servers tell what they are given.
fn file_name(file: &Attachment) -> Result<String, PortError> {
    let ending = match mime_type(file).as_str() {
        "audio/wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/mp4" | "audio/m4a" | "audio/x-m4a" => "m4a",
        "audio/flac" => "flac",
        "audio/ogg" | "application/ogg" => "ogg",
        "audio/webm" | "video/webm" => "webm",
        "video/mp4" => "mp4",
        "video/mpeg" => "mpeg",
        other => {
            let detail = phrase!("cannot transcribe `{type}`", type = other);
            return Err(PortError::new(PortErrorKind::Unsupported, detail));
        }
    };
    Ok(format!("file.{ending}"))
}

fn mime_type(file: &Attachment) -> String {
    file.mime_type.as_deref().map(ctx_wire::canonical_media_type).unwrap_or_default().into_owned()
}

/// Writes a form with the fields and the file; returns its media type and its bytes.
fn form(model: &str, name: &str, mime_type: &str, bytes: &[u8]) -> Result<(String, Vec<u8>), PortError> {
    /// How many borders are tried; a file that holds them all was made for that.
    const BORDERS: u64 = 64;
    let has = |border: &str| bytes.windows(border.len()).any(|window| window == border.as_bytes());
    let boundary = (0..BORDERS).map(|number| format!("ctx-{number:016x}")).find(|border| !has(border));
    let held = || PortError::new(PortErrorKind::Invalid, phrase!("no multipart boundary fits the file"));
    let boundary = boundary.ok_or_else(held)?;
    let model = model.replace(['\r', '\n'], " ");
    let mut body = Vec::with_capacity(bytes.len() + 1_024);
    for (field, value) in [("model", model.as_str()), ("response_format", "json")] {
        let part =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
        body.extend(part.into_bytes());
    }
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: {mime_type}\r\n\r\n"
    );
    body.extend(head.into_bytes());
    body.extend_from_slice(bytes);
    body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
    Ok((format!("multipart/form-data; boundary={boundary}"), body))
}

async fn read(mut response: Response) -> Result<Vec<u8>, PortError> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|error| unavailable(words(error)))? {
        if body.len() + bytes.len() > MAX_ANSWER {
            let detail = phrase!("the transcript exceeds the limit of {limit} MiB", limit = MAX_ANSWER >> 20);
            return Err(PortError::new(PortErrorKind::Invalid, detail));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

fn unavailable(detail: String) -> PortError {
    PortError::new(PortErrorKind::Unavailable, Phrase::original(detail))
}

fn refused(status: u16, body: &str) -> PortError {
    let kind = match status {
        401 | 403 => PortErrorKind::Denied,
        404 => PortErrorKind::NotFound,
        408 => PortErrorKind::TimedOut,
        413 => PortErrorKind::TooLarge,
        429 | 500.. => PortErrorKind::Unavailable,
        _ => PortErrorKind::Invalid,
    };
    let failure = Failure::read(status, body).phrase();
    PortError::new(kind, phrase!("the transcription server rejected the request: {failure}", failure))
}
