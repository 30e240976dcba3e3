//! Reads and parses request bodies, with limits on size, time, and memory.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use ctx_types::phrase;
use ctx_wire::Dialect;
use futures_util::StreamExt as _;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::api_error::{ApiError, ApiErrorKind};
use crate::dialect::{self, ClientRequest};
use crate::keys::KeyEntry;
use crate::memory::{ReservedMemory, SharedMemory};

/// Default size limit of a body, in bytes: 16 MiB.
pub(crate) const DEFAULT_MAX_BYTES: u64 = 16 << 20;

/// Maximum nesting of lists and objects, which equals the limit of `serde_json`.
const MAX_DEPTH: usize = 128;

/// Maximum memory of a parsed body, as a multiple of its size.
const MAX_GROWTH: usize = 8;

/// Memory that every parsed body may use, in bytes. Short messages use more than [`MAX_GROWTH`] times their size.
/// This is enough for 40,000 of them.
const ALWAYS_ALLOWED: usize = 64 << 20;

/// Maximum size of all bodies that are being read, in bytes, for the default limit of a body. Larger limits raise it.
const MAX_READING: u64 = 256 << 20;

/// Maximum estimated memory of all turns, in bytes.
const MAX_TURNS: u64 = 768 << 20;

/// Each key may always have a quarter of [`MAX_READING`] and [`MAX_TURNS`].
const SHARES: u64 = 4;

/// Minimum estimated memory of a turn, in bytes: its tasks and buffers.
const MIN_TURN: usize = 32 << 10;

/// Time limit for a body that waits for memory. It holds a connection and what has arrived.
const READING_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit for a turn that waits for memory.
const TURN_TIMEOUT: Duration = Duration::from_secs(30);

/// Size below which a body is parsed on the current thread. These bytes of every body arrive without waiting for others.
const SMALL: usize = 64 << 10;

/// Memory that is reserved at a time for an arriving body, in bytes.
const STEP: usize = 1 << 20;

/// Maximum time without new bytes of a body.
const MAX_SILENCE: Duration = Duration::from_secs(10);

/// Reads request bodies. All requests share one reader.
#[derive(Debug)]
pub(crate) struct BodyReader {
    max_bytes: u64,
    time: Duration,
    reading: SharedMemory,
    turns: SharedMemory,
}

/// A body, and the memory that its turn may use.
#[derive(Debug)]
pub(crate) struct RequestBody {
    pub(crate) bytes: Vec<u8>,
    pub(crate) json: Map<String, Value>,
    pub(crate) memory: ReservedMemory,
    /// Memory of the bytes.
    reserved: Vec<ReservedMemory>,
}

/// A parsed body, and the memory that its turn may use.
#[derive(Debug)]
pub(crate) struct ParsedBody {
    pub(crate) body: ClientRequest,
    pub(crate) memory: ReservedMemory,
}

impl RequestBody {
    /// Returns the model, or an empty text.
    pub(crate) fn model(&self) -> &str {
        self.json.get("model").and_then(Value::as_str).unwrap_or_default()
    }

    /// Parses the request of a dialect.
    pub(crate) async fn parse(self, dialect: Dialect) -> Result<ParsedBody, ApiError> {
        let Self { bytes, json, memory, reserved } = self;
        let size = bytes.len();
        drop((bytes, reserved));
        run_sized(size, move || Ok(ParsedBody { body: dialect::read(dialect, json)?, memory })).await
    }
}

impl BodyReader {
    /// Creates a reader for bodies of up to `max_bytes`. Each body must arrive within `time`, without a pause of more
    /// than 10 s.
    pub(crate) fn new(max_bytes: u64, time: Duration) -> Self {
        let reading = MAX_READING.max(max_bytes.saturating_mul(SHARES));
        Self {
            max_bytes,
            time,
            reading: SharedMemory::new(reading, reading / SHARES, READING_TIMEOUT),
            turns: SharedMemory::new(MAX_TURNS, MAX_TURNS / SHARES, TURN_TIMEOUT),
        }
    }

    /// Reserves memory for a turn that continues a conversation of this size: the conversation and its request.
    ///
    /// Does not wait, because waiting turns would keep their conversations in memory.
    pub(crate) fn reserve_conversation(&self, key: &str, bytes: u64) -> Result<ReservedMemory, ApiError> {
        self.turns.try_reserve(key, bytes.saturating_mul(2))
    }

    /// Reads the body of a request.
    pub(crate) async fn read(
        &self,
        key: &KeyEntry,
        (headers, body): (&HeaderMap, Body),
    ) -> Result<RequestBody, ApiError> {
        let limit = key.limits.bytes.unwrap_or(self.max_bytes).min(self.max_bytes);
        if content_length(headers).is_some_and(|length| length > limit) {
            return Err(too_large(limit));
        }
        let collecting = timeout(self.time, self.collect(&key.name, body, limit)).await;
        let (bytes, reserved) = collecting.map_err(|_| timed_out(self.time))??;
        let cost = ParseCost::estimate(&bytes).check(bytes.len())?;
        let memory = self.turns.reserve(&key.name, cost.turn_memory() as u64).await?;
        let size = bytes.len();
        run_sized(size, move || Ok(RequestBody { json: parse(&bytes)?, bytes, memory, reserved })).await
    }

    /// Collects the chunks of a body, and reserves memory as they arrive. A slow client does not reserve the memory of
    /// the bytes that it has only announced.
    async fn collect(
        &self,
        key: &str,
        body: Body,
        limit: u64,
    ) -> Result<(Vec<u8>, Vec<ReservedMemory>), ApiError> {
        let (mut read, mut chunks) = (Vec::new(), body.into_data_stream());
        let (mut reserved, mut allowed) = (Vec::new(), SMALL);
        while let Some(chunk) =
            timeout(MAX_SILENCE, chunks.next()).await.map_err(|_| timed_out(MAX_SILENCE))?
        {
            let chunk = chunk.map_err(|_| ApiError::malformed(phrase!("the request body is incomplete")))?;
            let length = read.len() + chunk.len();
            if length as u64 > limit {
                return Err(too_large(limit));
            }
            while allowed < length {
                reserved.push(self.reading.reserve(key, STEP as u64).await?);
                allowed += STEP;
                read.reserve_exact(allowed - read.len());
            }
            read.extend_from_slice(&chunk);
        }
        Ok((read, reserved))
    }
}

/// Does the work for a body of this size, on another thread if the body is large.
async fn run_sized<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if size < SMALL {
        return work();
    }
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(ApiError::internal()))
}

fn parse(body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    if body.trim_ascii().is_empty() {
        return Err(ApiError::malformed(phrase!("the request body is empty")));
    }
    let value: Value = serde_json::from_slice(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        ApiError::malformed(phrase!(
            "the request body is not valid JSON (line {line}, column {column})",
            line,
            column
        ))
    })?;
    match value {
        Value::Object(body) => Ok(body),
        _ => Err(ApiError::malformed(phrase!("the request body is not a JSON object"))),
    }
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large(limit: u64) -> ApiError {
    ApiError::too_large(phrase!("the request body is larger than {limit} bytes", limit))
}

fn timed_out(time: Duration) -> ApiError {
    let seconds = time.as_secs();
    ApiError::new(
        408,
        ApiErrorKind::TimedOut,
        phrase!("the request body took longer than {seconds} seconds", seconds),
    )
}

/// Estimated cost of parsing a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ParseCost {
    /// Upper bound of the memory for parsing, in bytes.
    memory: usize,
    /// Maximum nesting of lists and objects.
    depth: usize,
    /// Upper bound of the additional memory of a turn, in bytes.
    turn: usize,
}

impl ParseCost {
    /// Memory of a value in a list. When the list doubles its capacity, the old and the new list exist at once.
    const ITEM: usize = 3 * size_of::<serde_json::Value>();
    /// Memory of a key, its value, and its place in the object's index.
    const ENTRY: usize = 3 * size_of::<(usize, String, serde_json::Value)>() + 64;
    /// Memory of an empty list or object, which reserves space for 4 entries.
    const CONTAINER: usize = 512;
    /// Memory of a message in a turn: as a node of the conversation, its stored form, and in the request.
    const MESSAGE: usize = 3_584;
    /// Copies of the texts in a turn: in the conversation, the store, and the request.
    const COPIES: usize = 10;

    /// Estimates the cost in one pass. Text that is not JSON gets an arbitrary estimate, and the parser rejects it.
    fn estimate(body: &[u8]) -> Self {
        let (mut in_string, mut is_escaped) = (false, false);
        let (mut items, mut entries, mut containers) = (0_usize, 0_usize, 0_usize);
        let (mut depth, mut deepest, mut objects) = (0_usize, 0_usize, 0_usize);
        for byte in body {
            if in_string {
                in_string = is_escaped || *byte != b'"';
                is_escaped = !is_escaped && *byte == b'\\';
                continue;
            }
            match byte {
                b'"' => in_string = true,
                b',' => items += 1,
                b':' => entries += 1,
                b'[' | b'{' => {
                    containers += 1;
                    // Each object may be a message.
                    objects += usize::from(*byte == b'{');
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        // Commas separate items and entries. The first item of each list has no comma.
        let items = (items + containers).saturating_sub(entries);
        let memory = body.len() + items * Self::ITEM + entries * Self::ENTRY + containers * Self::CONTAINER;
        let turn = body.len() * Self::COPIES + objects * Self::MESSAGE;
        Self { memory, depth: deepest, turn }
    }

    /// Returns the upper bound of the memory of a turn with this body, in bytes.
    fn turn_memory(self) -> usize {
        self.memory.saturating_add(self.turn).max(MIN_TURN)
    }

    /// Returns an error if parsing needs too much memory for the size of the body.
    fn check(self, size: usize) -> Result<Self, ApiError> {
        if self.depth > MAX_DEPTH {
            let text = phrase!("the request body is nested more than {limit} levels deep", limit = MAX_DEPTH);
            return Err(ApiError::too_large(text));
        }
        let limit = (MAX_GROWTH * size).max(ALWAYS_ALLOWED);
        if self.memory > limit {
            return Err(ApiError::too_large(phrase!(
                "the request body has too many values: it needs {megabytes} MB of memory, and the limit is \
                {limit} MB",
                megabytes = self.memory >> 20,
                limit = limit >> 20
            )));
        }
        Ok(self)
    }
}

/// Rejects a body that a form on another page could send without a preflight request.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let given = given.map(|value| value.split(';').next().unwrap_or_default().trim());
    if given.is_some_and(|given| given.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let text = phrase!("set the content type `application/json` (required without client keys)");
    Err(ApiError::new(415, ApiErrorKind::Malformed, text))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use ctx_types::session::Session;
    use futures_util::{FutureExt as _, stream};
    use serde_json::json;

    use super::*;
    use crate::alignment::RequestMessage;
    use crate::keys::{KeyFile, KeyLimits};
    use crate::turn_conversation::append_messages;

    fn key(name: &str) -> KeyEntry {
        let mut file = KeyFile::default();
        file.add(name, None, KeyLimits::default()).unwrap();
        file.keys.remove(0)
    }

    /// Returns a body that announces 16 MiB, sends some of its bytes, and then stalls.
    fn stalled(bytes: usize) -> (HeaderMap, Body) {
        let sent = stream::iter([Ok::<_, Infallible>(vec![b' '; bytes])]);
        let body = Body::from_stream(sent.chain(stream::pending()));
        (HeaderMap::from_iter([(header::CONTENT_LENGTH, DEFAULT_MAX_BYTES.into())]), body)
    }

    /// Checks that bodies are read while one key has many slow uploads.
    async fn check_slow(uploads: usize, bytes: usize) {
        let (reader, slow) = (BodyReader::new(DEFAULT_MAX_BYTES, Duration::from_secs(3_600)), key("slow"));
        let bodies: Vec<_> = (0..uploads).map(|_| stalled(bytes)).collect();
        let mut reading: Vec<_> = bodies
            .into_iter()
            .map(|(headers, body)| {
                let (reader, slow) = (&reader, &slow);
                Box::pin(async move { reader.read(slow, (&headers, body)).await })
            })
            .collect();
        assert!(reading.iter_mut().all(|reading| reading.now_or_never().is_none()));
        let read = |key: &KeyEntry, text: &str| {
            let body = json!({ "model": "m", "messages": [{ "role": "user", "content": text }] });
            let (reader, key) = (&reader, key.clone());
            let headers = HeaderMap::new();
            async move { reader.read(&key, (&headers, body.to_string().into())).await }
        };
        for name in ["slow", "other"] {
            assert!(read(&key(name), "hi").now_or_never().unwrap().is_ok());
        }
        assert!(read(&key("other"), &"x".repeat(12 << 20)).await.is_ok());
    }

    #[tokio::test]
    async fn slow_uploads_block_no_other_request() {
        check_slow(1_000, 1_000).await;
        // The key has its whole share, and its next uploads wait.
        check_slow(100, 2 << 20).await;
    }

    #[tokio::test]
    async fn reserves_memory_for_each_turn() {
        let reader = BodyReader {
            turns: SharedMemory::new(128 << 20, 64 << 20, Duration::ZERO),
            ..BodyReader::new(DEFAULT_MAX_BYTES, Duration::from_secs(3_600))
        };
        let read = |messages: usize| {
            let messages = vec![json!({ "role": "user", "content": "x" }); messages];
            let body = json!({ "model": "m", "messages": messages }).to_string();
            let (reader, key, headers) = (&reader, key("alice"), HeaderMap::new());
            async move { reader.read(&key, (&headers, body.into())).await }
        };
        let first = read(10_000).await.unwrap();
        assert_eq!(read(10_000).await.unwrap_err().status, 503);
        let small: Vec<_> = (0..1_000).map_while(|_| read(1_000).now_or_never()?.ok()).collect();
        assert!((1..10).contains(&small.len()), "{}", small.len());
        drop((first, small));
        assert!(read(10_000).await.is_ok());
    }

    fn read(body: &str) -> Result<ClientRequest, ApiError> {
        dialect::read(Dialect::OpenaiChat, parse(body.as_bytes())?)
    }

    /// Parses a body of chat completions. Checks that the estimates exceed the memory used.
    #[track_caller]
    fn check(body: &str) {
        let cost = ParseCost::estimate(body.as_bytes());
        let value = allocation_counter::measure(|| drop(serde_json::from_str::<Value>(body)));
        let request = allocation_counter::measure(|| drop(read(body)));
        let most = value.bytes_max.max(request.bytes_max);
        let begin: String = body.chars().take(60).collect();
        assert!(most <= cost.memory as u64, "{begin}: took {most}, estimated {}", cost.memory);
    }

    /// Checks that the estimate exceeds the memory of a new conversation, which also exists as a copy and as text while
    /// it is stored.
    #[track_caller]
    fn check_turn(messages: &[Value]) {
        let body = json!({ "model": "m", "messages": messages }).to_string();
        let estimated = ParseCost::estimate(body.as_bytes()).turn_memory();
        let turn = allocation_counter::measure(|| {
            let request = read(&body).unwrap();
            let mut session = Session::new("c");
            let mut messages: Vec<_> = request.messages.into_iter().map(RequestMessage::new).collect();
            append_messages(&mut session, None, &mut messages).unwrap();
            let copy = session.clone();
            assert!(serde_json::to_string(&copy).is_ok());
        });
        let most = turn.bytes_max;
        assert!(most <= estimated as u64, "took {most}, estimated {estimated}");
    }

    /// Returns a request with `count` items in its list `a`.
    fn with_list(item: &str, count: usize) -> String {
        let list = vec![item; count].join(",");
        format!(r#"{{"model":"m","messages":[{{"role":"user","content":"x"}}],"a":[{list}]}}"#)
    }

    #[test]
    fn estimates_at_least_the_memory_of_a_parsed_body() {
        for item in [
            "0",
            "\"\"",
            "\"some text\"",
            "[]",
            "{}",
            "[0]",
            "{\"a\":0}",
            "[[[[0]]]]",
            "{\"a\":{\"b\":{\"c\":\"d\"}}}",
        ] {
            for count in [1, 5, 1_000, 4_097, 70_000] {
                check(&with_list(item, count));
            }
        }
        let keys: Vec<String> = (0..10_000).map(|key| format!("\"{key}\":0")).collect();
        check(&with_list(&format!("{{{}}}", keys.join(",")), 1));
        let messages = vec![json!({ "role": "user", "content": "x" }); 75_000];
        check(&json!({ "model": "m", "messages": messages }).to_string());
        for content in ["hi", "several words of a message"] {
            let messages = vec![json!({ "role": "user", "content": content }); 5_000];
            check(&json!({ "model": "m", "messages": messages }).to_string());
            let parts = vec![json!({ "type": "text", "text": content }); 5_000];
            check(&json!({ "model": "m", "messages": [{ "role": "user", "content": parts }] }).to_string());
            let call =
                json!({ "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" } });
            let calls = vec![json!({ "role": "assistant", "content": content, "tool_calls": [call] }); 5_000];
            check(&json!({ "model": "m", "messages": calls }).to_string());
        }
    }

    #[test]
    fn estimates_at_least_the_memory_of_a_turn() {
        for content in ["x", "several words of a message"] {
            check_turn(&vec![json!({ "role": "user", "content": content }); 5_000]);
        }
        check_turn(&[json!({ "role": "user", "content": "long ".repeat(1 << 20) })]);
    }

    #[test]
    fn refuses_bodies_of_many_small_values() {
        let refused = |body: &str| ParseCost::estimate(body.as_bytes()).check(body.len()).is_err();
        assert!(refused(&with_list("0", 1_000_000)));
        assert!(!refused(&with_list("0", 10_000)));
        assert!(!refused(&with_list(&format!("\"{}\"", "text, [with] {marks}: \\\" ".repeat(1_000)), 500)));
        assert!(refused(&format!("{}{}", "[".repeat(129), "]".repeat(129))));
        assert!(!refused(&format!("{}{}", "[".repeat(128), "]".repeat(128))));
    }

    #[test]
    fn counts_no_marks_within_strings() {
        let plain = ParseCost::estimate(br#"["aaaaaa"]"#);
        assert_eq!(ParseCost::estimate(br#"["[{\",:"]"#), plain);
    }
}
