//! JSON types of request logs: costs and cache misses.

use ctx_tokens::Money;
use ctx_traffic::{BlockExcerpt, LogReport, PrefixBreak, RequestPair, RequestReport, Section, SkipReason};
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of requests in a response.
const MAX_REQUESTS: usize = 20_000;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;

/// Response of GET `logs`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogList {
    pub(crate) logs: Vec<LogFile>,
    /// Whether there are more logs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
}

/// A log: a file, or the files of a folder.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LogFile {
    pub(crate) id: String,
    /// Path in the project. That of a folder ends in `/`.
    pub(crate) path: String,
    pub(crate) bytes: u64,
}

/// Response of GET `logs/{f}` and POST `log`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogView {
    /// The first 20,000 requests.
    pub(crate) requests: Vec<LogRequest>,
    /// Causes of cache misses, the most expensive first.
    pub(crate) causes: Vec<LogCause>,
    pub(crate) total: LogSums,
    /// Number of lines without a request.
    pub(crate) skipped: u64,
    /// The first of these lines, and the reason: `no-json`, `no-request`, `too-long` or `too-many`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_skipped: Option<SkippedView>,
}

/// A request of a log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogRequest {
    /// From 1.
    pub(crate) index: u64,
    /// Number of the line, from 1.
    pub(crate) line: u64,
    /// Line of the earlier request with the longest common prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<u64>,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<i64>,
    pub(crate) model: String,
    /// Input tokens.
    pub(crate) tokens: u64,
    /// Input tokens that the cache could provide. Missing if the rules of the provider are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reused: Option<u64>,
    /// Input tokens that the cache provided, by the provider's count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cached: Option<u64>,
    /// US dollars. Missing without a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    #[serde(rename = "break", skip_serializing_if = "Option::is_none")]
    pub(crate) prefix_break: Option<LogBreak>,
}

/// Where a request differs from the previous one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LogBreak {
    /// `model`, `parameters`, `tools`, `system` or `messages`.
    #[serde(rename = "in")]
    pub(crate) section: &'static str,
    /// Number of the tool, system part or message, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<u32>,
    /// Type of the change, as in `ctx diff --json`.
    pub(crate) change: &'static str,
    /// Name of the tool or parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    /// Tokens read again.
    pub(crate) lost: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
}

/// A cause of cache misses.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LogCause {
    #[serde(rename = "in")]
    pub(crate) section: &'static str,
    pub(crate) change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    /// Number of requests.
    pub(crate) count: u64,
    pub(crate) lost: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
}

/// Sums over a log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LogSums {
    pub(crate) requests: u64,
    pub(crate) tokens: u64,
    pub(crate) reused: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cached: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    /// Part of the cost that is due to cache misses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) avoidable: Option<f64>,
}

/// A line without a request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SkippedView {
    pub(crate) line: u64,
    pub(crate) reason: &'static str,
}

/// Response of GET `logs/{f}/pair` and POST `log/pair`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LogPair {
    /// Number of equal blocks at the beginning.
    pub(crate) shared: u64,
    /// Number of blocks of the later request.
    pub(crate) blocks: u64,
    /// Position of the first different byte in the later request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) byte: Option<u64>,
    #[serde(rename = "break", skip_serializing_if = "Option::is_none")]
    pub(crate) prefix_break: Option<LogBreak>,
    /// Blocks of the earlier request around the first difference.
    pub(crate) before: Vec<LogBlock>,
    /// Blocks of the later request.
    pub(crate) after: Vec<LogBlock>,
}

/// A block of a request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogBlock {
    #[serde(rename = "in")]
    pub(crate) section: &'static str,
    pub(crate) number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) tokens: u32,
    pub(crate) is_shared: bool,
    /// Truncated texts have a `…`.
    pub(crate) text: String,
}

impl LogView {
    pub(crate) fn new(report: &LogReport) -> Self {
        let line_of = |number: u64| {
            let index = usize::try_from(number).ok()?.checked_sub(1)?;
            Some(report.requests.get(index)?.line)
        };
        let requests = report.requests.iter().take(MAX_REQUESTS);
        let requests = requests.map(|request| LogRequest::new(request, request.before.and_then(line_of)));
        let causes = report.causes.iter().map(|cause| LogCause {
            section: section_name(cause.section),
            change: cause.change.name(),
            subject: cause.subject.as_deref().map(shorten),
            count: cause.count,
            lost: cause.lost,
            cost: cause.cost.map(dollars),
        });
        let total = report.total;
        Self {
            requests: requests.collect(),
            causes: causes.collect(),
            total: LogSums {
                requests: total.requests,
                tokens: total.tokens,
                reused: total.reused,
                cached: total.cached,
                cost: total.cost.map(dollars),
                avoidable: total.avoidable.map(dollars),
            },
            skipped: report.skipped_count,
            first_skipped: report
                .skipped
                .first()
                .map(|skipped| SkippedView { line: skipped.line, reason: reason_name(skipped.reason) }),
        }
    }
}

impl LogRequest {
    fn new(request: &RequestReport, before: Option<u64>) -> Self {
        Self {
            index: request.index,
            line: request.line,
            before,
            at: request.at,
            model: shorten(&request.model),
            tokens: request.tokens,
            reused: request.is_known_cache.then_some(request.reused),
            cached: request.usage.map(|usage| usage.cached),
            cost: request.cost.map(dollars),
            prefix_break: request.prefix_break.as_ref().map(LogBreak::new),
        }
    }
}

impl LogBreak {
    fn new(found: &PrefixBreak) -> Self {
        Self {
            section: section_name(found.section),
            number: found.number,
            change: found.change.name(),
            subject: found.subject.as_deref().map(shorten),
            lost: found.lost,
            cost: found.cost.map(dollars),
        }
    }
}

impl LogPair {
    pub(crate) fn new(pair: &RequestPair) -> Self {
        let [_, later] = &pair.comparison.requests;
        let [before, after] = &pair.blocks;
        Self {
            shared: pair.comparison.shared_blocks,
            blocks: later.blocks,
            byte: pair.comparison.byte,
            prefix_break: later.prefix_break.as_ref().map(LogBreak::new),
            before: before.iter().map(LogBlock::new).collect(),
            after: after.iter().map(LogBlock::new).collect(),
        }
    }
}

impl LogBlock {
    fn new(block: &BlockExcerpt) -> Self {
        let ellipsis = |is_cut| if is_cut { "…" } else { "" };
        let (start, end) = (ellipsis(block.is_cut_before), ellipsis(block.is_cut_after));
        Self {
            section: section_name(block.place.section()),
            number: block.place.number(),
            name: block.name.as_deref().map(shorten),
            tokens: block.tokens,
            is_shared: block.is_shared,
            text: format!("{start}{}{end}", block.text),
        }
    }
}

/// Returns the name in `ctx diff --json`.
const fn section_name(section: Section) -> &'static str {
    match section {
        Section::Model => "model",
        Section::Parameters => "parameters",
        Section::Tools => "tools",
        Section::System => "system",
        Section::Messages => "messages",
    }
}

const fn reason_name(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::NoJson => "no-json",
        SkipReason::NoRequest => "no-request",
        SkipReason::TooLong => "too-long",
        SkipReason::TooMany => "too-many",
    }
}

/// Truncates a name. Names in a log can have any length.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Rounds to millionths.
fn dollars(amount: Money) -> f64 {
    (amount.dollars() * 1e6).round() / 1e6
}
