//! A conversation, an agent, tools and a server, ready for a turn.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ctx_chat::{
    Chat, ChatLog, Client, Conversation, ConversationStore as _, Endpoint, RetryPolicy, SqliteStore, Tool,
    ToolAccess, ToolError, ToolHost, ToolLimits, ToolPolicy, TurnEnd, TurnError, TurnEvent, TurnOutcome,
    TurnRequest, run_turn,
};
use ctx_engine::{Compile, CompiledAgent, Engine};
use ctx_pipeline::Cancel;
use ctx_tokens::ModelTable;
use ctx_types::ports::ToolDefinition;
use ctx_types::session::Node;
use ctx_types::{Agent, Persist as _, Reader, Role, Text, ToolCall, TurnInput};
use ctx_wire::{Dialect, lint};
use serde_json::{Value, json};

use crate::server::{Answer, Server};

/// Runs a test that waits.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Everything that a turn needs; the server is usually one that answers by a script.
pub(crate) struct Room<S = Server> {
    pub(crate) server: S,
    pub(crate) client: Client,
    pub(crate) store: SqliteStore,
    pub(crate) conversation: Conversation,
    pub(crate) agent: CompiledAgent,
    pub(crate) cancel: Cancel,
    /// What was told, one line each.
    pub(crate) told: Vec<String>,
    /// When something of this is told, the turn is cancelled.
    pub(crate) cancel_at: Option<&'static str>,
}

impl Room {
    /// A room with these answers of the server, and an empty conversation.
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::with(
            Server::script(answers),
            &json!({ "presetMessages": [
            { "role": "system", "content": "Be kind." },
            { "type": "chat_history" },
        ] }),
        )
    }

    pub(crate) fn with(server: Server, agent: &Value) -> Self {
        let endpoint = Endpoint {
            time: server.time_limits(),
            retry: RetryPolicy { retries: 1, first_wait: Duration::from_millis(1), ..RetryPolicy::default() },
            ..Endpoint::new(Dialect::OpenaiChat, server.base_url())
        };
        Self::at(server, endpoint, agent)
    }

    /// A request in which the user says something.
    pub(crate) fn says(text: &str) -> TurnRequest {
        let turn = TurnInput::default().with(|turn| {
            turn.input = Some(text).filter(|text| !text.is_empty()).map(Text::from);
            turn.model = Some("test-model".into());
        });
        TurnRequest { turn, ..TurnRequest::default() }
    }

    /// Checks that everything that was sent is sound.
    pub(crate) fn check_requests(&self) {
        for request in self.server.requests() {
            let found = lint::check(&request.json(), Dialect::OpenaiChat);
            assert!(found.is_empty(), "{found:?}");
        }
    }
}

impl<S> Room<S> {
    /// A room with a server that is reached like this.
    pub(crate) fn at(server: S, endpoint: Endpoint, agent: &Value) -> Self {
        let client = Client::new(endpoint).unwrap();
        let store = SqliteStore::in_memory().unwrap();
        let conversation = block_on(Conversation::create(&store, "c", Some(1))).unwrap();
        let agent = Agent::read(agent.clone(), &mut Reader::new());
        let agent = engine().compile(&agent, &Compile::default());
        let (told, cancel) = (Vec::new(), Cancel::default());
        Self { server, client, store, conversation, agent, cancel, told, cancel_at: None }
    }

    /// Adds messages to the conversation, users' and assistants' in turn.
    pub(crate) fn said(mut self, texts: &[&str]) -> Self {
        for (index, text) in texts.iter().enumerate() {
            let role = if index % 2 == 0 { Role::User } else { Role::Assistant };
            block_on(self.conversation.append(&self.store, Node::new(role, *text), Some(2))).unwrap();
        }
        self
    }

    /// Carries out a turn in which the user says something; the chat can be changed before.
    pub(crate) fn turn<'s>(&'s mut self, text: &str, change: impl FnOnce(&mut Chat<'s>)) -> TurnEnd {
        self.request(Room::says(text), change).unwrap()
    }

    pub(crate) fn request<'s>(
        &'s mut self,
        request: TurnRequest,
        change: impl FnOnce(&mut Chat<'s>),
    ) -> Result<TurnEnd, TurnError> {
        let mut chat = Chat::new(&self.agent, &self.client);
        chat.clock = &tick;
        change(&mut chat);
        let (told, cancel, cancel_at) = (&mut self.told, &self.cancel, self.cancel_at);
        let mut watch = |event: TurnEvent| {
            let line = outline(&event);
            if cancel_at.is_some_and(|at| line.starts_with(at)) {
                cancel.cancel();
            }
            told.push(line);
        };
        let log =
            ChatLog { store: &self.store, conversation: &mut self.conversation, memory: None, lease: None };
        block_on(run_turn(&chat, Some(log), request, &mut watch, cancel))
    }

    /// The stored conversation, loaded anew, a line for each message of the active path.
    pub(crate) fn stored(&self) -> Vec<String> {
        let again = block_on(Conversation::load(&self.store, "c")).unwrap();
        assert_eq!(again.session(), self.conversation.session(), "memory and store differ");
        let messages = again
            .session()
            .path()
            .into_iter()
            .map(|node| node.to_message(&node.id.clone().unwrap_or_default()));
        let line = |message: ctx_types::Message| {
            let calls: Vec<String> =
                message.tool_calls.iter().map(|call| format!(" [{} {}]", call.id, call.name)).collect();
            let id = message.tool_call_id.as_deref().map(|id| format!("({id})")).unwrap_or_default();
            format!("{}{id}: {}{}", message.role, message.text(), calls.concat())
        };
        messages.map(line).collect()
    }

    /// How many conversations the store has.
    pub(crate) fn conversations(&self) -> usize {
        block_on(self.store.list()).unwrap().len()
    }
}

/// An engine that needs no tokenizer for the model of the tests: loading one takes longer than all else.
fn engine() -> Engine {
    let row = r#"[{ "pattern": "^test-model$", "encoding": "estimate" }]"#;
    let (models, found) = ModelTable::builtin().with_override(row);
    assert!(found.is_empty(), "{found:?}");
    let mut engine = Engine::new();
    engine.models = Arc::new(models);
    engine
}

/// A clock that goes on by a millisecond whenever somebody looks.
fn tick() -> i64 {
    static TICKS: AtomicI64 = AtomicI64::new(0);
    TICKS.fetch_add(1, Ordering::Relaxed)
}

/// How a turn ended, in a word, and with which code.
pub(crate) fn ending(end: &TurnEnd) -> String {
    match &end.outcome {
        TurnOutcome::Answered => "answered".to_owned(),
        TurnOutcome::Aborted => "aborted".to_owned(),
        TurnOutcome::Failed(failure) => failure.code().to_owned(),
        _ => "?".to_owned(),
    }
}

/// An event on a line.
fn outline(event: &TurnEvent) -> String {
    match event {
        TurnEvent::Stored { id, role } => format!("stored {role} {id}"),
        TurnEvent::Usage { level, .. } => format!("usage {}", level.as_str()),
        TurnEvent::Summarizing(_) => "summarizing".to_owned(),
        TurnEvent::Summarized(notice) => format!("summarized: {notice}"),
        TurnEvent::NotSummarized(reason) => format!("not summarized: {reason}"),
        TurnEvent::Compressed(report) => format!("compressed {}", report.outcome.name()),
        TurnEvent::NotCompressed(reason) => format!("not compressed: {reason}"),
        TurnEvent::Sending { round, .. } => format!("sending {round}"),
        TurnEvent::Retry { attempt, .. } => format!("retry {attempt}"),
        TurnEvent::PlannedBreak(planned) => format!("new prefix: {}", planned.reason),
        TurnEvent::Overflowed => "overflowed".to_owned(),
        TurnEvent::Delta(ctx_wire::Delta::Text(text)) => format!("text {text}"),
        TurnEvent::Delta(ctx_wire::Delta::Call { index, id, name }) => format!("call {index} {id} {name}"),
        TurnEvent::Delta(_) => "delta".to_owned(),
        TurnEvent::Replied { .. } => "replied".to_owned(),
        TurnEvent::ToolStarted { name, .. } => format!("start {name}"),
        TurnEvent::ToolFinished { name, is_error, .. } => format!("finish {name} {is_error}"),
        TurnEvent::Found(found) => format!("found {}", found.code),
        _ => "?".to_owned(),
    }
}

/// Tools for tests: each does what its name says.
pub(crate) struct Bench;

#[async_trait]
impl ToolHost for Bench {
    fn tools(&self) -> Vec<Tool> {
        let names = ["echo", "fail", "hang", "huge", "panic", "empty", "first", "second", "ask"];
        let tool = |name: &str| ToolDefinition {
            name: name.into(),
            description: None,
            parameters: std::sync::Arc::new(json!({ "type": "object" })),
        };
        let tool = |name: &str| Tool {
            needs_approval: name == "ask",
            category: (name == "echo").then(|| "safe".into()),
            ..Tool::new(tool(name))
        };
        names.into_iter().map(tool).collect()
    }

    #[expect(clippy::panic, reason = "one of the tools is there to panic")]
    async fn call(&self, call: &ToolCall, _: &Cancel) -> Result<String, ToolError> {
        match &*call.name {
            "fail" => Err(ToolError("it is broken".to_owned())),
            "hang" => std::future::pending().await,
            "huge" => Ok("x".repeat(100 << 20)),
            "panic" => panic!("a tool's own fault"),
            "empty" => Ok(String::new()),
            // The first is done after the second.
            "first" => {
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
                Ok("one".to_owned())
            }
            "second" => Ok("two".to_owned()),
            _ => Ok(call.arguments.as_str().to_owned()),
        }
    }
}

/// Gives a chat the tools for tests.
pub(crate) fn with_bench<'a>(chat: &mut Chat<'a>, host: &'a dyn ToolHost) {
    let limits = ToolLimits { time: Duration::from_millis(100), ..ToolLimits::default() };
    let policy = ToolPolicy::default();
    chat.tools = Some(ToolAccess { host, policy, approval: None, limits, spill: None });
}
