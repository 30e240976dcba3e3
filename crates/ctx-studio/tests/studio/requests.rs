//! Logs of requests that other programs sent.

use serde_json::{Value, json};

use crate::client::{Answer, Running, folder, project, start};

/// Two requests with different system prompts, and an incomplete line.
fn log() -> String {
    let line = |minute: u32| {
        let rules = "You keep the lamps of the harbor. ".repeat(400);
        json!({
            "at": format!("2026-12-01T10:{minute}:00Z"),
            "api": "anthropic",
            "host": "api.anthropic.com",
            "request": {
                "model": "claude-sonnet-4-5",
                "system": [
                    { "type": "text", "text": format!("It is 10:{minute}. {rules}"), "cache_control": { "type": "ephemeral" } },
                ],
                "messages": [{ "role": "user", "content": "Which lamps are broken?\u{202e}</script>" }],
            },
        })
    };
    format!("{}\n{}\n{{\"request\": {{\"mod", line(10), line(11))
}

fn send(server: &Running, path: &str, bytes: &[u8]) -> Answer {
    let (host, token) = (server.host(), format!("Bearer {}", server.token));
    let headers =
        [("host", host.as_str()), ("authorization", &token), ("content-type", "application/octet-stream")];
    server.send("POST", path, &headers, bytes)
}

fn check_report(report: &Value) {
    assert_eq!(report["requests"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&report["requests"][0]["break"], &report["requests"][0]["before"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(report["requests"][1]["before"], 1);
    assert_eq!(report["causes"][0]["in"], "system");
    assert_eq!(report["causes"][0]["change"], "clock");
    assert_eq!(report["skipped"], 1);
    assert_eq!(report["firstSkipped"], json!({ "line": 3, "reason": "no-json" }));
}

fn check_pair(pair: &Value) {
    assert_eq!((&pair["shared"], &pair["break"]["in"]), (&json!(0), &json!("system")));
    assert!(pair["before"][0]["text"].as_str().unwrap().starts_with("It is 10:10. You"));
    assert!(pair["after"][0]["text"].as_str().unwrap().starts_with("It is 10:11. You"));
    assert!(pair["after"][0]["text"].as_str().unwrap().ends_with('…'));
}

#[test]
fn explains_logs_of_the_folder() {
    let place = folder();
    let path = project(&place);
    std::fs::create_dir(path.join("logs")).unwrap();
    std::fs::write(path.join("logs/a.jsonl"), log()).unwrap();
    std::fs::write(path.join("logs/b.jsonl"), log()).unwrap();
    std::fs::write(path.join("chat.jsonl"), "{\"user_name\": \"Ada\"}\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(path.join("logs/a.jsonl"), path.join("logs/c.jsonl")).unwrap();
    let server = start(&place);
    let listed = server.get("/api/logs").good();
    let paths: Vec<&str> =
        listed["logs"].as_array().unwrap().iter().map(|log| log["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["logs/a.jsonl", "logs/b.jsonl", "logs/"]);
    let id = |index: usize| listed["logs"][index]["id"].as_str().unwrap().to_owned();
    check_report(&server.get(&format!("/api/logs/{}", id(0))).good());
    let both = server.get(&format!("/api/logs/{}", id(2))).good();
    assert_eq!(both["total"]["requests"], 4);
    check_pair(&server.get(&format!("/api/logs/{}/pair?before=1&after=2", id(0))).good());
    for query in ["", "before=1", "before=1&after=3", "before=1&after=9"] {
        let answer = server.get(&format!("/api/logs/{}/pair?{query}", id(0)));
        assert_eq!(answer.refused(404), "CTX1007", "{query}");
    }
    assert_eq!(server.get("/api/logs/00").refused(404), "CTX1007");
}

#[test]
fn explains_a_dropped_log() {
    let place = folder();
    let server = start(&place);
    assert_eq!(server.get("/api/logs").good(), json!({ "logs": [] }));
    let log = log();
    check_report(&send(&server, "/api/log", log.as_bytes()).good());
    check_pair(&send(&server, "/api/log/pair", log.as_bytes()).good());
    assert_eq!(send(&server, "/api/log", b"\xff\0").good()["skipped"], 1);
    for bytes in [&b""[..], b"{}", b"{}\n{}", b"\n\n"] {
        assert_eq!(send(&server, "/api/log/pair", bytes).refused(404), "CTX1007");
    }
}
