//! The provider gets the bytes that `ctx assemble` prints.

use ctx_project::{ConfigOptions, Sources, Turn, TurnOptions};
use ctx_types::TurnInput;
use ctx_wire::Dialect;
use serde_json::{Value, json};

use crate::server::{Answer, Server, Step};
use crate::test_gateway::{AT, PROVIDER_KEY, TestGateway};

/// A provider's complete response.
pub(crate) fn complete_response(dialect: Dialect) -> Answer {
    Answer::json(
        200,
        &match dialect {
            Dialect::Anthropic => json!({ "type": "message", "role": "assistant", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": "Hi there" }], "usage": { "input_tokens": 5, "output_tokens": 3 } }),
            Dialect::Gemini => {
                json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "Hi there" }] },
            "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 3 } })
            }
            Dialect::OpenaiResponses => {
                json!({ "id": "r", "status": "completed", "output": [{ "type": "message", "id": "m",
            "role": "assistant", "content": [{ "type": "output_text", "text": "Hi there" }] }],
            "usage": { "input_tokens": 5, "output_tokens": 3 } })
            }
            _ => {
                json!({ "choices": [{ "message": { "role": "assistant", "content": "Hi there" }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 5, "completion_tokens": 3 } })
            }
        },
    )
}

/// Returns the output of `ctx assemble AGENT --session FILE --tools FILE --format DIALECT`.
pub(crate) fn assembled(
    gateway: &TestGateway,
    conversation: &Value,
    tools: &Value,
    dialect: Dialect,
) -> Vec<u8> {
    let folder = gateway.folder.path();
    std::fs::write(folder.join("chat.json"), conversation.to_string()).unwrap();
    std::fs::write(folder.join("tools.json"), tools.to_string()).unwrap();
    let has_tools = tools.as_array().is_some_and(|tools| !tools.is_empty());
    let options = TurnOptions {
        agent: Some(folder.join("ada.yaml")),
        session: Some(folder.join("chat.json")),
        tools: has_tools.then(|| folder.join("tools.json")),
        model: Some("some-model".to_owned()),
        at: Some(AT.to_owned()),
        config: ConfigOptions { is_ignored: true, ask: None },
        ..TurnOptions::default()
    };
    let mut turn = Turn::open(&options, &mut Sources::default()).unwrap();
    turn.input = TurnInput::with(turn.input.clone(), |input| input.dialect = Some(dialect.name().into()));
    let context = turn.assemble(false).unwrap();
    turn.body_bytes(&context, None).0
}

/// Sends a conversation as a chat completion, and compares the provider's request.
#[track_caller]
fn check(dialect: Dialect, conversation: &Value, tools: &Value) {
    let gateway = TestGateway::new(dialect, vec![complete_response(dialect)]);
    let mut body = json!({ "model": "ada", "messages": conversation });
    if tools.as_array().is_some_and(|tools| !tools.is_empty()) {
        body["tools"] = tools.clone();
    }
    let response = gateway.post("/v1/chat/completions", &body);
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(response.json()["choices"][0]["message"]["content"], "Hi there");
    let sent = String::from_utf8(gateway.request().body).unwrap();
    let expected = String::from_utf8(assembled(&gateway, conversation, tools, dialect)).unwrap();
    assert_eq!(sent, expected);
}

const PROVIDERS: [Dialect; 4] =
    [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Anthropic, Dialect::Gemini];

#[test]
fn sends_conversation_like_ctx_assemble() {
    let conversation = json!([
        { "role": "system", "content": "The client's own words." },
        { "role": "user", "content": "Hello" },
        { "role": "assistant", "content": "Hi." },
        { "role": "user", "content": "How are you?\n" },
    ]);
    for dialect in PROVIDERS {
        check(dialect, &conversation, &json!([]));
    }
}

#[test]
fn sends_tools_calls_and_results_like_ctx_assemble() {
    let conversation = json!([
        { "role": "user", "content": "Rain?" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "weather", "arguments": "{\"at\": \"here\"}" } }] },
        { "role": "tool", "tool_call_id": "c1", "content": "sunny" },
    ]);
    let schema = json!({ "type": "object", "properties": { "at": { "type": "string" } } });
    let function =
        json!({ "name": "weather", "description": "Tells it.", "parameters": schema, "strict": true });
    let tools = json!([{ "type": "function", "function": function }]);
    for dialect in PROVIDERS {
        check(dialect, &conversation, &tools);
    }
}

#[test]
fn sends_images_like_ctx_assemble() {
    let picture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let conversation = json!([{ "role": "user", "content": [
        { "type": "text", "text": "What is this?" },
        { "type": "image_url", "image_url": { "url": picture } },
    ] }]);
    for dialect in PROVIDERS {
        check(dialect, &conversation, &json!([]));
    }
}

#[test]
fn dry_run_returns_request_without_sending_or_storing() {
    let gateway = TestGateway::new(Dialect::Anthropic, vec![]);
    let conversation = json!([{ "role": "user", "content": "Hello" }]);
    let body = json!({ "model": "ada", "messages": conversation });
    let response =
        gateway.ask("POST", "/v1/chat/completions", &[("x-ctx-dry-run", "1")], body.to_string().as_bytes());
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(response.body.as_bytes(), assembled(&gateway, &conversation, &json!([]), Dialect::Anthropic));
    assert_eq!(gateway.provider.requests().len(), 0);
    assert_eq!(gateway.get("/conversations").json()["data"], json!([]));
    let refused = |headers: &[(&str, &str)], body: &str, told: &str| {
        let response = gateway.ask("POST", "/v1/chat/completions", headers, body.as_bytes());
        assert_eq!((response.status, response.json()["error"]["message"].as_str()), (400, Some(told)));
    };
    refused(&[("x-ctx-dry-run", "yes")], &body.to_string(), "the header `x-ctx-dry-run` must be `1` or `0`");
    refused(&[], " ", "the request body is empty");
    let missing = gateway.ask("POST", "/conversations/diary/undo", &[], b"");
    assert_eq!(missing.json()["error"]["message"], "no conversation `diary`");
}

/// An agent with a small token limit. Older messages become a digest.
const SMALL: &str = "name: Ada\nprefix: moving\npresetMessages:\n- {role: system, content: You are Ada.}\n\
     - {type: chat_history}\n\
     parameters: {contextManagement: {enabled: true, maxContextTokens: 2000}, contextCompression: {autoTrigger: false}}\n";

#[test]
fn sends_dry_run_requests_with_stable_prefix() {
    let folder = TestGateway::new(Dialect::OpenaiChat, vec![]).close();
    std::fs::write(folder.path().join("small.yaml"), SMALL).unwrap();
    let gateway = TestGateway::open(
        folder,
        Dialect::OpenaiChat,
        Server::start(|_| complete_response(Dialect::OpenaiChat)),
    );
    let said = |n: usize| {
        let text =
            format!("Lamp {n} of the pier was lit by Ada at {}:30, before dawn and in the rain.", n % 24);
        json!({ "role": if n.is_multiple_of(2) { "user" } else { "assistant" }, "content": text })
    };
    let named = [("x-ctx-conversation", "c")];
    let dry = [("x-ctx-conversation", "c"), ("x-ctx-dry-run", "1")];
    let mut heads = Vec::new();
    for turn in 0..4 {
        let new = if turn == 0 { (0..401).map(said).collect() } else { vec![said(2 * turn)] };
        let body = json!({ "model": "small", "messages": new }).to_string();
        let ask = |headers: &[(&str, &str)]| {
            let response = gateway.ask("POST", "/v1/chat/completions", headers, body.as_bytes());
            assert_eq!(response.status, 200, "{response:?}");
            response
        };
        // The first one has nothing yet that a dry run could see.
        let shown = (turn > 0).then(|| ask(&dry).body);
        ask(&named);
        let sent = gateway.provider.requests().pop().unwrap();
        assert!(shown.is_none_or(|shown| shown.as_bytes() == sent.body), "turn {turn}");
        heads.push(sent.messages().remove(0).1);
    }
    assert!(heads[0].contains("Lamp 1") && heads.iter().all(|head| *head == heads[0]), "{heads:?}");
}

/// A gateway that forwards requests for other models.
fn forwarding(dialect: Dialect, answers: Vec<Answer>) -> TestGateway {
    let folder = TestGateway::new(dialect, vec![]).close();
    TestGateway::open_with(folder, dialect, Server::script(answers), |options| options.passthrough = true)
}

#[test]
fn forwards_other_models_unchanged() {
    use Dialect::{Anthropic, Gemini, OpenaiChat};
    let events = "event: x\r\ndata: {\"odd\":  1}\n\n: comment\n\n";
    let body = "{ \"model\":\"other\",\n \"odd\": [1.0, 1e2] }";
    for (dialect, path, expected) in [
        (OpenaiChat, "/v1/chat/completions", "/v1/chat/completions"),
        (OpenaiChat, "/v1/responses?key=secret", "/v1/responses"),
        (OpenaiChat, "/v1/completions", "/v1/completions"),
        (OpenaiChat, "/v1/embeddings", "/v1/embeddings"),
        (Anthropic, "/v1/messages?beta=true", "/v1/messages?beta=true"),
        (Anthropic, "/v1/messages/count_tokens", "/v1/messages/count_tokens"),
        (Gemini, "/v1beta/models/other:countTokens", "/v1/models/other:countTokens"),
        (
            Gemini,
            "/v1beta/models/other:streamGenerateContent?alt=sse&key=secret",
            "/v1/models/other:streamGenerateContent?alt=sse",
        ),
    ] {
        let answer = Answer::stream(vec![Step::Bytes(events.as_bytes().to_vec())]);
        let gateway = forwarding(dialect, vec![answer]);
        let headers = [("authorization", "Bearer secret"), ("x-stainless-lang", "js"), ("cookie", "secret")];
        let response = gateway.ask("POST", path, &headers, body.as_bytes());
        assert_eq!((response.status, response.body.as_str()), (200, events), "{response:?}");
        assert_eq!(response.header("content-type"), Some("text/event-stream"));
        let sent = gateway.request();
        assert_eq!((sent.path.as_str(), sent.body.as_slice()), (expected, body.as_bytes()));
        assert_eq!(sent.header("x-stainless-lang"), Some("js"));
        let has = |text: &str| sent.headers.iter().any(|line| line.contains(text));
        assert!(has(PROVIDER_KEY) && !has("secret"), "{sent:?}");
    }
}

#[test]
fn forwards_errors_without_the_api_key() {
    let error = Answer::error(429, "odd", &format!("no {PROVIDER_KEY}")).with_header("retry-after: 7");
    let gateway = forwarding(Dialect::OpenaiChat, vec![error]);
    let body = json!({ "model": "other", "input": "x" });
    let response = gateway.post("/v1/embeddings", &body);
    assert_eq!((response.status, response.header("retry-after")), (429, Some("7")), "{response:?}");
    assert_eq!(response.json()["error"]["message"], "no [redacted]");
    gateway.request();
    let dry = gateway.ask("POST", "/v1/embeddings", &[("x-ctx-dry-run", "1")], body.to_string().as_bytes());
    assert_eq!(dry.json(), body);
    for path in ["/v1/messages", "/v1beta/models/other:generateContent", "/v1beta/models/..:embedContent"] {
        assert_eq!(gateway.post(path, &body).status, 404, "{path}");
    }
    assert_eq!(gateway.provider.requests().len(), 0);
}

#[test]
fn keeps_forwarded_models_in_their_folder() {
    let gateway = forwarding(Dialect::Gemini, vec![]);
    for model in ["..", ".%09./.%09./tunedModels/x", "..%5C..%5Cx"] {
        let response =
            gateway.post(&format!("/v1beta/models/{model}:embedContent"), &json!({ "content": {} }));
        assert!(response.status >= 400, "{model} {response:?}");
    }
    assert_eq!(gateway.provider.requests().len(), 0);
}

#[test]
fn forwards_embeddings_to_the_provider_of_an_agent() {
    let embeddings = json!({ "data": [], "usage": { "prompt_tokens": 5, "total_tokens": 5 } });
    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![Answer::json(200, &embeddings)]);
    let response =
        gateway.post("/v1/embeddings", &json!({ "input": "x", "model": "ada@text-embedding-3-small" }));
    assert_eq!((response.status, response.json()), (200, embeddings));
    let expected = json!({ "input": "x", "model": "text-embedding-3-small" });
    assert_eq!(gateway.request().json(), expected);
    assert!(gateway.get("/metrics").body.contains("ctx_input_tokens_total 5\n"));
    assert_eq!(gateway.post("/v1/embeddings", &json!({ "input": "x", "model": "other" })).status, 404);
}

#[test]
fn names_the_model_of_gemini_in_embedding_requests() {
    let gateway = TestGateway::new(Dialect::Gemini, vec![Answer::json(200, &json!({ "embeddings": [] }))]);
    let content = json!({ "parts": [{ "text": "x" }] });
    let requests = |model: &str| json!({ "requests": [{ "model": model, "content": content }] });
    let path = "/v1beta/models/ada@text-embedding-004:batchEmbedContents";
    assert_eq!(gateway.post(path, &requests("models/ada@text-embedding-004")).status, 200);
    let sent = gateway.request();
    assert_eq!(sent.path, "/v1/models/text-embedding-004:batchEmbedContents");
    assert_eq!(sent.json(), requests("models/text-embedding-004"));
}

#[test]
fn counts_tokens_of_provider_request() {
    let user = json!([{ "role": "user", "content": "Hello" }]);
    let body = json!({ "model": "ada", "messages": user, "temperature": 1 });
    let count = json!({ "input_tokens": 42 });
    let gateway = TestGateway::new(Dialect::Anthropic, vec![Answer::json(200, &count)]);
    assert_eq!(gateway.post("/v1/messages/count_tokens", &body).json(), count);
    let sent = gateway.request();
    assert_eq!(sent.path, "/v1/messages/count_tokens");
    let sent = sent.json();
    assert!(sent["system"].to_string().contains("You are Ada."), "{sent}");
    assert_eq!((sent.get("temperature"), sent.get("max_tokens")), (None, None));

    let gateway = TestGateway::new(Dialect::OpenaiChat, vec![]);
    let contents = json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hello" }] }] });
    for (path, body, name) in [
        ("/v1/messages/count_tokens", &body, "input_tokens"),
        ("/v1beta/models/ada:countTokens", &contents, "totalTokens"),
        ("/v1beta/models/ada:countTokens", &json!({ "generateContentRequest": contents }), "totalTokens"),
    ] {
        let response = gateway.post(path, body);
        assert!((10..100).contains(&response.json()[name].as_u64().unwrap()), "{response:?}");
    }
    assert_eq!(gateway.provider.requests().len(), 0);
    assert_eq!(gateway.get("/conversations").json()["data"], json!([]));
}

#[test]
fn returns_headers_of_the_provider() {
    for (answer, streams) in [
        (complete_response(Dialect::OpenaiChat), false),
        (Answer::text("Hi there"), true),
        (Answer::error(400, "odd", "no"), false),
        (Answer::error(400, "odd", "no"), true),
    ] {
        let answer = answer.with_header("x-request-id: r1").with_header("set-cookie: a=b");
        let answer = answer.with_header("anthropic-ratelimit-tokens-remaining: 7");
        let gateway = TestGateway::new(Dialect::OpenaiChat, vec![answer]);
        let user = json!([{ "role": "user", "content": "Hello" }]);
        let body = json!({ "model": "ada", "stream": streams, "messages": user });
        let response = gateway.post("/v1/chat/completions", &body);
        let names = ["x-request-id", "anthropic-ratelimit-tokens-remaining", "set-cookie"];
        assert_eq!(names.map(|name| response.header(name)), [Some("r1"), Some("7"), None], "{response:?}");
    }
}

#[test]
fn returns_stored_responses_of_named_conversations() {
    let gateway =
        TestGateway::new(Dialect::OpenaiResponses, vec![complete_response(Dialect::OpenaiResponses)]);
    let named = [("x-ctx-conversation", "c")];
    let body = json!({ "model": "ada", "input": "Hello" }).to_string();
    let response = gateway.ask("POST", "/v1/responses", &named, body.as_bytes()).json();
    let stored = gateway.get(&format!("/v1/responses/{}", response["id"].as_str().unwrap())).json();
    assert_eq!((&stored["id"], &stored["status"]), (&response["id"], &json!("completed")));
    assert_eq!(stored["output"][0]["content"][0]["text"], "Hi there");
    assert_eq!(stored["usage"]["input_tokens"], 5);
    assert_eq!(gateway.get("/v1/responses/other").status, 404);
}
