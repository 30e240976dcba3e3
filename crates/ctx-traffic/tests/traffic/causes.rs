//! A session of 40 requests with five planted causes of cache misses.

use std::fmt::Write as _;

use ctx_tokens::ModelTable;
use ctx_traffic::{LogAnalysis, LogReport};
use serde_json::{Value, json};

/// An agent that calls a tool in each request.
struct Agent {
    model: &'static str,
    clock: &'static str,
    tools: Vec<Value>,
    messages: Vec<Value>,
}

const LONG: &str =
    "The harbor has three piers, and each of them has seventeen lamps that are lit before dusk. ";

impl Agent {
    fn new() -> Self {
        let tool = |name: &str| {
            let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
            json!({ "name": name, "description": LONG.repeat(4), "input_schema": schema })
        };
        let tools = ["read_file", "write_file", "search", "run"].map(tool).to_vec();
        let messages = vec![json!({ "role": "user", "content": "Which lamps are broken?" })];
        Self { model: "claude-sonnet-4-5", clock: "10:15", tools, messages }
    }

    /// Adds a reply with a tool call, and its result.
    fn step(&mut self, number: usize) {
        let id = format!("toolu_{number}");
        let call = json!({ "type": "tool_use", "id": id, "name": "read_file", "input": { "path": format!("/lamps/{number}") } });
        let text = format!("Lamp {number}: {}", LONG.repeat(6));
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text });
        self.messages.push(json!({ "role": "assistant", "content": [call] }));
        self.messages.push(json!({ "role": "user", "content": [result] }));
    }

    /// Returns the body, with the marks that clients set: the end of the system prompt and of the last message.
    fn body(&self) -> Value {
        let mark = json!({ "type": "ephemeral" });
        let system = json!([
            { "type": "text", "text": LONG.repeat(30) },
            { "type": "text", "text": format!("The time is {}.", self.clock), "cache_control": mark },
        ]);
        let mut messages = self.messages.clone();
        let last = messages.last_mut().unwrap();
        if let Value::Array(blocks) = &mut last["content"] {
            blocks.last_mut().unwrap()["cache_control"] = mark;
        }
        json!({ "model": self.model, "max_tokens": 4096, "tools": self.tools, "system": system, "messages": messages })
    }
}

fn report() -> LogReport {
    let mut agent = Agent::new();
    let mut analysis = LogAnalysis::new(ModelTable::builtin());
    for request in 1..=40 {
        match request {
            9 => agent.clock = "10:16",
            16 => agent.tools.swap(1, 2),
            23 => {
                for message in &mut agent.messages[2..=8] {
                    if let Some(result) = message.pointer_mut("/content/0/content") {
                        *result = json!("[Old tool result content cleared]");
                    }
                }
            }
            30 => agent.messages[0]["content"] = json!("Which lamps are broken or dim?"),
            36 => agent.model = "claude-opus-4-5",
            _ => {}
        }
        let second = request / 60;
        let line = json!({ "at": format!("2026-11-29T10:{:02}:{second:02}Z", request % 60), "request": agent.body() });
        analysis.push(&line.to_string());
        agent.step(request);
    }
    analysis.finish()
}

#[test]
fn names_each_planted_cause_and_nothing_else() {
    let report = report();
    let mut found = String::new();
    for request in &report.requests {
        let Some(cause) = &request.prefix_break else { continue };
        let place = json!(cause.section);
        let place = place.as_str().unwrap();
        writeln!(
            found,
            "request {}: {place} {:?} {}, {} of {} tokens, {}",
            request.index,
            cause.number,
            cause.change.name(),
            cause.lost,
            request.tokens,
            cause.cost.unwrap()
        )
        .unwrap();
    }
    insta::assert_snapshot!(found, @"
    request 9: system Some(2) clock, 2103 of 2256 tokens, $0.0073
    request 16: tools Some(2) reordered, 3174 of 3327 tokens, $0.0110
    request 23: messages Some(3) tool-result-rewritten, 2899 of 3926 tokens, $0.0100
    request 30: messages Some(1) edited, 3817 of 4999 tokens, $0.0132
    request 36: model None switched, 5764 of 5917 tokens, $0.0331
    ");
}

#[test]
fn reports_a_log_as_json() {
    let value = json!(report());
    let shown = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    insta::assert_snapshot!(shown(&value["requests"][8]), @r#"
    {
      "index": 9,
      "line": 9,
      "at": 1795946940000,
      "model": "claude-sonnet-4-5",
      "thread": 1,
      "blocks": 23,
      "tokens": 2256,
      "reused": 0,
      "before": 8,
      "break": {
        "in": "system",
        "index": 2,
        "change": "clock",
        "before": "The time is 10:15.",
        "after": "The time is 10:16.",
        "lost": 2103,
        "cost": 0.007255
      },
      "cost": 0.00846
    }
    "#);
    insta::assert_snapshot!(shown(&value["causes"][0]), @r#"
    {
      "in": "model",
      "change": "switched",
      "count": 1,
      "first": 36,
      "lost": 5764,
      "cost": 0.033143
    }
    "#);
    insta::assert_snapshot!(shown(&value["total"]), @r#"
    {
      "requests": 40,
      "tokens": 152146,
      "reused": 127536,
      "output": 0,
      "lost": 17757,
      "cost": 0.151784,
      "avoidable": 0.074519
    }
    "#);
}

#[test]
fn limits_reported_tokens() {
    let mut analysis = LogAnalysis::new(ModelTable::builtin());
    let usage =
        json!({ "input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX, "output_tokens": u64::MAX });
    for _ in 0..3 {
        analysis.push(&json!({ "request": Agent::new().body(), "usage": usage }).to_string());
    }
    assert_eq!(analysis.finish().total.tokens, 6_000_000_000);
}

#[test]
fn failed_requests_cost_nothing() {
    let mut analysis = LogAnalysis::new(ModelTable::builtin());
    let mut agent = Agent::new();
    analysis.push(&json!({ "request": agent.body() }).to_string());
    agent.clock = "10:16";
    analysis.push(
        &json!({ "request": agent.body(), "status": 529, "response": { "type": "error" } }).to_string(),
    );
    agent.clock = "10:15";
    let verdict = json!({ "diagnostics": { "cache_miss_reason": { "type": "system_changed" } } });
    agent.step(1);
    analysis.push(&json!({ "request": agent.body(), "status": 200, "response": verdict }).to_string());
    let report = analysis.finish();
    let [first, failed, last] = &*report.requests else { panic!("three requests") };
    assert!(failed.is_failed && failed.cost.is_none() && failed.prefix_break.is_none());
    assert_eq!(report.total.tokens, first.tokens + last.tokens);
    assert_eq!((last.before, &last.prefix_break), (Some(1), &None));
    assert_eq!(last.verdict.as_deref(), Some("system_changed"));
}
