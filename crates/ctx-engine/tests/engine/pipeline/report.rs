use ctx_types::phrase;
use std::collections::BTreeSet;

use ctx_types::SourceKind;
use ctx_types::report::{Outcome, TokenFigure};
use ctx_types::session::LogLine;
use serde_json::{Value, json};

use crate::pipeline::case::{Case, plugin, written};

fn keys(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let below: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => {
            found.extend(map.keys().cloned());
            map.iter().filter(|(key, _)| *key != "details").map(|(_, value)| value).collect()
        }
        _ => Vec::new(),
    };
    found.extend(below.into_iter().flat_map(keys));
    found
}

fn report() -> Value {
    let notes = plugin("notes", 900, |cx| {
        cx.log(LogLine::warn(phrase!("the sky is grey")).with_details(json!({ "sky_colour": "grey" })));
        cx.draft.messages_mut().push(written("Noted."));
    });
    let mut case = Case::talk(40, 400).with(notes);
    case.agent["presetMessages"] = json!([
        { "role": "system", "content": "You help {{nobody}}.", "name": "One" },
        { "id": "b", "role": "system", "content": "Be kind." },
        { "type": "chat_history" },
    ]);
    let context = case.unchecked().unwrap();
    let dropped = context.report.decisions.iter().find(|decision| decision.outcome == Outcome::Dropped);
    assert!(matches!(dropped.and_then(|dropped| dropped.tokens), Some(TokenFigure::AtMost(_))));
    json!(context.report)
}

#[test]
fn uses_camel_case_keys() {
    let found = keys(&report());
    let expected = [
        "added",
        "arguments",
        "atMost",
        "available",
        "budget",
        "bytes",
        "changed",
        "code",
        "count",
        "decisions",
        "details",
        "diagnostics",
        "encoding",
        "end",
        "endedBy",
        "exact",
        "help",
        "id",
        "index",
        "isExact",
        "kept",
        "kind",
        "level",
        "location",
        "log",
        "message",
        "messages",
        "messagesAfter",
        "messagesBefore",
        "name",
        "older",
        "outcome",
        "pointer",
        "reason",
        "removed",
        "severity",
        "source",
        "span",
        "stable",
        "stages",
        "start",
        "tokens",
        "trust",
        "usage",
    ];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
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
