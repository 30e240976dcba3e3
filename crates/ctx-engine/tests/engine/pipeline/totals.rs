use std::sync::{Arc, Mutex};

use ctx_tokens::message_cost;
use ctx_types::{SourceKind, TokenFigure};
use serde_json::json;

use crate::pipeline::case::{Case, plugin, total};

#[test]
fn matches_total_with_last_processor_and_segments() {
    let counted = Arc::new(Mutex::new(0_u64));
    let last = counted.clone();
    let counts = plugin("counts", 1_000_000, move |cx| {
        let cost = |message| u64::from(message_cost(message, cx.inputs.model, cx.inputs.counter).total());
        *last.lock().unwrap() = cx.draft.messages().iter().map(cost).sum();
    });
    let mut case = Case::talk(40, 400).with(counts);
    case.agent["presetMessages"] = json!([
        { "role": "system", "content": "You help {{user}}, whoever {{user}} is." },
        { "role": "system", "content": "Be kind." },
        { "type": "chat_history" },
        { "role": "user", "content": "Stay short.", "insertionPoint": -1 },
    ]);
    let context = case.context();
    let usage = context.report.usage.as_ref().unwrap();
    assert_eq!(usage.tokens, TokenFigure::Exact(total(&context)));
    assert_eq!(*counted.lock().unwrap(), total(&context));
    let shares: u64 = context.token_shares().iter().flatten().map(|share| u64::from(share.tokens)).sum();
    assert_eq!(shares, total(&context));
}

#[test]
fn counts_separators_and_overhead_as_segments() {
    let mut case = Case::talk(1, 1_000);
    case.agent["presetMessages"] = json!([
        { "role": "system", "content": "You help." },
        { "role": "system", "content": "Be kind." },
        { "type": "chat_history" },
    ]);
    let context = case.context();
    let shares = &context.token_shares()[0];
    let found: Vec<(String, u32)> =
        shares.iter().map(|share| (share.segment.source.to_string(), share.tokens)).collect();
    let expected = [("preset#0", 3), ("separator", 2), ("preset#1", 2), ("overhead:per message", 3)];
    assert_eq!(found, expected.map(|(name, tokens)| (name.to_owned(), tokens)));
    assert_eq!(shares.last().unwrap().segment.source.kind, SourceKind::Overhead);
    assert_eq!(found.iter().map(|(_, tokens)| tokens).sum::<u32>(), context.tokens()[0]);
}
