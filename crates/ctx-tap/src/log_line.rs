//! A line of the log: one request with its response, as JSON without credentials.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::content_encoding::decode;
use crate::exchange::{BodyCopy, Exchange, ResponseCopy};
use crate::head::Header;
use crate::redaction::{RedactedHead, hash};
use crate::websocket;

/// Maximum size of a line, in bytes.
const MAX_LINE: usize = 64 << 20;

/// Headers that identify a conversation, the most specific first.
const THREAD_HEADERS: &[&str] = &["thread-id", "session-id", "session_id", "x-claude-code-session-id"];

#[derive(Serialize)]
struct LogLine {
    at: String,
    api: &'static str,
    host: String,
    path: String,
    headers: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    request: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_ms: Option<u64>,
    ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<Box<RawValue>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Writes an exchange as a line, or the exchanges of a WebSocket connection as several.
pub(crate) fn log_lines(exchange: Exchange) -> Vec<Vec<u8>> {
    websocket::split(exchange).into_iter().map(log_line).collect()
}

fn log_line(exchange: Exchange) -> Vec<u8> {
    let Exchange { at, api, host, path, headers, request, status, first, took, response, error, thread } =
        exchange;
    let head = RedactedHead::new(&headers, &path);
    let (mut omitted, mut errors) = (Vec::new(), error.into_iter().collect::<Vec<_>>());
    let (mut body, mut thread) = (None, thread.or_else(|| thread_in_headers(&headers)));
    match read_body(request) {
        Ok(text) => match RequestBody::parse(&head.redact(text)) {
            Some(request) => {
                thread = thread.or(request.thread);
                body = Some(request.json);
            }
            // An error of the connection is the reason.
            None if !errors.is_empty() => {}
            None => errors.push("the request is not JSON".to_owned()),
        },
        Err(UnreadableBody::TooLarge(size)) => omitted.push(format!("request of {size} bytes")),
        Err(UnreadableBody::Encoded(reason)) => errors.push(format!("request: {reason}")),
    }
    let mut line = LogLine {
        at: format!("{:.3}", Timestamp::try_from(at).unwrap_or_default()),
        api: api.name(),
        host,
        headers: header_map(&head.headers),
        thread: thread.map(|thread| hash(&thread)),
        request: body,
        status,
        first_ms: first.map(millis),
        ms: millis(took),
        response: None,
        events: None,
        usage: None,
        omitted: None,
        error: None,
        path: head.path.clone(),
    };
    match read_response(response) {
        Ok(response) => line.set_response(response, &head),
        Err(UnreadableBody::TooLarge(size)) => omitted.push(format!("response of {size} bytes")),
        Err(UnreadableBody::Encoded(reason)) => errors.push(format!("response: {reason}")),
    }
    let joined = |texts: Vec<String>| Some(texts.join("; ")).filter(|text| !text.is_empty());
    line.error = joined(errors).map(|error| head.redact(error));
    line.omitted = joined(omitted);
    line.write()
}

impl LogLine {
    fn set_response(&mut self, response: ReadResponse, head: &RedactedHead) {
        let mut usage = Map::new();
        match response {
            ReadResponse::Body(text) if text.is_empty() => {}
            ReadResponse::Body(text) => {
                let text = head.redact(text);
                add_usage(&mut usage, &text);
                self.response = Some(json_or_text(&text));
            }
            ReadResponse::Events(events) => {
                let events = events.into_iter().map(|event| {
                    let event = head.redact(event);
                    add_usage(&mut usage, &event);
                    json_or_text(&event)
                });
                self.events = Some(events.collect());
            }
        }
        self.usage = Some(usage).filter(|usage| !usage.is_empty());
    }

    /// Writes the line. Omits the response, then the request, if the line is too long.
    fn write(mut self) -> Vec<u8> {
        let mut line = self.to_bytes();
        if line.len() > MAX_LINE {
            (self.response, self.events) = (None, None);
            self.omitted = Some(format!("response of a line of {} bytes", line.len()));
            line = self.to_bytes();
        }
        if line.len() > MAX_LINE {
            self.request = None;
            self.omitted = Some("request and response, which are too large".to_owned());
            line = self.to_bytes();
        }
        line
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("texts and JSON values can be written");
        line.push(b'\n');
        line
    }
}

/// Reports lost requests, in the last line of a log.
pub(crate) fn lost_line(count: u64) -> Vec<u8> {
    let omitted = format!("{count} requests were not recorded");
    format!("{}\n", json!({ "request": null, "omitted": omitted })).into_bytes()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn header_map(headers: &[Header]) -> Map<String, Value> {
    let mut map = Map::new();
    for Header { name, value } in headers {
        match map.get_mut(name) {
            Some(Value::String(values)) => values.extend([", ", value]),
            _ => drop(map.insert(name.clone(), value.as_str().into())),
        }
    }
    map
}

fn thread_in_headers(headers: &[Header]) -> Option<String> {
    let value = |name: &&str| headers.iter().find(|header| header.name == **name);
    THREAD_HEADERS.iter().find_map(value).map(|header| header.value.clone())
}

enum UnreadableBody {
    TooLarge(u64),
    /// Reason.
    Encoded(String),
}

/// Decodes a body.
fn read_body(mut body: BodyCopy) -> Result<String, UnreadableBody> {
    if !body.is_complete() {
        return Err(UnreadableBody::TooLarge(body.size));
    }
    let decoded = decode(body.take(), &body.encoding).map_err(UnreadableBody::Encoded)?;
    Ok(String::from_utf8(decoded)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

enum ReadResponse {
    Body(String),
    Events(Vec<String>),
}

fn read_response(response: ResponseCopy) -> Result<ReadResponse, UnreadableBody> {
    let strings = |events: Vec<Arc<str>>| events.iter().map(ToString::to_string).collect();
    Ok(match response {
        ResponseCopy::Events(events) => ReadResponse::Events(strings(events)),
        ResponseCopy::Json(json) => ReadResponse::Body(json.to_string()),
        // It was split.
        ResponseCopy::WebSocket(_) => ReadResponse::Events(Vec::new()),
        ResponseCopy::Body(body) => {
            let is_event_stream = body.is_event_stream;
            let text = read_body(body)?;
            if is_event_stream { ReadResponse::Events(events(&text)) } else { ReadResponse::Body(text) }
        }
    })
}

/// Returns the data of each event of a stream. The last may be truncated.
fn events(stream: &str) -> Vec<String> {
    let (mut events, mut data) = (Vec::new(), None::<String>);
    for line in stream.replace("\r\n", "\n").split(['\n', '\r']) {
        if line.is_empty() {
            events.extend(data.take());
        } else if let Some(text) = line.strip_prefix("data:") {
            let text = text.strip_prefix(' ').unwrap_or(text);
            match &mut data {
                Some(data) => data.extend(["\n", text]),
                None => data = Some(text.to_owned()),
            }
        }
    }
    events.extend(data);
    events
}

/// Adds the usage of a response or of an event. Later numbers replace earlier ones.
fn add_usage(usage: &mut Map<String, Value>, json: &str) {
    if !json.contains("\"usage") {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(json) else { return };
    // Gemini can answer with a list of chunks.
    let last = value.as_array().and_then(|chunks| chunks.last()).unwrap_or(&value);
    let places = ["/usage", "/message/usage", "/response/usage", "/usageMetadata"];
    for object in places.iter().filter_map(|place| last.pointer(place)?.as_object()) {
        let set = object.iter().filter(|(_, value)| !value.is_null());
        usage.extend(set.map(|(key, value)| (key.clone(), value.clone())));
    }
}

/// Returns JSON unchanged, or any other text as a string.
fn json_or_text(text: &str) -> Box<RawValue> {
    let json = RawValue::from_string(one_line(text).into_owned());
    json.unwrap_or_else(|_| serde_json::value::to_raw_value(text).expect("a text is JSON"))
}

/// Replaces line breaks, which JSON has only between values.
fn one_line(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ").into() } else { text.into() }
}

/// A request body without user ids.
struct RequestBody {
    json: Box<RawValue>,
    /// Name of the conversation.
    thread: Option<String>,
}

#[derive(Default, Deserialize)]
struct IdentifyingFields<'b> {
    #[serde(borrow)]
    metadata: Option<&'b RawValue>,
    #[serde(borrow)]
    client_metadata: Option<&'b RawValue>,
    prompt_cache_key: Option<Value>,
}

#[derive(Deserialize)]
struct Metadata<'b> {
    #[serde(borrow)]
    user_id: Option<&'b RawValue>,
}

impl RequestBody {
    /// Reads JSON, and replaces fields that identify the user. All other bytes stay unchanged.
    fn parse(text: &str) -> Option<Self> {
        let mut text = one_line(text).into_owned();
        if serde_json::from_str::<IdentifyingFields<'_>>(&text).is_err() {
            // A repeated key, or JSON that is not an object. Providers use the last value.
            text = serde_json::from_str::<Value>(&text).ok()?.to_string();
        }
        let fields: IdentifyingFields<'_> = serde_json::from_str(&text).unwrap_or_default();
        let metadata = fields.metadata.and_then(|raw| serde_json::from_str::<Metadata<'_>>(raw.get()).ok());
        let user = metadata.and_then(|metadata| metadata.user_id);
        let thread = fields.prompt_cache_key.as_ref().and_then(Value::as_str).map(str::to_owned);
        let thread = thread.or_else(|| serde_json::from_str(user?.get()).ok());
        let hashed = [user, fields.client_metadata].into_iter().flatten();
        let mut hashed: Vec<(usize, &str)> =
            hashed.map(|raw| (offset(&text, raw.get()), raw.get())).collect();
        hashed.sort_unstable();
        let mut json = String::with_capacity(text.len());
        let mut end = 0;
        for (start, raw) in hashed {
            json.push_str(&text[end..start]);
            write!(json, "\"{}\"", hash(raw)).expect("a string accepts text");
            end = start + raw.len();
        }
        json.push_str(&text[end..]);
        Some(Self { json: RawValue::from_string(json).ok()?, thread })
    }
}

/// Returns the position of a part of a text.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}
