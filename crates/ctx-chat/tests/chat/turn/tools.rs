//! Tools: who may call them, what they may take, and that each call has one result.

use async_trait::async_trait;
use ctx_chat::{
    ApiKey, Approval, Conversation, Endpoint, SpillFolder, SqliteStore, StoreError, Tool, ToolError,
    ToolHost, ToolPolicy, ToolRules, Verdict,
};
use ctx_pipeline::Cancel;
use ctx_types::ToolCall;
use ctx_types::ports::ToolDefinition;
use ctx_wire::Dialect;
use serde_json::json;

use crate::room::{Bench, Room, block_on, ending, with_bench};
use crate::server::{Answer, Server};

/// Lets the model call a tool, and compares the result that it is given.
#[track_caller]
fn check(name: &str, arguments: &str, expected: &str) {
    let mut room = Room::new([Answer::calls(&[("a", name, arguments)]), Answer::text("Done.")]);
    assert_eq!(ending(&room.turn("Go", |chat| with_bench(chat, &Bench))), "answered");
    assert_eq!(room.stored()[2], format!("tool(a): {expected}"));
    room.check_requests();
}

#[test]
fn a_result_is_what_the_tool_says() {
    check("echo", r#"{"x":1}"#, r#"{"x":1}"#);
    check("empty", "{}", "(no output)");
}

#[test]
fn a_tool_that_does_not_work_says_so_to_the_model() {
    check("fail", "{}", "error: it is broken");
    check("hang", "{}", "error: the tool took longer than 0.1 s");
    check("panic", "{}", "error: the tool panicked");
}

#[test]
fn arguments_that_are_no_object_are_not_passed_on() {
    check("echo", "[1]", "error: the arguments are not a JSON object");
    let stored = "error: the arguments are not valid JSON: EOF while parsing an object at line 1 column 1";
    check("echo", "{", stored);
}

#[test]
fn a_tool_that_does_not_exist_is_not_called() {
    let names = "echo, fail, hang, huge, panic, empty, first, second, ask";
    check("rm", "{}", &format!("error: unknown tool `rm`; tools: {names}"));
}

#[test]
fn where_there_are_no_tools_none_is_called() {
    let mut room = Room::new([Answer::calls(&[("a", "echo", "{}")]), Answer::text("Done.")]);
    room.turn("Go", |_| ());
    assert_eq!(room.stored()[2], "tool(a): error: unknown tool `echo`; tools: none");
    assert!(room.server.requests()[0].json().get("tools").is_none());
}

#[test]
fn results_keep_the_order_of_their_calls() {
    let calls = [("a", "first", "{}"), ("b", "second", "{}"), ("c", "fail", "{}"), ("d", "echo", "{}")];
    let mut room = Room::new([Answer::calls(&calls), Answer::text("Done.")]);
    room.turn("Go", |chat| with_bench(chat, &Bench));
    let stored = room.stored();
    assert_eq!(stored[2..6], ["tool(a): one", "tool(b): two", "tool(c): error: it is broken", "tool(d): {}"]);
    room.check_requests();
}

#[test]
fn an_enormous_result_is_cut_off() {
    let mut room = Room::new([Answer::calls(&[("a", "huge", "{}")]), Answer::text("Done.")]);
    room.turn("Go", |chat| {
        with_bench(chat, &Bench);
        if let Some(access) = &mut chat.tools {
            access.limits.bytes = 1_000;
        }
    });
    let result = &room.stored()[2];
    assert!(result.ends_with("[... truncated: 1000 of 104857600 bytes ...]"), "{result}");
    assert!(result.len() < 1_100);
}

#[test]
fn a_large_result_goes_to_a_file_and_leaves_a_preview() {
    let folder = tempfile::tempdir().unwrap();
    let spill = SpillFolder::new(folder.path()).with_sizes(100, 20);
    let arguments = format!(r#"{{"x":"{}"}}"#, "y".repeat(500));
    let call = Answer::calls(&[("../../x", "echo", &arguments)]);
    let mut room = Room::new([call, Answer::text("Done.")]);
    room.turn("Go", |chat| {
        with_bench(chat, &Bench);
        if let Some(access) = &mut chat.tools {
            access.spill = Some(&spill);
        }
    });
    let result = room.stored()[2].clone();
    let (_, path) = result.split_once("Full output: ").unwrap();
    assert!(path.starts_with(folder.path().to_str().unwrap()) && !path.contains(".."), "{path}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), arguments);
    spill.delete("c").unwrap();
    assert!(!std::path::Path::new(path).exists());
}

#[test]
fn ids_that_come_again_are_told_apart() {
    let call = || Answer::calls(&[("call_0", "echo", "{}")]);
    let mut room = Room::new([call(), call(), Answer::text("Done.")]);
    room.turn("Go", |chat| with_bench(chat, &Bench));
    let stored = room.stored();
    assert_eq!(
        (stored[1].as_str(), stored[3].as_str()),
        ("assistant:  [call_0 echo]", "assistant:  [call_0_2 echo]")
    );
    // Whoever watches knows the second by its own id before it is whole.
    let told = room.told.iter().filter(|line| line.starts_with("call"));
    assert_eq!(told.collect::<Vec<_>>(), ["call 0 call_0 echo", "call 0 call_0_2 echo"]);
    room.check_requests();
}

#[test]
fn the_model_is_told_only_of_what_the_policy_leaves() {
    let mut room = Room::new([Answer::calls(&[("a", "fail", "{}")]), Answer::text("Done.")]);
    room.turn("Go", |chat| {
        with_bench(chat, &Bench);
        if let Some(access) = &mut chat.tools {
            access.policy = ToolPolicy::default()
                .allow(ToolRules {
                    categories: ["safe".into()].into(),
                    tools: ["fail".into(), "empty".into()].into(),
                })
                .deny(ToolRules::tools(["fail"]));
        }
    });
    let tools = room.server.requests()[0].json()["tools"].clone();
    let names: Vec<_> =
        tools.as_array().unwrap().iter().map(|tool| tool["function"]["name"].clone()).collect();
    assert_eq!(json!(names), json!(["echo", "empty"]));
    assert_eq!(room.stored()[2], "tool(a): error: unknown tool `fail`; tools: echo, empty");
}

/// A tool that does something else first, and then says this.
struct Says<F>(String, F);

#[async_trait]
impl<F: Fn(&Cancel) + Send + Sync> ToolHost for Says<F> {
    fn tools(&self) -> Vec<Tool> {
        vec![tool("say", None)]
    }

    async fn call(&self, _: &ToolCall, cancel: &Cancel) -> Result<String, ToolError> {
        (self.1)(cancel);
        match self.0.as_str() {
            "" => std::future::pending().await,
            said => Ok(said.to_owned()),
        }
    }
}

#[test]
fn a_tool_that_takes_too_long_is_told_that_nobody_waits() {
    let told = std::sync::Mutex::new(None);
    let host = Says(String::new(), |cancel: &Cancel| *told.lock().unwrap() = Some(cancel.clone()));
    let mut room = Room::new([Answer::calls(&[("a", "say", "{}")]), Answer::text("Done.")]);
    room.turn("Go", |chat| with_bench(chat, &host));
    assert_eq!(room.stored()[2], "tool(a): error: the tool took longer than 0.1 s");
    assert!(told.lock().unwrap().as_ref().is_some_and(Cancel::is_cancelled));
    assert!(!room.cancel.is_cancelled());
}

#[test]
fn a_key_that_a_tool_finds_is_neither_kept_nor_sent() {
    let key = "sk-TESTCANARY0123456789";
    let server = Server::script([Answer::calls(&[("a", "say", "{}")]), Answer::text("Done.")]);
    let mut endpoint = Endpoint::new(Dialect::OpenaiChat, server.base_url());
    endpoint.key = Some(ApiKey::new(key, "a test").unwrap());
    let host = Says(format!("key = {key}\n"), |_: &Cancel| ());
    let mut room = Room::at(server, endpoint, &json!({ "presetMessages": [{ "type": "chat_history" }] }));
    room.turn("Go", |chat| with_bench(chat, &host));
    assert_eq!(room.stored()[2], "tool(a): key = [redacted]\n");
    assert!(
        room.server.requests().iter().all(|request| !String::from_utf8_lossy(&request.body).contains(key))
    );
}

#[test]
fn a_result_that_cannot_be_stored_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, spill) =
        (folder.path().join("chats.db"), SpillFolder::new(folder.path().join("results")).with_sizes(100, 20));
    let mut room = Room::new([Answer::calls(&[("a", "say", "{}")])]);
    room.store = SqliteStore::open(&file).unwrap();
    room.conversation = block_on(Conversation::create(&room.store, "c", None)).unwrap();
    // Somebody deletes the conversation while the tool is at work.
    let host = Says("x".repeat(1_000), |_: &Cancel| {
        rusqlite::Connection::open(&file).unwrap().execute("DELETE FROM conversations", []).unwrap();
    });
    let error = room.request(Room::says("Go"), |chat| {
        with_bench(chat, &host);
        if let Some(access) = &mut chat.tools {
            access.spill = Some(&spill);
        }
    });
    assert!(matches!(error.unwrap_err().source, StoreError::NotFound { .. }));
    assert_eq!(spill.count("c").unwrap(), 0);
}

#[test]
fn absurd_counts_of_a_provider_end_no_turn() {
    let counted = || {
        let usage = json!({ "prompt_tokens": u64::MAX, "completion_tokens": u64::MAX });
        json!({ "choices": [], "usage": usage })
    };
    let answer = |name: &str| {
        let call = json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": name, "arguments": "{}" } }] });
        Answer::events(&[crate::server::delta(&call), crate::server::end("tool_calls"), counted()])
    };
    let mut room = Room::new([answer("echo"), answer("echo"), Answer::text("Done.")]);
    let end = room.turn("Go", |chat| with_bench(chat, &Bench));
    assert_eq!((end.provider_usage.input, end.provider_usage.output), (u64::MAX, u64::MAX));
}

/// Agrees to what says `yes`.
struct Careful;

#[async_trait]
impl Approval for Careful {
    async fn approve(&self, call: &ToolCall) -> Verdict {
        if call.arguments.contains("yes") {
            Verdict::Allowed
        } else {
            Verdict::Refused("not today".to_owned())
        }
    }
}

/// Lets the model call a tool that somebody has to agree to.
#[track_caller]
fn check_approval(approval: Option<&'static dyn Approval>, arguments: &str, expected: &str) {
    let mut room = Room::new([Answer::calls(&[("a", "ask", arguments)]), Answer::text("Done.")]);
    room.turn("Go", |chat| {
        with_bench(chat, &Bench);
        if let Some(access) = &mut chat.tools {
            access.approval = approval;
        }
    });
    assert_eq!(room.stored()[2], format!("tool(a): {expected}"));
}

#[test]
fn a_call_that_needs_consent_waits_for_it() {
    check_approval(Some(&Careful), r#"{"a":"yes"}"#, r#"{"a":"yes"}"#);
    check_approval(Some(&Careful), "{}", "error: the user rejected this call: not today");
    check_approval(None, "{}", "error: this call requires approval, but approval is not available");
}

fn tool(name: &str, category: Option<&str>) -> Tool {
    let definition =
        ToolDefinition { name: name.into(), description: None, parameters: std::sync::Arc::default() };
    Tool { category: category.map(Into::into), ..Tool::new(definition) }
}

/// Reads a policy for each level and says which of three tools are left.
#[track_caller]
fn check_policy(levels: &[serde_json::Value], expected: &str) {
    let policy = levels.iter().map(ToolPolicy::read).fold(ToolPolicy::default(), ToolPolicy::and);
    let tools = [tool("read", Some("fs")), tool("write", Some("fs")), tool("fetch", None)];
    let left: Vec<&str> = tools.iter().filter(|tool| policy.allows(tool)).map(Tool::name).collect();
    assert_eq!(left.join(" "), expected, "{levels:?}");
}

#[test]
fn an_agent_can_only_narrow_what_the_system_allows() {
    check_policy(&[json!({})], "read write fetch");
    check_policy(&[json!({ "allow": { "categories": ["fs"] } })], "read write");
    check_policy(
        &[json!({ "allow": { "categories": ["fs"] } }), json!({ "allow": { "tools": ["read", "fetch"] } })],
        "read",
    );
    check_policy(
        &[json!({ "deny": { "tools": ["write"] } }), json!({ "deny": { "tools": ["fetch"] } })],
        "read",
    );
    check_policy(&[json!({ "allow": { "tools": [] } })], "");
    check_policy(&[json!({ "allow": {} }), json!({ "deny": { "categories": ["fs"] } })], "fetch");
}

#[test]
fn arguments_that_are_no_json_do_not_spoil_later_requests() {
    let mut room = Room::new([Answer::calls(&[("a", "echo", "{\"x")]), Answer::text("Done.")]);
    room.turn("Go", |chat| with_bench(chat, &Bench));
    let sent = room.server.requests()[1].json();
    assert_eq!(sent["messages"][2]["tool_calls"][0]["function"]["arguments"], r#"{"unreadable":"{\"x"}"#);
    let kept = &room.conversation.session().path()[1].tool_calls[0];
    assert_eq!(kept.arguments.as_ref().unwrap().as_str(), "{\"x");
    assert!(room.told.contains(&"found CTX0851".to_owned()), "{:?}", room.told);
}

#[test]
fn names_that_no_tool_can_have_do_not_spoil_later_requests() {
    let long = "x".repeat(70);
    let names = ["functions.read file", "", "工具", &long, "echo"];
    let calls: Vec<_> = names.iter().map(|name| (*name, *name, "{}")).collect();
    let mut room = Room::new([Answer::calls(&calls), Answer::text("Done.")]);
    room.turn("Go", |chat| with_bench(chat, &Bench));
    let sent = room.server.requests()[1].json();
    let sent = sent["messages"][2]["tool_calls"].as_array().unwrap().iter();
    let sent: Vec<&str> = sent.map(|call| call["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(sent, ["functions_read_file", "unnamed", "__", &long[..64], "echo"]);
    let kept = room.conversation.session().path()[1].tool_calls.clone();
    let kept: Vec<_> = kept.iter().map(|call| call.name.clone().unwrap_or_default()).collect();
    assert_eq!(kept, names.map(Into::into));
    assert!(room.told.contains(&"found CTX0852".to_owned()), "{:?}", room.told);
    room.check_requests();
}
