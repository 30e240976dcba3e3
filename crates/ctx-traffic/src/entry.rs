//! Lines of a request log.

use ctx_wire::Dialect;
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::blocks::{RawMap, Unreadable, value};
use crate::usage::Usage;

/// A line of a log: a request, and what is known of its response.
#[derive(Debug, Default)]
pub(crate) struct LogLine<'a> {
    pub(crate) body: &'a str,
    pub(crate) dialect: Option<Dialect>,
    /// Model in the address of the request; only Gemini names it there.
    pub(crate) model: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) thread: Option<String>,
    /// Start of the request, in milliseconds since 1970.
    pub(crate) at: Option<i64>,
    /// Start of the response, in milliseconds since 1970.
    pub(crate) answered: Option<i64>,
    pub(crate) usage: Option<Usage>,
    /// Why the provider says that it missed the cache.
    pub(crate) verdict: Option<String>,
    /// Whether the provider refused the request.
    pub(crate) is_failed: bool,
}

impl<'a> LogLine<'a> {
    /// Reads a line: an object with `request` or `body`, or a body.
    pub(crate) fn read(line: &'a str) -> Result<Self, Unreadable> {
        let map: RawMap<'a> = serde_json::from_str(line).map_err(|_| Unreadable::NoJson)?;
        let is_object = |raw: &&&RawValue| raw.get().starts_with('{');
        let request = map.get("request").or_else(|| map.get("body"));
        let Some(request) = request.filter(is_object).copied() else {
            let is_body =
                ["messages", "input", "contents", "prompt"].iter().any(|key| map.contains_key(*key));
            return if is_body {
                Ok(Self { body: line, ..Self::default() })
            } else {
                Err(Unreadable::NoRequest)
            };
        };
        // A request may be wrapped with its headers.
        let inner: RawMap<'a> = serde_json::from_str(request.get()).map_err(|_| Unreadable::NoJson)?;
        let body = inner.get("body").filter(is_object).copied().unwrap_or(request).get();
        let text = |key: &str| map.get(key).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        let path = text("path").or_else(|| text("url")).unwrap_or_default();
        let at = ["at", "timestamp"].iter().find_map(|key| read_time(map.get(*key)?));
        let first_ms = map.get("first_ms").and_then(|raw| raw.get().parse::<i64>().ok());
        let response = map.get("response").map(|raw| value(raw));
        let usage = map.get("usage").map(|raw| value(raw));
        let usage = usage.as_ref().or_else(|| usage_of(response.as_ref()?)).and_then(Usage::read);
        let status = map.get("status").and_then(|raw| raw.get().parse::<u16>().ok());
        let error = response.as_ref().and_then(|response| response.get("error"));
        let pointer = |path: &str| response.as_ref()?.pointer(path)?.as_str().map(str::to_owned);
        let verdicts = [
            "/diagnostics/cache_miss_reason/type",
            "/diagnostics/cache_miss_reason",
            "/prompt_cache_diagnostics/reason",
        ];
        Ok(Self {
            body,
            dialect: text("api").and_then(|name| Dialect::parse(&name)).or_else(|| dialect_of(&path)),
            model: path
                .split("/models/")
                .nth(1)
                .and_then(|rest| rest.split([':', '?']).next())
                .map(str::to_owned),
            host: text("host"),
            thread: text("thread"),
            at,
            answered: at.map(|at| at.saturating_add(first_ms.unwrap_or(0))),
            usage,
            verdict: verdicts.iter().find_map(|path| pointer(path)),
            is_failed: status.is_some_and(|status| status >= 400)
                || error.is_some_and(|error| !error.is_null()),
        })
    }
}

/// Reads a time: RFC 3339, or seconds or milliseconds since 1970.
fn read_time(raw: &RawValue) -> Option<i64> {
    match value(raw) {
        Value::String(text) => text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond),
        Value::Number(number) => {
            let number = number.as_f64().filter(|number| (0.0..1e14).contains(number))?;
            #[expect(clippy::cast_possible_truncation, reason = "the range is checked above")]
            Some(if number < 1e11 { number * 1000.0 } else { number }.round() as i64)
        }
        _ => None,
    }
}

fn usage_of(response: &Value) -> Option<&Value> {
    response.get("usage").or_else(|| response.get("usageMetadata"))
}

/// Returns the dialect of an address.
fn dialect_of(path: &str) -> Option<Dialect> {
    let path = path.split('?').next().unwrap_or_default();
    if path.ends_with("/chat/completions") {
        Some(Dialect::OpenaiChat)
    } else if path.ends_with("/responses") {
        Some(Dialect::OpenaiResponses)
    } else if path.ends_with("/messages") {
        Some(Dialect::Anthropic)
    } else if path.contains("enerateContent") {
        Some(Dialect::Gemini)
    } else if path.ends_with("/completions") {
        Some(Dialect::Completion)
    } else {
        None
    }
}
