//! Facts that compactions lost.

use ctx_compress::request::Meter;
use ctx_traffic::{CompactionLoss, LossAnalysis, Transcript};
use serde_json::{Value, json};

/// Writes the facts of a loss: uses, kind, text, and whether a digest has it.
fn facts(loss: &CompactionLoss) -> String {
    let lost = loss.lost.iter().map(|fact| {
        let mark = if fact.is_in_digest { " (digest)" } else { "" };
        format!("{} {} {}{mark}\n", fact.uses, fact.kind, fact.text)
    });
    format!("line {}: kept {}, lost {}\n{}", loss.line, loss.kept, loss.lost.len(), lost.collect::<String>())
}

#[test]
fn ranks_lost_facts_by_later_use() {
    let log = include_str!("../../../../docs/samples/forgot/session.jsonl");
    let losses = Transcript::read(log).unwrap().losses(&Meter::estimate());
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].kept_by_digest, Some(17));
    insta::assert_snapshot!(facts(&losses[0]).lines().take(6).collect::<Vec<_>>().join("\n"), @"
    line 13: kept 3, lost 14
    3 number 5432 (digest)
    2 identifier orders_2019 (digest)
    2 number 6543 (digest)
    2 identifier CHG-20881 (digest)
    0 identifier db-7.example.com (digest)
    ");
}

/// Uses after the second compaction are later than both. Kept messages lose no facts.
#[test]
fn counts_uses_after_later_compactions() {
    let user = |uuid: &str, parent: &str, text: &str, is_summary: bool| {
        json!({ "type": "user", "uuid": uuid, "parentUuid": parent, "isCompactSummary": is_summary,
            "message": { "role": "user", "content": text } })
    };
    let boundary = |uuid: &str, parent: &str, kept: &[&str]| {
        json!({ "type": "system", "subtype": "compact_boundary", "uuid": uuid, "logicalParentUuid": parent,
            "compactMetadata": { "preservedMessages": { "uuids": kept } } })
    };
    let records = [
        json!({ "type": "mode", "sessionId": "s" }),
        user("u1", "-", "The token is ZX-4471.", false),
        user("u2", "u1", "The ticket is OPS-12345.", false),
        boundary("b1", "u2", &["u2"]),
        user("s1", "b1", "A token was chosen.", true),
        user("u3", "s1", "The change is CHG-20881.", false),
        boundary("b2", "u3", &[]),
        user("s2", "b2", "More was chosen.", true),
        user("u4", "s2", "ZX-4471? OPS-12345? OPS-12345!", false),
    ];
    let log: Vec<String> = records.iter().map(Value::to_string).collect();
    let losses = Transcript::read(&log.join("\n")).unwrap().losses(&Meter::estimate());
    insta::assert_snapshot!(losses.iter().map(facts).collect::<String>(), @"
    line 4: kept 1, lost 1
    1 identifier ZX-4471 (digest)
    line 7: kept 0, lost 2
    2 identifier OPS-12345
    0 identifier CHG-20881
    ");
}

#[test]
fn reports_encrypted_summaries_as_unknown() {
    let log = r#"{"type":"session_meta","payload":{"id":"t1"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Token ZX-4471."}]}}
{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"x"}]}}"#;
    let losses = Transcript::read(log).unwrap().losses(&Meter::estimate());
    assert!(losses[0].is_unknown && losses[0].lost.is_empty());
}

#[test]
fn finds_compactions_in_log_of_requests() {
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let start = [
        message("user", "Use the token ZX-4471."),
        message("assistant", "I use it."),
        message("user", "Write /srv/a.toml."),
        message("assistant", "It is written."),
        message("user", "Go on."),
    ];
    let after = [
        message("user", "<summary>A file was written.</summary>"),
        message("user", "Go on."),
        message("assistant", "Which token?"),
        message("user", "ZX-4471, as I said."),
    ];
    let line = |messages: &[Value]| json!({ "model": "m", "messages": messages }).to_string();
    let mut analysis = LossAnalysis::default();
    for line in [
        line(&start),
        line(&[message("user", "Write a title for: use the token")]),
        "not a request".to_owned(),
        line(&after[..2]),
        line(&after),
    ] {
        analysis.push(&line);
    }
    let losses = analysis.finish(&Meter::estimate());
    insta::assert_snapshot!(losses.iter().map(facts).collect::<String>(), @"
    line 4: kept 0, lost 2
    1 identifier ZX-4471 (digest)
    0 path /srv/a.toml
    ");
}
