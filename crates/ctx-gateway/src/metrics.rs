//! Metrics for Prometheus.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ctx_wire::{Dialect, ReplyUsage};

use crate::gateway::Server;
use crate::shared_prefix::SharedPrefix;

/// Upper bounds of the histogram buckets, in milliseconds.
const BUCKETS: [u64; 10] = [1, 2, 5, 10, 25, 50, 100, 250, 1_000, 5_000];

/// Metrics since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: [[AtomicU64; 6]; 5],
    pub(crate) open_turns: AtomicU64,
    pub(crate) open_streams: AtomicU64,
    failed_turns: AtomicU64,
    input_tokens: AtomicU64,
    cached_tokens: AtomicU64,
    output_tokens: AtomicU64,
    prompt_tokens: AtomicU64,
    shared_prefix_tokens: AtomicU64,
    /// Histogram of the time until the first provider request.
    ready: [AtomicU64; BUCKETS.len() + 1],
    ready_micros: AtomicU64,
}

impl Metrics {
    /// Counts a response.
    pub(crate) fn count_response(&self, dialect: Dialect, status: u16) {
        let row = Dialect::ALL.iter().position(|known| *known == dialect).unwrap_or(0);
        let class = usize::from(status / 100).min(5);
        add(&self.requests[row][class], 1);
    }

    /// Counts the end of a turn.
    pub(crate) fn count_turn(&self, usage: ReplyUsage, has_failed: bool) {
        add(&self.input_tokens, usage.input);
        add(&self.cached_tokens, usage.cached.unwrap_or(0));
        add(&self.output_tokens, usage.output);
        add(&self.failed_turns, u64::from(has_failed));
    }

    /// Counts the tokens of a request, and of the prefix that repeats the previous one.
    pub(crate) fn count_shared_prefix(&self, prefix: SharedPrefix) {
        add(&self.prompt_tokens, prefix.total);
        add(&self.shared_prefix_tokens, prefix.shared);
    }

    /// Records the time until the first provider request.
    pub(crate) fn record_ready_time(&self, took: Duration) {
        let millis = took.as_secs_f64() * 1_000.0;
        #[expect(clippy::cast_precision_loss, reason = "the ends of the buckets are small")]
        let bucket = BUCKETS.iter().position(|end| millis <= *end as f64).unwrap_or(BUCKETS.len());
        add(&self.ready[bucket], 1);
        add(&self.ready_micros, u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// Writes all metrics in the text format of Prometheus.
    pub(crate) fn to_text(&self) -> String {
        let mut lines = vec![
            "# HELP ctx_requests_total Responses by API dialect and status class.".to_owned(),
            "# TYPE ctx_requests_total counter".to_owned(),
        ];
        for (dialect, row) in Dialect::ALL.iter().zip(&self.requests) {
            for (class, count) in row.iter().enumerate() {
                let count = get(count);
                if count > 0 {
                    lines.push(format!(
                        "ctx_requests_total{{dialect=\"{dialect}\",status=\"{class}xx\"}} {count}"
                    ));
                }
            }
        }
        let single = [
            ("ctx_turns_open", "gauge", "Running turns.", &self.open_turns),
            ("ctx_streams_open", "gauge", "Open response streams.", &self.open_streams),
            ("ctx_turns_failed_total", "counter", "Failed turns.", &self.failed_turns),
            ("ctx_input_tokens_total", "counter", "Input tokens reported by providers.", &self.input_tokens),
            (
                "ctx_cached_tokens_total",
                "counter",
                "Cached input tokens reported by providers.",
                &self.cached_tokens,
            ),
            (
                "ctx_output_tokens_total",
                "counter",
                "Output tokens reported by providers.",
                &self.output_tokens,
            ),
            (
                "ctx_prompt_tokens_total",
                "counter",
                "Tokens of answered requests, counted by the gateway.",
                &self.prompt_tokens,
            ),
            (
                "ctx_shared_prefix_tokens_total",
                "counter",
                "Part of ctx_prompt_tokens_total that repeats the previous request of its conversation.",
                &self.shared_prefix_tokens,
            ),
        ];
        for (name, kind, help, value) in single {
            lines.push(format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {}", get(value)));
        }
        self.write_ready(&mut lines);
        lines.push(String::new());
        lines.join("\n")
    }

    fn write_ready(&self, lines: &mut Vec<String>) {
        let name = "ctx_ready_seconds";
        lines.push(format!(
            "# HELP {name} Time from receiving a request to sending the first provider request."
        ));
        lines.push(format!("# TYPE {name} histogram"));
        let mut sum = 0;
        for (count, end) in self.ready.iter().zip(BUCKETS) {
            sum += get(count);
            let end = Duration::from_millis(end).as_secs_f64();
            lines.push(format!("{name}_bucket{{le=\"{end}\"}} {sum}"));
        }
        sum += self.ready.last().map_or(0, get);
        let total = Duration::from_micros(get(&self.ready_micros)).as_secs_f64();
        lines.push(format!("{name}_bucket{{le=\"+Inf\"}} {sum}\n{name}_sum {total}\n{name}_count {sum}"));
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Increments a gauge until it is dropped.
#[derive(Debug)]
pub(crate) struct GaugeGuard {
    server: Arc<Server>,
    gauge: fn(&Metrics) -> &AtomicU64,
}

impl GaugeGuard {
    pub(crate) fn new(server: Arc<Server>, gauge: fn(&Metrics) -> &AtomicU64) -> Self {
        add(gauge(&server.metrics), 1);
        Self { server, gauge }
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        (self.gauge)(&self.server.metrics).fetch_sub(1, Ordering::Relaxed);
    }
}
