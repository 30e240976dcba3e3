//! Time and memory of the analysis of 10,000 requests, about 1 GB.
//!
//! 40 agents send 250 requests each. Every request repeats the earlier ones of its agent, and adds a call and its result.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it finds")]

use std::time::{Duration, Instant};

use ctx_tokens::ModelTable;
use ctx_traffic::LogAnalysis;
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const AGENTS: usize = 40;
const REQUESTS: usize = 250;
const LINE: &str = "The garden behind the house was wild when we came; nobody had cut the hedges. ";

fn main() {
    let tool = |index: usize| {
        let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
        json!({ "name": format!("tool_{index}"), "description": LINE.repeat(12), "input_schema": schema })
    };
    let tools: Vec<Value> = (0..16).map(tool).collect();
    let system = LINE.repeat(60);
    let mut analysis = LogAnalysis::new(ModelTable::builtin());
    let (mut bytes, mut spent) = (0, Duration::ZERO);
    let before = HEAP.current_usage();
    let mut peak = 0;
    for agent in 0..AGENTS {
        let mut messages = vec![json!({ "role": "user", "content": format!("Task {agent}: {LINE}") })];
        for request in 0..REQUESTS {
            let id = format!("toolu_{agent}_{request}");
            let call = json!({ "type": "tool_use", "id": id, "name": "tool_1", "input": { "path": id } });
            messages.push(json!({ "role": "assistant", "content": [call] }));
            let text = format!("Result {request} of {agent}: {}", LINE.repeat(4));
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text });
            messages.push(json!({ "role": "user", "content": [result] }));
            let mut sent = messages.clone();
            if let Some(last) = sent.last_mut() {
                last["content"][0]["cache_control"] = json!({ "type": "ephemeral" });
            }
            let body = json!({
                "model": "claude-sonnet-4-5", "system": system, "tools": tools, "messages": sent, "max_tokens": 4096,
            });
            let line = json!({ "request": body }).to_string();
            bytes += line.len();
            let start = Instant::now();
            analysis.push(&line);
            spent += start.elapsed();
            drop(sent);
            peak = peak.max(HEAP.current_usage());
        }
    }
    let start = Instant::now();
    let report = analysis.finish();
    spent += start.elapsed();
    println!(
        "{} requests, {} MB: {:.1} s, {} MB at the peak, {} breaks",
        report.requests.len(),
        bytes / 1_000_000,
        spent.as_secs_f64(),
        peak.saturating_sub(before) / 1_000_000,
        report.requests.iter().filter(|request| request.prefix_break.is_some()).count()
    );
}
