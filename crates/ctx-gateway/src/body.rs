//! Reading and parsing of request bodies, with limits on size, time and memory.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use ctx_types::phrase;
use ctx_wire::Dialect;
use futures_util::StreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::dialect::{self, Asked};
use crate::refusal::{Kind, Refusal};

/// The default limit of a body, in bytes: 16 MiB.
pub(crate) const DEFAULT_MAX_BYTES: u64 = 16 << 20;

/// Nesting of lists and objects in a body, which is also the limit of `serde_json`.
const MAX_DEPTH: usize = 128;

/// Memory that a parsed body may take, as a multiple of its size.
const MAX_GROWTH: usize = 8;

/// Memory that any parsed body may take, in bytes. Short messages take more than [`MAX_GROWTH`] times their size: this is
/// enough for 40,000 of them.
const ALWAYS_ALLOWED: usize = 64 << 20;

/// Bytes of all bodies that are read at once, in KiB: 256 MiB.
const MAX_READING: u32 = 256 << 10;

/// Estimated memory of all bodies that are parsed at once, in KiB: 384 MiB.
const MAX_PARSING: u32 = 384 << 10;

/// Bodies below this size are parsed without a change of threads.
const SMALL: usize = 64 << 10;

/// Reads request bodies. All requests share one reader.
#[derive(Debug)]
pub(crate) struct BodyReader {
    max_bytes: u64,
    time: Duration,
    reading: Arc<Semaphore>,
    parsing: Arc<Semaphore>,
}

impl BodyReader {
    /// Makes a reader of bodies of up to `max_bytes`, each of which may take up to `time` to arrive.
    pub(crate) fn new(max_bytes: u64, time: Duration) -> Self {
        Self {
            max_bytes,
            time,
            reading: Arc::new(Semaphore::new(MAX_READING as usize)),
            parsing: Arc::new(Semaphore::new(MAX_PARSING as usize)),
        }
    }

    /// Reads and parses the body of a request; `key_limit` is the limit of the client's key, in bytes.
    pub(crate) async fn read(
        &self,
        dialect: Dialect,
        (headers, body): (&HeaderMap, Body),
        key_limit: Option<u64>,
    ) -> Result<Asked, Refusal> {
        let limit = key_limit.unwrap_or(self.max_bytes).min(self.max_bytes);
        let length = content_length(headers);
        if length.is_some_and(|length| length > limit) {
            return Err(too_large(limit));
        }
        let reading = async {
            let _permit = reserve(&self.reading, MAX_READING, length.unwrap_or(limit)).await?;
            let body = collect(body, limit).await?;
            let cost = ParseCost::of(&body).check(body.len())?;
            let permit = reserve(&self.parsing, MAX_PARSING, cost as u64).await?;
            Ok::<_, Refusal>((permit, body))
        };
        let late = |_| {
            let seconds = self.time.as_secs();
            Refusal::new(408, Kind::TimedOut, phrase!("the body took longer than {seconds} seconds", seconds))
        };
        let (permit, body) = timeout(self.time, reading).await.map_err(late)??;
        if body.len() < SMALL {
            return dialect::read(dialect, &body);
        }
        let parse = move || {
            let asked = dialect::read(dialect, &body);
            drop(permit);
            asked
        };
        tokio::task::spawn_blocking(parse).await.unwrap_or_else(|_| Err(Refusal::internal()))
    }
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large(limit: u64) -> Refusal {
    Refusal::too_large(phrase!("the body is larger than {limit} bytes", limit))
}

/// Waits for a share of the memory that all requests may take together.
async fn reserve(memory: &Arc<Semaphore>, all: u32, bytes: u64) -> Result<OwnedSemaphorePermit, Refusal> {
    let share = u32::try_from(bytes >> 10).unwrap_or(all).clamp(1, all);
    memory.clone().acquire_many_owned(share).await.map_err(|_| Refusal::internal())
}

async fn collect(body: Body, limit: u64) -> Result<Bytes, Refusal> {
    let (mut read, mut chunks) = (Vec::new(), body.into_data_stream());
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Refusal::malformed(phrase!("the body ended early")))?;
        if (read.len() + chunk.len()) as u64 > limit {
            return Err(too_large(limit));
        }
        read.extend_from_slice(&chunk);
    }
    Ok(read.into())
}

/// What it takes to parse a body, counted in its bytes without parsing it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ParseCost {
    /// Upper bound of the memory while it is parsed, in bytes.
    memory: usize,
    /// Nesting of lists and objects.
    depth: usize,
}

impl ParseCost {
    /// Memory of a value in a list: the list doubles its capacity, and the old and the new one exist at once.
    const ITEM: usize = 3 * size_of::<serde_json::Value>();
    /// Memory of a key and its value, and of the key in the index of its object.
    const ENTRY: usize = 3 * size_of::<(usize, String, serde_json::Value)>() + 64;
    /// Memory of a list or object without its content, which has space for four entries at once.
    const CONTAINER: usize = 512;

    /// Counts linearly, in one pass. Text that is not JSON gets some result; the parser refuses it.
    fn of(body: &[u8]) -> Self {
        let (mut in_string, mut is_escaped) = (false, false);
        let (mut items, mut entries, mut containers) = (0_usize, 0_usize, 0_usize);
        let (mut depth, mut deepest) = (0_usize, 0_usize);
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
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        // A comma stands between two items or two entries, and the first one of each list has none.
        let items = (items + containers).saturating_sub(entries);
        let memory = body.len() + items * Self::ITEM + entries * Self::ENTRY + containers * Self::CONTAINER;
        Self { memory, depth: deepest }
    }

    /// Returns the memory of a body of this size, or refuses it.
    fn check(self, size: usize) -> Result<usize, Refusal> {
        if self.depth > MAX_DEPTH {
            let text = phrase!("the body has more than {limit} nested lists and objects", limit = MAX_DEPTH);
            return Err(Refusal::too_large(text));
        }
        let limit = (MAX_GROWTH * size).max(ALWAYS_ALLOWED);
        if self.memory > limit {
            return Err(Refusal::too_large(phrase!(
                "the body has too many small values: parsed it would take {megabytes} MB of memory, and {limit} MB are allowed for its size",
                megabytes = self.memory >> 20,
                limit = limit >> 20
            )));
        }
        Ok(self.memory)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Parses a body as chat completions, and checks that the estimate is above the memory that it took.
    #[track_caller]
    fn check(body: &str) {
        let cost = ParseCost::of(body.as_bytes());
        let value = allocation_counter::measure(|| drop(serde_json::from_str::<Value>(body)));
        let asked = allocation_counter::measure(|| drop(dialect::read(Dialect::OpenaiChat, body.as_bytes())));
        let most = value.bytes_max.max(asked.bytes_max);
        let begin: String = body.chars().take(60).collect();
        assert!(most <= cost.memory as u64, "{begin}: took {most}, estimated {}", cost.memory);
    }

    /// Makes a request with `count` items in its list `a`.
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
    fn refuses_bodies_of_many_small_values() {
        let refused = |body: &str| ParseCost::of(body.as_bytes()).check(body.len()).is_err();
        assert!(refused(&with_list("0", 1_000_000)));
        assert!(!refused(&with_list("0", 10_000)));
        assert!(!refused(&with_list(&format!("\"{}\"", "text, [with] {marks}: \\\" ".repeat(1_000)), 500)));
        assert!(refused(&format!("{}{}", "[".repeat(129), "]".repeat(129))));
        assert!(!refused(&format!("{}{}", "[".repeat(128), "]".repeat(128))));
    }

    #[test]
    fn counts_no_marks_within_strings() {
        let plain = ParseCost::of(br#"["aaaaaa"]"#);
        assert_eq!(ParseCost::of(br#"["[{\",:"]"#), plain);
    }
}
