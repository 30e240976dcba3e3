//! Keys, limits, metrics, models, health.

use std::io::Write as _;

use ctx_gateway::{KeyFile, KeyLimits};
use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::bytes::complete_response;
use crate::server::{Answer, Server};
use crate::test_gateway::{AGENT, PROVIDER_KEY, TestGateway, read};

fn hello() -> Vec<u8> {
    json!({ "model": "ada", "messages": [{ "role": "user", "content": "Hello" }] }).to_string().into_bytes()
}

/// Serves a folder with 2 agents and one key with these limits. Returns the value of the key header.
fn limited(agents: Option<Vec<String>>, limits: KeyLimits) -> (TestGateway, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("more")).unwrap();
    for file in ["ada.yaml", "more/bob.yaml"] {
        std::fs::write(folder.path().join(file), AGENT).unwrap();
    }
    std::fs::write(folder.path().join("key"), PROVIDER_KEY).unwrap();
    let mut keys = KeyFile::default();
    let key = keys.add("phone", agents, limits).unwrap();
    keys.write(&folder.path().join(KeyFile::NAME)).unwrap();
    let provider = Server::start(|_| complete_response(Dialect::OpenaiChat));
    (TestGateway::open(folder, Dialect::OpenaiChat, provider), format!("Bearer {}", key.reveal()))
}

#[test]
fn serves_health_without_key() {
    let (gateway, _) = limited(None, KeyLimits::default());
    let response = gateway.get("/healthz");
    assert_eq!((response.status, response.body.as_str()), (200, "ok\n"));
}

#[test]
fn lists_allowed_agents_as_models() {
    let ids = |list: &Value, key: &str, name: &str| -> Vec<String> {
        let list = list[key].as_array().unwrap().iter();
        list.map(|model| model[name].as_str().unwrap().to_owned()).collect()
    };
    let (gateway, key) = limited(None, KeyLimits::default());
    let headers = [("authorization", key.as_str())];
    let response = gateway.ask("GET", "/v1/models", &headers, b"").json();
    assert_eq!(ids(&response, "data", "id"), ["ada", "bob"]);
    let response = gateway.ask("GET", "/v1beta/models", &headers, b"").json();
    assert_eq!(ids(&response, "models", "name"), ["models/ada", "models/bob"]);
    assert_eq!(gateway.ask("GET", "/v1/models/bob", &headers, b"").json()["id"], "bob");

    let (gateway, key) = limited(Some(vec!["bob".to_owned()]), KeyLimits::default());
    let headers = [("authorization", key.as_str())];
    let response = gateway.ask("GET", "/v1/models", &headers, b"").json();
    assert_eq!(ids(&response, "data", "id"), ["bob"]);
    assert_eq!(gateway.ask("GET", "/v1/models/ada", &headers, b"").status, 404);
    let refused = gateway.ask("POST", "/v1/chat/completions", &headers, &hello());
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(gateway.provider.requests().len(), 0);
}

#[test]
fn limits_reads() {
    let (gateway, key) = limited(None, KeyLimits { requests: Some(2), ..KeyLimits::default() });
    let headers = [("authorization", key.as_str())];
    let paths = ["/v1/models", "/v1beta/models/ada", "/v1/models/ada", "/v1beta/models", "/conversations"];
    let statuses = paths.map(|path| gateway.ask("GET", path, &headers, b"").status);
    assert_eq!(statuses, [200, 200, 429, 429, 429]);
}

#[test]
fn counts_no_reads_as_turns() {
    let (gateway, key) = limited(None, KeyLimits { turns: Some(0), ..KeyLimits::default() });
    let headers = [("authorization", key.as_str())];
    assert_eq!(gateway.ask("POST", "/v1/chat/completions", &headers, &hello()).status, 429);
    assert_eq!(gateway.ask("GET", "/v1/models", &headers, b"").status, 200);
    let dry = [headers[0], ("x-ctx-dry-run", "1")];
    assert_eq!(gateway.ask("POST", "/v1/chat/completions", &dry, &hello()).status, 200);
}

#[test]
fn lists_models_with_their_windows() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let gateway = TestGateway::open_with(folder, Dialect::OpenaiChat, Server::script([]), |options| {
        options.model = Some("gpt-4o".to_owned());
    });
    let list = gateway.get("/v1/models").json();
    let model = &list["data"][0];
    let sizes = ["context_window", "max_input_tokens", "max_tokens"].map(|name| model[name].as_u64());
    assert_eq!(sizes, [Some(128_000), Some(128_000), Some(16_384)]);
    assert_eq!(gateway.get("/v1/models/ada").json(), *model);
    let list = gateway.get("/v1beta/models").json();
    assert_eq!(list["models"][0]["inputTokenLimit"], 128_000);
    assert_eq!(gateway.get("/v1beta/models/ada").json(), list["models"][0]);
}

#[test]
fn reads_key_from_any_header_or_query() {
    let (gateway, key) = limited(None, KeyLimits::default());
    let plain = key.strip_prefix("Bearer ").unwrap();
    for (name, value) in [("authorization", key.as_str()), ("x-api-key", plain), ("x-goog-api-key", plain)] {
        assert_eq!(gateway.ask("GET", "/v1/models", &[(name, value)], b"").status, 200, "{name}");
    }
    assert_eq!(gateway.get(&format!("/v1beta/models?key={plain}")).status, 200);
    assert_eq!(gateway.get("/v1/models").status, 401);
}

#[test]
fn stores_only_hashes_of_keys() {
    let (gateway, key) = limited(None, KeyLimits::default());
    let file = std::fs::read_to_string(gateway.folder.path().join(KeyFile::NAME)).unwrap();
    assert!(!file.contains(key.strip_prefix("Bearer ").unwrap()), "{file}");
    let mut keys = KeyFile::read(&gateway.folder.path().join(KeyFile::NAME)).unwrap();
    assert!(keys.add("phone", None, KeyLimits::default()).is_err());
    for name in ["a/b", "local", ""] {
        assert!(keys.add(name, None, KeyLimits::default()).is_err(), "{name}");
    }
    keys.revoke("phone").unwrap();
    assert!(keys.keys.is_empty() && keys.revoke("phone").is_err());
}

#[test]
fn reports_exceeded_limit_with_retry_time() {
    for limits in [
        KeyLimits { requests: Some(1), ..KeyLimits::default() },
        KeyLimits { tokens: Some(8), ..KeyLimits::default() },
    ] {
        for path in ["/v1/chat/completions", "/v1/embeddings"] {
            let (gateway, key) = limited(None, limits);
            let headers = [("authorization", key.as_str())];
            assert_eq!(gateway.ask("POST", path, &headers, &hello()).status, 200);
            let refused = gateway.ask("POST", path, &headers, &hello());
            assert_eq!(refused.status, 429, "{refused:?}");
            let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&wait), "{wait}");
            assert_eq!(refused.json()["error"]["type"], "rate_limit_error");
        }
    }
}

#[test]
fn enforces_conversation_limit_of_key() {
    let (gateway, key) = limited(None, KeyLimits { conversations: Some(1), ..KeyLimits::default() });
    let headers = [("authorization", key.as_str()), ("x-ctx-conversation", "first")];
    assert_eq!(gateway.ask("POST", "/v1/chat/completions", &headers, &hello()).status, 200);
    for (path, pointer, kind) in [
        ("/v1/chat/completions", "/error/code", "permission_denied"),
        ("/v1/messages", "/error/type", "permission_error"),
    ] {
        let refused = gateway.ask("POST", path, &[headers[0], ("x-ctx-conversation", "second")], &hello());
        assert_eq!(refused.status, 403, "{refused:?}");
        assert_eq!(refused.json().pointer(pointer).unwrap(), kind, "{refused:?}");
    }
    // Nothing is stored without a name.
    assert_eq!(gateway.ask("POST", "/v1/chat/completions", &headers[..1], &hello()).status, 200);
    assert_eq!(gateway.ask("POST", "/v1/chat/completions", &headers, &hello()).status, 200);
}

#[test]
fn enforces_conversation_limit_for_concurrent_requests() {
    let (gateway, key) = limited(None, KeyLimits { conversations: Some(3), ..KeyLimits::default() });
    let body = hello();
    // All of them lack the last byte until the last one has connected.
    let (last, rest) = body.split_last().unwrap();
    let begin = |name: String| {
        let headers = [("authorization", key.as_str()), ("x-ctx-conversation", &name)];
        gateway.begin(("POST", "/v1/chat/completions"), &headers, (rest, body.len()))
    };
    let begun: Vec<_> = (0..16).map(|number| begin(number.to_string())).collect();
    let ended = begun.into_iter().map(|mut stream| {
        stream.write_all(&[*last]).unwrap();
        stream
    });
    let mut statuses: Vec<u16> =
        ended.collect::<Vec<_>>().into_iter().map(|stream| read(stream).status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [&[200; 3][..], &[403; 13]].concat());
}

#[test]
fn uses_changed_agent_in_next_turn() {
    let gateway = TestGateway::open(
        TestGateway::new(Dialect::OpenaiChat, vec![]).close(),
        Dialect::OpenaiChat,
        Server::start(|_| complete_response(Dialect::OpenaiChat)),
    );
    let sent = || {
        let response = gateway.ask("POST", "/v1/chat/completions", &[], &hello());
        assert_eq!(response.status, 200, "{response:?}");
        gateway.request().json()["messages"][0]["content"].as_str().unwrap().to_owned()
    };
    assert!(sent().contains("You are Ada."));
    let path = gateway.folder.path().join("ada.yaml");
    std::fs::write(&path, AGENT.replace("You are Ada.", "You are Charles Babbage.")).unwrap();
    assert!(sent().contains("You are Charles Babbage."));
    std::fs::write(&path, "presetMessages: [{").unwrap();
    assert!(sent().contains("You are Charles Babbage."));
}

#[test]
fn serves_new_agent_without_restart() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let gateway = TestGateway::open(
        folder,
        Dialect::OpenaiChat,
        Server::start(|_| complete_response(Dialect::OpenaiChat)),
    );
    let ask = |model: &str| {
        let body = json!({ "model": model, "messages": [{ "role": "user", "content": "Hello" }] });
        gateway.post("/v1/chat/completions", &body).status
    };
    assert_eq!(ask("bob"), 404);
    std::fs::write(gateway.folder.path().join("bob.yaml"), AGENT).unwrap();
    while ask("bob") == 404 {}
    assert_eq!(ask("bob"), 200);
    std::fs::remove_file(gateway.folder.path().join("bob.yaml")).unwrap();
    while ask("bob") == 200 {}
    assert_eq!((ask("bob"), ask("ada")), (404, 200));
}

#[test]
fn forwards_no_request_for_a_broken_or_deleted_agent() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let provider = Server::start(|_| complete_response(Dialect::OpenaiChat));
    let gateway = TestGateway::open_with(folder, Dialect::OpenaiChat, provider, |options| {
        options.passthrough = true;
    });
    let status = || gateway.ask("POST", "/v1/chat/completions", &[], &hello()).status;
    let path = gateway.folder.path().join("ada.yaml");
    assert_eq!(status(), 200);
    std::fs::write(&path, "presetMessages: [{").unwrap();
    // The gateway reloads the list of agents during these requests.
    assert!((0..30).all(|_| status() == 200));
    std::fs::remove_file(&path).unwrap();
    while status() == 200 {}
    assert_eq!(status(), 404);
    let requests = gateway.provider.requests();
    assert!(requests.iter().all(|request| request.json()["model"] == "some-model"), "{requests:?}");
}

#[test]
fn sends_failing_request_at_most_twice() {
    for (retries_itself, expected) in [(false, 2), (true, 1)] {
        let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
        let provider = Server::start(|_| Answer::error(503, "down", "try later"));
        let gateway = TestGateway::open(folder, Dialect::OpenaiChat, provider);
        let headers: &[_] = if retries_itself { &[("x-stainless-retry-count", "0")] } else { &[] };
        let response = gateway.ask("POST", "/v1/chat/completions", headers, &hello());
        assert_eq!((response.status, gateway.provider.requests().len()), (503, expected), "{response:?}");
    }
}

#[test]
fn counts_requests_and_tokens_in_metrics() {
    let (gateway, key) = limited(None, KeyLimits::default());
    let headers = [("authorization", key.as_str())];
    gateway.ask("POST", "/v1/chat/completions", &headers, &hello());
    gateway.ask("POST", "/v1/messages", &headers, b"{}");
    assert_eq!(gateway.get("/metrics").status, 401);
    let metrics = gateway.ask("GET", "/metrics", &headers, b"").body;
    for line in [
        "ctx_requests_total{dialect=\"openai\",status=\"2xx\"} 1",
        "ctx_requests_total{dialect=\"anthropic\",status=\"4xx\"} 1",
        "ctx_input_tokens_total 5",
        "ctx_output_tokens_total 3",
        "ctx_turns_open 0",
        "ctx_ready_seconds_count 1",
        "ctx_shared_prefix_tokens_total 0",
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line} is not in\n{metrics}");
    }
}

#[test]
fn exports_spans_without_texts_and_keys() {
    let collector = Server::start(|_| Answer::json(200, &json!({})));
    let address = collector.base_url();
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    let provider = Server::start(|_| complete_response(Dialect::OpenaiChat));
    let gateway = TestGateway::open_with(folder, Dialect::OpenaiChat, provider, |options| {
        options.collector = address.strip_suffix("/v1").map(str::to_owned);
    });
    let secret = [("x-api-key", "ctx-canary")];
    assert_eq!(gateway.ask("POST", "/v1/chat/completions", &secret, &hello()).status, 200);
    assert_eq!(gateway.ask("POST", "/v1/chat/completions", &secret, b"Hello").status, 400);
    let streamed = crate::streams::stream_request(Dialect::Anthropic, "c").to_string();
    assert_eq!(gateway.ask("POST", "/v1/messages", &secret, streamed.as_bytes()).status, 200);
    gateway.close();
    let told = collector.requests();
    assert!(told.iter().all(|request| request.path == "/v1/traces"), "{told:?}");
    let told: Vec<u8> = told.into_iter().flat_map(|request| request.body).collect();
    let count = |text: &str| told.windows(text.len()).filter(|bytes| *bytes == text.as_bytes()).count();
    assert_eq!((count("ctx.request"), count("gen_ai.agent.name"), count("127.0.0.1")), (3, 2, 2));
    assert_eq!(["Hello", "canary", PROVIDER_KEY, "You are"].map(count), [0; 4]);
}
