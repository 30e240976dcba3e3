//! How fast request bodies are made, beside `serde_json` writing the same value.
//!
//! An encoder begins with messages, and reads, checks and writes them; `serde_json` begins with the finished value,
//! which somebody has made before and whose making is not measured. What an allocator takes to free the results is
//! left out everywhere.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctx_types::ports::Asset;
use ctx_types::{Attachment, Message, Role, Source, ToolCall};
use ctx_wire::{Dialect, Request};
use serde_json::{Map, Value, json};

/// How many messages a conversation has.
const MESSAGES: usize = 10_000;

/// The bytes of a large file.
const FILE: usize = 10 << 20;

criterion_group!(benches, dialects, base64);
criterion_main!(benches);

/// Each dialect: the tree alone, tree and bytes, and `serde_json` writing the same bytes from a value.
fn dialects(criterion: &mut Criterion) {
    let messages = conversation();
    let parameters: Map<String, Value> = [("max_tokens".to_owned(), json!(9))].into_iter().collect();
    let request = Request { model: "m", tools: &[], parameters: &parameters };
    for dialect in Dialect::ALL {
        let encoded = dialect.encode(&messages, &request);
        let value = encoded.to_value();
        let mut group = criterion.benchmark_group(format!("10,000 messages, {dialect}"));
        group.throughput(Throughput::Bytes(encoded.to_bytes().len() as u64)).sample_size(20);
        group.bench_function("to a tree", |bencher| {
            bencher.iter_with_large_drop(|| dialect.encode(black_box(&messages), &request));
        });
        group.bench_function("to bytes", |bencher| {
            bencher.iter_with_large_drop(|| dialect.encode(black_box(&messages), &request).to_bytes());
        });
        group.bench_function("serde_json writes the value", |bencher| {
            bencher.iter_with_large_drop(|| serde_json::to_vec(black_box(&value)));
        });
        group.bench_function("the tree is written", |bencher| {
            bencher.iter_with_large_drop(|| black_box(&encoded).to_bytes());
        });
        group.finish();
    }
}

/// A picture of 10 MB in a chat completion.
fn base64(criterion: &mut Criterion) {
    let bytes: Arc<[u8]> = (0..=250).cycle().take(FILE).collect();
    let file = json!({ "name": "large.png", "mimeType": "image/png" });
    let file = Attachment { loaded: Some(Asset::new(bytes)), ..Attachment::from_value(&file) };
    let message = Message::new(Role::User, "look", Source::history("n", Role::User))
        .with(|message| message.attachments = vec![file]);
    let messages = [message];
    let request = Request { model: "m", tools: &[], parameters: &Map::new() };
    let mut group = criterion.benchmark_group("a file of 10 MB in base64");
    group.throughput(Throughput::Bytes(FILE as u64)).sample_size(20);
    group.bench_function("to bytes", |bencher| {
        bencher
            .iter_with_large_drop(|| Dialect::OpenaiChat.encode(black_box(&messages), &request).to_bytes());
    });
    group.finish();
}

/// Turns of prose of some 600 bytes, with a call and its result in every tenth.
fn conversation() -> Vec<Message> {
    let prose =
        "The garden behind the house was \"wild\" when we came; nobody had cut the hedges for years.\n";
    let text = prose.repeat(7);
    let said = |at: usize, role: Role| {
        Message::new(role, format!("{at}: {text}"), Source::history(format!("n{at}"), role))
    };
    let message = |at: usize| match at % 20 {
        5 => said(at, Role::Assistant).with(|message| {
            let id = format!("c{at}").into();
            let arguments = r#"{"bed":3,"what":"basil"}"#.into();
            message.tool_calls = vec![ToolCall { id, name: "water".into(), arguments }];
        }),
        6 => said(at, Role::Tool).with(|message| message.tool_call_id = Some(format!("c{}", at - 1).into())),
        at if at % 2 == 0 => said(at, Role::User),
        _ => said(at, Role::Assistant),
    };
    (0..MESSAGES).map(message).collect()
}
