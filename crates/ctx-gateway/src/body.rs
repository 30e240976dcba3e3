//! Reads and parses request bodies, with limits on size, time, and memory.

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

/// Default size limit of a body, in bytes: 16 MiB.
pub(crate) const DEFAULT_MAX_BYTES: u64 = 16 << 20;

/// Maximum nesting of lists and objects, which equals the limit of `serde_json`.
const MAX_DEPTH: usize = 128;

/// Maximum memory of a parsed body, as a multiple of its size.
const MAX_GROWTH: usize = 8;

/// Memory that every parsed body may use, in bytes. Short messages use more than [`MAX_GROWTH`] times their size.
/// This is enough for 40,000 of them.
const ALWAYS_ALLOWED: usize = 64 << 20;

/// Maximum size of all bodies that are being read, in KiB: 256 MiB.
const MAX_READING: u32 = 256 << 10;

/// Maximum estimated memory of all bodies that are being parsed, in KiB: 384 MiB.
const MAX_PARSING: u32 = 384 << 10;

/// Size below which a body is parsed on the current thread.
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
    /// Creates a reader for bodies of up to `max_bytes`. Each body must arrive within `time`.
    pub(crate) fn new(max_bytes: u64, time: Duration) -> Self {
        Self {
            max_bytes,
            time,
            reading: Arc::new(Semaphore::new(MAX_READING as usize)),
            parsing: Arc::new(Semaphore::new(MAX_PARSING as usize)),
        }
    }

    /// Reads and parses the body of a request. `key_limit` is the limit of the client's key, in bytes.
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
            Refusal::new(
                408,
                Kind::TimedOut,
                phrase!("the request body took longer than {seconds} seconds", seconds),
            )
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
    Refusal::too_large(phrase!("the request body is larger than {limit} bytes", limit))
}

/// Waits for a share of the memory of all requests.
async fn reserve(memory: &Arc<Semaphore>, all: u32, bytes: u64) -> Result<OwnedSemaphorePermit, Refusal> {
    let share = u32::try_from(bytes >> 10).unwrap_or(all).clamp(1, all);
    memory.clone().acquire_many_owned(share).await.map_err(|_| Refusal::internal())
}

async fn collect(body: Body, limit: u64) -> Result<Bytes, Refusal> {
    let (mut read, mut chunks) = (Vec::new(), body.into_data_stream());
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Refusal::malformed(phrase!("the request body is incomplete")))?;
        if (read.len() + chunk.len()) as u64 > limit {
            return Err(too_large(limit));
        }
        read.extend_from_slice(&chunk);
    }
    Ok(read.into())
}

/// Estimated cost of parsing a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ParseCost {
    /// Upper bound of the memory for parsing, in bytes.
    memory: usize,
    /// Maximum nesting of lists and objects.
    depth: usize,
}

impl ParseCost {
    /// Memory of a value in a list. When the list doubles its capacity, the old and the new list exist at once.
    const ITEM: usize = 3 * size_of::<serde_json::Value>();
    /// Memory of a key, its value, and its place in the object's index.
    const ENTRY: usize = 3 * size_of::<(usize, String, serde_json::Value)>() + 64;
    /// Memory of an empty list or object, which reserves space for 4 entries.
    const CONTAINER: usize = 512;

    /// Estimates the cost in one pass. Text that is not JSON gets an arbitrary estimate, and the parser rejects it.
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
        // Commas separate items and entries. The first item of each list has no comma.
        let items = (items + containers).saturating_sub(entries);
        let memory = body.len() + items * Self::ITEM + entries * Self::ENTRY + containers * Self::CONTAINER;
        Self { memory, depth: deepest }
    }

    /// Returns the memory of a body of this size, or an error if the body needs too much.
    fn check(self, size: usize) -> Result<usize, Refusal> {
        if self.depth > MAX_DEPTH {
            let text = phrase!("the request body is nested more than {limit} levels deep", limit = MAX_DEPTH);
            return Err(Refusal::too_large(text));
        }
        let limit = (MAX_GROWTH * size).max(ALWAYS_ALLOWED);
        if self.memory > limit {
            return Err(Refusal::too_large(phrase!(
                "the request body has too many values: it needs {megabytes} MB of memory, and the limit is \
                {limit} MB",
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

    /// Parses a body of chat completions. Checks that the estimate exceeds the memory used.
    #[track_caller]
    fn check(body: &str) {
        let cost = ParseCost::of(body.as_bytes());
        let value = allocation_counter::measure(|| drop(serde_json::from_str::<Value>(body)));
        let asked = allocation_counter::measure(|| drop(dialect::read(Dialect::OpenaiChat, body.as_bytes())));
        let most = value.bytes_max.max(asked.bytes_max);
        let begin: String = body.chars().take(60).collect();
        assert!(most <= cost.memory as u64, "{begin}: took {most}, estimated {}", cost.memory);
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
