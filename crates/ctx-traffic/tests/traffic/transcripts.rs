//! Transcripts of agents.

use std::fmt::Write as _;

use ctx_traffic::Transcript;
use ctx_types::Role;
use ctx_types::session::{Session, visible_path};
use proptest::prelude::*;
use serde_json::json;

/// Describes a transcript: the tree, the visible messages, compactions, usage, and missing parts.
fn describe(transcript: &Transcript) -> String {
    let mut text = format!("{}\n", transcript.format);
    tree(&transcript.session, &mut text);
    for compaction in &transcript.compactions {
        let trigger = compaction.trigger.as_deref().unwrap_or("-");
        let (kept, injected) = (compaction.kept.join(" "), compaction.injected.join(" "));
        let unreadable = if compaction.is_unreadable { " unreadable" } else { "" };
        let (line, summary) = (compaction.line, &compaction.summary);
        writeln!(
            text,
            "compaction {line} {trigger}: {summary} kept [{kept}] injected [{injected}]{unreadable}"
        )
        .unwrap();
    }
    for agent in &transcript.agents {
        writeln!(text, "agent {} of {}", agent.id, agent.tool_call.as_deref().unwrap_or("-")).unwrap();
        tree(&agent.session, &mut text);
    }
    for response in &transcript.responses {
        let usage = response.usage;
        writeln!(text, "usage {} cached {} output {}", usage.input, usage.cached, usage.output).unwrap();
    }
    for request in transcript.requests() {
        writeln!(text, "request {request}").unwrap();
    }
    let missing: Vec<String> = transcript.missing.iter().map(|part| part.phrase().to_string()).collect();
    writeln!(text, "missing: {}", missing.join(", ")).unwrap();
    for unread in &transcript.unread {
        writeln!(text, "line {}: {:?}", unread.line, unread.reason).unwrap();
    }
    text
}

fn tree(session: &Session, text: &mut String) {
    let sent: Vec<_> = visible_path(session).iter().filter_map(|node| node.id.clone()).collect();
    let active: Vec<_> = session.path().iter().filter_map(|node| node.id.clone()).collect();
    for (id, node) in session.nodes().filter(|(id, _)| *id != session.root_id()) {
        let message = node.to_message(id);
        let mark = match (sent.contains(id), active.contains(id)) {
            (true, _) => '+',
            (false, true) => '-',
            (false, false) => ' ',
        };
        let parent = node.parent_id.as_deref().unwrap_or("-");
        let parent = if parent == &**session.root_id() { "root" } else { parent };
        let role = if node.is_summary() { "summary" } else { message.role.as_str() };
        let mut line = format!("{mark} {id} < {parent} {role}: {}", message.text().replace('\n', "|"));
        for call in &message.tool_calls {
            write!(line, " {}={}({})", call.id, call.name, call.arguments).unwrap();
        }
        if let Some(call) = &message.tool_call_id {
            write!(line, " of {call}{}", if message.is_error { " failed" } else { "" }).unwrap();
        }
        if let Some(reasoning) = message.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref()) {
            write!(line, " thinks {reasoning}").unwrap();
        }
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
}

/// Reads a fixture and compares its description with `expected.snap`.
#[track_caller]
fn check(case: &str, file: &str) -> Transcript {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts");
    let bytes = std::fs::read_to_string(format!("{folder}/{case}/{file}")).expect("the fixture is there");
    let transcript = Transcript::read(&bytes).expect("the format is known");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("{folder}/{case}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("expected", describe(&transcript)));
    transcript
}

#[test]
fn reads_claude_code() {
    check("claude_code", "session.jsonl");
}

#[test]
fn rebuilds_requests_of_claude_code() {
    check("claude_code_requests", "session.jsonl");
}

#[test]
fn leaves_the_boundary_of_the_main_thread_to_its_own_summary() {
    let said = |uuid: &str, parent: Option<&str>, text: &str| {
        json!({ "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s",
            "message": { "role": "user", "content": text } })
    };
    let boundary = json!({ "type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null,
        "logicalParentUuid": "c", "sessionId": "s", "compactMetadata": {} });
    let mut of_agent = said("d", None, "summary of the agent");
    for (key, value) in
        [("isSidechain", json!(true)), ("agentId", json!("x")), ("isCompactSummary", json!(true))]
    {
        of_agent[key] = value;
    }
    let mut summary = said("e", Some("b"), "summary");
    summary["isCompactSummary"] = json!(true);
    let first = [said("a", None, "one"), said("b0", Some("a"), "two"), said("c", Some("b0"), "three")];
    let lines = first.into_iter().chain([boundary, of_agent, summary]).map(|line| line.to_string());
    let transcript = Transcript::read(&lines.collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!(visible_path(&transcript.session).len(), 1);
}

#[test]
fn reads_codex() {
    check("codex", "rollout.jsonl");
}

#[test]
fn reads_opencode() {
    check("opencode", "export.json");
}

#[test]
fn reads_gemini_cli() {
    check("gemini_cli", "session.jsonl");
}

#[test]
fn reads_messages_of_old_codex_compaction() {
    let line =
        |kind: &str, payload: &str| format!(r#"{{"timestamp":"t","type":"{kind}","payload":{payload}}}"#);
    let user = |text: &str| {
        let content = format!(r#"[{{"type":"input_text","text":"{text}"}}]"#);
        line("response_item", &format!(r#"{{"type":"message","role":"user","content":{content}}}"#))
    };
    let lines = [
        line("session_meta", r#"{"id":"t1"}"#),
        user("Use port 8123."),
        line("compacted", r#"{"message":"A port was chosen."}"#),
        user("Go on."),
        line(
            "compacted",
            r#"{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"x"}]}"#,
        ),
    ];
    insta::assert_snapshot!(describe(&Transcript::read(&lines.join("\n")).unwrap()), @"
    Codex
    - n1 < n2 user: Use port 8123.
    - n2 < root summary: A port was chosen.
    - n3 < n1 user: Go on.
    + n4 < n3 summary:
    compaction 3 -: n2 kept [n1] injected []
    compaction 5 -: n4 kept [] injected [] unreadable
    missing: system prompt, tool definitions, parameters, headers, the requests for summaries, texts of encrypted summaries
    ");
}

#[test]
fn reads_sub_agents_in_file_of_older_claude_code() {
    let log = r#"{"type":"assistant","uuid":"a1","parentUuid":null,"sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Task","input":{}}]}}
{"type":"user","uuid":"x1","parentUuid":null,"isSidechain":true,"agentId":"e1","message":{"role":"user","content":"Find it."}}
{"type":"assistant","uuid":"x2","parentUuid":"x1","isSidechain":true,"message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Found."}]}}
{"type":"user","uuid":"r1","parentUuid":"a1","isSidechain":false,"agentId":"e1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"Found."}]}}"#;
    insta::assert_snapshot!(describe(&Transcript::read(log).unwrap()), @"
    Claude Code
    + a1 < root assistant:  c1=Task({})
    + r1 < a1 tool: Found. of c1
    agent e1 of c1
    + x1 < root user: Find it.
    + x2 < x1 assistant: Found.
    missing: system prompt, tool definitions, reminders, parameters, headers
    ");
}

#[test]
fn ignores_other_files() {
    for text in [
        "",
        "[]",
        "Hello",
        r#"{"messages":[{"role":"user","content":"payload"}]}"#,
        r#"[{"role":"user","content":"\"payload\" \"sessionId\""}]"#,
        r#"{"id":"s","nodes":{},"rootNodeId":"r","info":{}}"#,
        r#"{"name":"x","mes":"hi","is_user":true,"extra":{"info":"\"info\""}}"#,
        "{\"payload\":1}\n{\"sessionId\":",
    ] {
        assert!(Transcript::read(text).is_none(), "{text}");
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let keys = "type|uuid|parentUuid|message|content|payload|info|parts|messages|\\$set|\\$rewindTo|id|role|sessionId|\
                isCompactSummary|attachment|rendered|text|sessionID|messageID|replacement_history|item|tail|base|keep|hash";
    let words = "user|assistant|attachment|system|compact_boundary|compacted|event_msg|response_item|api-request|a|b|\
                 gemini|tool|text|tool_use|tool_result|compaction|session_meta|message|function_call_output|thread_rolled_back";
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        (0_u64..5).prop_map(Into::into),
        words.prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::vec((keys, inner), 0..8)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Formats, and the first line of a transcript of each.
const FIRST: [&str; 4] = [
    r#"{"type":"mode","sessionId":"s","mode":"normal"}"#,
    r#"{"type":"session_meta","payload":{"id":"s"}}"#,
    r#"{"id":"s","sessionID":"s","directory":"/w"}"#,
    r#"{"sessionId":"s","startTime":"t"}"#,
];

proptest! {
    #[test]
    fn reads_any_records(format in 0_usize..4, records in prop::collection::vec(json(), 0..12), cut in any::<u16>()) {
        let mut lines = vec![FIRST[format].to_owned()];
        lines.extend(records.iter().map(ToString::to_string));
        let mut text = lines.join("\n");
        text.truncate(text.floor_char_boundary(text.len() - usize::from(cut) % text.len().min(20)));
        if let Some(transcript) = Transcript::read(&text) {
            describe(&transcript);
        }
    }

    #[test]
    fn reads_any_bytes(text in "\\PC*") {
        drop(Transcript::read(&text));
    }

    /// Each message is in the session, with any parents, boundaries, and repeated results.
    #[test]
    fn keeps_texts_of_claude_code(
        records in prop::collection::vec((0_usize..5, 0_usize..30, 0_usize..30, any::<bool>()), 1..30),
    ) {
        let mut lines = vec![FIRST[0].to_owned()];
        for (index, (kind, parent, other, flag)) in records.into_iter().enumerate() {
            let place = serde_json::json!({ "uuid": format!("u{index}"), "parentUuid": format!("u{parent}") });
            let said = format!("text-{index}.");
            let mut record = match kind {
                0 => serde_json::json!({ "type": "user", "message": { "role": "user", "content": said },
                    "isCompactSummary": flag }),
                1 => serde_json::json!({ "type": "assistant", "message": { "role": "assistant", "id": format!("m{}", other % 4),
                    "content": [{ "type": "text", "text": said }, { "type": "tool_use", "id": format!("c{parent}"), "name": "x",
                    "input": {} }] } }),
                2 => serde_json::json!({ "type": "user", "message": { "role": "user", "content": [{ "type": "tool_result",
                    "tool_use_id": format!("c{other}"), "content": said }] } }),
                3 => serde_json::json!({ "type": "attachment", "rendered": [{ "content": said }], "isSidechain": flag }),
                _ => serde_json::json!({ "type": "system", "subtype": "compact_boundary", "text": said,
                    "compactMetadata": { "preservedMessages": { "uuids": [format!("u{other}"), format!("u{parent}")] } } }),
            };
            record.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
            lines.push(record.to_string());
        }
        let transcript = Transcript::read(&lines.join("\n")).unwrap();
        let agents = transcript.agents.iter().map(|agent| &agent.session);
        let sessions: Vec<&Session> = std::iter::once(&transcript.session).chain(agents).collect();
        let all: String = sessions.iter().flat_map(|session| session.nodes())
            .map(|(id, node)| node.to_message(id).text().into_owned()).collect();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.contains("compact_boundary")).skip(1) {
            let said = format!("text-{}.", index - 1);
            prop_assert!(all.contains(&said), "{said} of {line}");
        }
        for session in sessions {
            // The active branch leads to the root, and every node is in the tree.
            prop_assert!(session.nodes().all(|(id, _)| session.depth(id).is_some()));
        }
    }
}

#[test]
fn hides_messages_in_linear_time() {
    let user = |index: usize| {
        format!(
            r#"{{"type":"user","uuid":"u{index}","parentUuid":"u{}","message":{{"role":"user","content":"x"}}}}"#,
            index.wrapping_sub(1)
        )
    };
    let mut lines: Vec<String> = (0..5_000).map(user).collect();
    for index in 0..5_000 {
        lines.push(format!(
            r#"{{"type":"user","uuid":"s{index}","parentUuid":"u4999","isCompactSummary":true,"message":{{"role":"user","content":"x"}}}}"#
        ));
    }
    let transcript = Transcript::read(&lines.join("\n")).unwrap();
    assert!(transcript.compactions.len() < 5_000 && transcript.unread_count > 0);
    assert_eq!(transcript.messages()[0].role, Role::User);
}
