//! The log.

use ctx_tap::Recorder;
use serde_json::{Value, json as value};

use crate::wire::{Wire, json, post, run};

#[test]
fn writes_request_with_its_response() {
    run(async {
        let wire = Wire::start().await;
        let body = "{\"model\":\"m\",\r\n \"temperature\":1.0e0,\"n\":12345678901234567890123}";
        let headers = "anthropic-beta: a\r\nContent-Type: application/json\r\nanthropic-BETA: b\r\n";
        let mut pair = wire.connect(&post("/v1/messages?beta=true", headers, body)).await;
        pair.answer(&json("200 OK", r#"{"content":[],"usage":{"input_tokens":5}}"#)).await;
        let (text, summary) = wire.finish().await;
        assert_eq!((summary.requests, summary.lost, summary.error.is_none()), (1, 0, true));
        // The request is unchanged, except for line breaks.
        assert!(text.contains(&format!("\"request\":{},", body.replace("\r\n", "  "))), "{text}");
        let line: Value = serde_json::from_str(text.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(
            [&line["api"], &line["host"], &line["path"]],
            ["anthropic", "127.0.0.1", "/v1/messages?beta=true"]
        );
        assert_eq!(line["headers"]["anthropic-beta"], "a, b");
        assert_eq!((&line["status"], &line["usage"]), (&200.into(), &value!({ "input_tokens": 5 })));
        assert!(line["ms"].is_u64() && line["first_ms"].is_u64() && line["at"].is_string());
        let absent = ["error", "omitted", "events", "thread"];
        assert!(absent.iter().all(|key| line.get(key).is_none()), "{line}");
    });
}

#[test]
fn contains_no_credential() {
    run(async {
        let wire = Wire::start().await;
        let headers = "Authorization: Bearer canary-authorization-0\r\nX-API-Key: canary-api-key-01234\r\n\
            Cookie: a=canary-cookie-012345; b=c\r\nOpenAI-Organization: canary-org\r\nsession-id: canary-session\r\n\
            X-Codex-Turn-Metadata: {\"cwd\":\"/home/canary\"}\r\n";
        let body = r#"{"metadata":{"user_id":"canary-user","team":"garden"},"client_metadata":{"cwd":"/home/canary"},"messages":[]}"#;
        let path = "/v1/messages?key=canary-query-0123456&beta=true&access_token=canary-token-0123456";
        let mut pair = wire.connect(&post(path, headers, body)).await;
        let echoes = ["authorization-0", "api-key-01234", "query-0123456", "token-0123456"]
            .map(|name| format!("canary-{name}"));
        let response =
            value!({ "error": { "message": format!("invalid key {}", echoes.join(" ")) } }).to_string();
        let head = "HTTP/1.1 401 Unauthorized\r\nset-cookie: canary-set-cookie\r\n";
        pair.answer(format!("{head}content-length: {}\r\n\r\n{response}", response.len()).as_bytes()).await;
        let text = wire.finish().await.0;
        assert!(!text.contains("canary"), "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["path"], "/v1/messages?beta=true");
        assert_eq!(line["request"]["metadata"]["team"], "garden");
        for hashed in
            [&line["thread"], &line["request"]["metadata"]["user_id"], &line["request"]["client_metadata"]]
        {
            assert!(hashed.as_str().unwrap().starts_with("sha256:"), "{line}");
        }
    });
}

#[test]
fn names_thread_of_conversation() {
    run(async {
        let wire = Wire::start().await;
        let requests = [
            ("", r#"{"prompt_cache_key":"a"}"#),
            ("", r#"{"prompt_cache_key":"a","metadata":{"user_id":"u"}}"#),
            ("", r#"{"metadata":{"user_id":"u"}}"#),
            ("session-id: s\r\n", r#"{"prompt_cache_key":"a"}"#),
            (
                "",
                r#"{"prompt_cache_key":"x","prompt_cache_key":"a","metadata":{"user_id":"canary","user_id":"u"}}"#,
            ),
        ];
        for (headers, body) in requests {
            let mut pair = wire.connect(&post("/v1/responses", headers, body)).await;
            pair.answer(&json("200 OK", "{}")).await;
        }
        let (text, _) = wire.finish().await;
        let mut log: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let threads: Vec<Value> = log.iter_mut().map(|line| line["thread"].take()).collect();
        assert!(threads[0] == threads[1] && threads[0] == threads[4], "{threads:?}");
        assert!(threads[0] != threads[2] && threads[0] != threads[3] && threads[2] != threads[3]);
        assert!(!text.contains("canary"), "{text}");
    });
}

#[test]
fn records_other_bodies_with_reason() {
    run(async {
        let wire = Wire::start().await;
        for body in ["not JSON", "\u{0}", ""] {
            let mut pair = wire.connect(&post("/v1/chat/completions", "", body)).await;
            pair.answer(&json("400 Bad Request", "<html>\n\"no\"")).await;
        }
        let log = wire.log().await;
        for line in log {
            assert_eq!((&line["request"], &line["error"]), (&Value::Null, &"the request is not JSON".into()));
            assert_eq!(line["response"], "<html>\n\"no\"");
        }
    });
}

#[test]
fn counts_lost_requests() {
    run(async {
        let wire = Wire::start().await;
        let mut pair = wire.connect(&post("/v1/messages", "", r#"{"a":1}"#)).await;
        pair.answer(&json("200 OK", "{}")).await;
        pair.ask(&wire, &post("/v1/messages", "", "{}")).await;
        // The log is closed before the second request ends.
        let text = std::fs::read_to_string(wire.recorder.finish().path).unwrap();
        assert!(text.starts_with("{\"at\":"), "{text}");
        pair.answer(&json("200 OK", "{}")).await;
        let (_, summary) = wire.finish().await;
        assert_eq!(summary.lost, 1);
    });
}

#[cfg(unix)]
#[test]
fn creates_private_file_and_folder() {
    use std::os::unix::fs::PermissionsExt as _;

    run(async {
        let wire = Wire::start().await;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(wire.recorder.path()), mode(&wire.log_folder())), (0o600, 0o700));
        // An empty log is deleted.
        let path = wire.recorder.path().to_owned();
        wire.finish().await;
        assert!(!path.exists());
    });
}

#[test]
fn needs_a_folder() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Recorder::create(file.path()).is_err());
}
