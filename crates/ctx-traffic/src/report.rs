//! What an analysis found.

use std::sync::Arc;

use ctx_tokens::Money;
use serde::{Serialize, Serializer};

use crate::change::Change;
use crate::place::Section;
use crate::usage::Usage;

/// The requests of a log, and why they cost what they did.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogReport {
    /// Every request, in the order of the log.
    pub requests: Vec<RequestReport>,
    /// Why prefixes were not reused, the most expensive first.
    pub causes: Vec<Cause>,
    /// Sums.
    pub total: LogTotal,
    /// The first 1,000 lines that hold no request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedLine>,
    /// Number of lines that hold no request.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped_count: u64,
}

/// Two requests, one after the other.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestComparison {
    /// The earlier and the later request. The later one tells what changed.
    pub requests: [RequestReport; 2],
    /// Number of equal blocks at the beginning: tools, parts of the system prompt, and of messages.
    pub shared_blocks: u64,
    /// Position in the later body of the first byte that differs, in the order in which the provider reads; `None` if
    /// nothing differs.
    pub byte: Option<u64>,
}

/// A request of a log.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestReport {
    /// Number of the request, from 1.
    pub index: u64,
    /// Number of the line, from 1.
    pub line: u64,
    /// Start, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// Requested model.
    pub model: Arc<str>,
    /// Number of the conversation, from 1.
    pub thread: u64,
    /// Number of blocks: tools, parts of the system prompt and of messages.
    pub blocks: u64,
    /// Input tokens, as the provider counted them, or else an estimate.
    pub tokens: u64,
    /// Input tokens that the cache could provide, by the provider's published rules.
    pub reused: u64,
    /// Number of the earlier request that it is compared with: the one with the longest common prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Tokens that the provider reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Reason of a cache miss that the provider reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Whether the provider refused it. Failed requests cost nothing, and are not in the sums.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_failed: bool,
    /// Why the prefix of the request before was not reused.
    #[serde(rename = "break")]
    pub prefix_break: Option<PrefixBreak>,
    /// Cost in US dollars; `None` without a price.
    #[serde(serialize_with = "write_money")]
    pub cost: Option<Money>,
    /// Whether the rules of the provider's cache are known.
    #[serde(skip)]
    pub is_known_cache: bool,
}

/// Where a request differs from an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrefixBreak {
    /// Part of the request.
    #[serde(rename = "in")]
    pub section: Section,
    /// Number of the tool, part of the system prompt, or message, from 1.
    #[serde(rename = "index")]
    pub number: Option<u32>,
    /// Number of the block in the message, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// What changed.
    pub change: Change,
    /// Name of the tool or parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Text of the earlier request around the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Text of this request around the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Tokens that were read again and would have been cached.
    pub lost: u64,
    /// What these tokens cost more than cached ones.
    #[serde(serialize_with = "write_money")]
    pub cost: Option<Money>,
}

/// A reason for cache misses.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// Part of the requests.
    #[serde(rename = "in")]
    pub section: Section,
    /// What changed.
    pub change: Change,
    /// Name of the tool or parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Number of requests.
    pub count: u64,
    /// Number of the first of them.
    pub first: u64,
    /// Tokens that were read again and would have been cached.
    pub lost: u64,
    /// What these tokens cost more than cached ones.
    #[serde(serialize_with = "write_money")]
    pub cost: Option<Money>,
}

impl Cause {
    pub(crate) fn new(found: &PrefixBreak) -> Self {
        let PrefixBreak { section, change, subject, .. } = found;
        Self {
            section: *section,
            change: *change,
            subject: subject.clone(),
            count: 0,
            first: 0,
            lost: 0,
            cost: None,
        }
    }

    pub(crate) fn add(&mut self, index: u64, found: &PrefixBreak) {
        if self.count == 0 {
            self.first = index;
        }
        self.count += 1;
        self.lost += found.lost;
        self.cost = add(self.cost, found.cost);
    }
}

/// Sums over a log.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogTotal {
    /// Number of requests.
    pub requests: u64,
    /// Input tokens.
    pub tokens: u64,
    /// Input tokens that caches could provide.
    pub reused: u64,
    /// Input tokens that caches provided, in the requests whose usage is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// All input tokens of these requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<u64>,
    /// Output tokens that providers reported.
    pub output: u64,
    /// Tokens that were read again because of a break.
    pub lost: u64,
    /// Cost of all requests with a price, in US dollars.
    #[serde(serialize_with = "write_money")]
    pub cost: Option<Money>,
    /// Part of the cost that is due to breaks, without compactions.
    #[serde(serialize_with = "write_money")]
    pub avoidable: Option<Money>,
}

impl LogTotal {
    pub(crate) fn add(&mut self, request: &RequestReport) {
        self.requests += 1;
        if request.is_failed {
            return;
        }
        self.tokens += request.tokens;
        self.reused += request.reused;
        if let Some(usage) = request.usage {
            *self.cached.get_or_insert(0) += usage.cached;
            *self.reported.get_or_insert(0) += usage.input;
            self.output += usage.output;
        }
        self.cost = add(self.cost, request.cost);
        if let Some(found) = &request.prefix_break {
            self.lost += found.lost;
            if found.change != Change::Compacted {
                self.avoidable = add(self.avoidable, found.cost);
            }
        }
    }
}

/// A line that holds no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedLine {
    /// Number of the line, from 1.
    pub line: u64,
    /// Why it was skipped.
    pub reason: SkipReason,
}

/// Why a line was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// The line is no JSON object. The last line of a log may be cut.
    NoJson,
    /// The line has no request body of a known API.
    NoRequest,
    /// The line is too long.
    TooLong,
    /// The log has more than 1,000,000 requests.
    TooMany,
}

fn add(left: Option<Money>, right: Option<Money>) -> Option<Money> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left + right),
        (left, right) => left.or(right),
    }
}

/// Writes dollars, rounded to millionths.
#[expect(clippy::ref_option, reason = "as serde calls it")]
fn write_money<S: Serializer>(amount: &Option<Money>, serializer: S) -> Result<S::Ok, S::Error> {
    match amount {
        Some(amount) => serializer.serialize_f64((amount.dollars() * 1e6).round() / 1e6),
        None => serializer.serialize_none(),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
