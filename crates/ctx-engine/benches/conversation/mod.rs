//! Conversations of any length, a preset of 40 messages, and what both are assembled with; always the same.

mod words;

use bpe_openai::o200k_base;
use ctx_engine::{Compile, CompiledAgent, Engine};
use ctx_types::{
    Agent, Node, Persist, Reader, Role, Session, SessionOp, StoredToolCall, Text, TurnInput, UserProfile,
};
use serde_json::{Value, json};

pub(crate) use words::Writer;

/// How many tokens a context may have.
pub(crate) const BUDGET: i64 = 128_000;

/// A model that counts with `o200k_base`.
const MODEL: &str = "gpt-4o";

/// The size of the preset, its anchor for the conversation included.
const PRESET: usize = 40;

/// Every such turn asks a tool.
const TOOL_EVERY: usize = 10;

/// Compiles the agent, and loads what a process loads once and no turn pays for: the tokenizer, with what its
/// expressions remember of the letters they met (70 KB), and the expressions of the table of models.
pub(crate) fn warm() -> CompiledAgent {
    let compiled = Engine::new().compile(&agent(), &with());
    let mut writer = Writer::new(0);
    for number in 0..200 {
        o200k_base().count(&writer.text(1_000, number % 2 == 0));
    }
    let turn = TurnInput { input: Some("Hello".into()), ..turn() };
    let context = compiled.assemble_blocking(&Session::new("warm"), &turn);
    assert!(context.is_ok(), "a greeting fits");
    compiled
}

/// What the agent is compiled with.
pub(crate) fn with() -> Compile {
    let profile = json!({ "name": "Lin", "content": "Keeps bees and asks before doing." });
    Compile { profile: Some(UserProfile::read(profile, &mut Reader::new())), ..Compile::default() }
}

/// The inputs of a turn.
pub(crate) fn turn() -> TurnInput {
    TurnInput { model: Some(MODEL.into()), context_tokens: Some(BUDGET), ..TurnInput::default() }
}

/// An agent with 40 preset messages of some 300 bytes: mostly system, a fifth with macros, some placed.
pub(crate) fn agent() -> Agent {
    let mut writer = Writer::new(1);
    let entries: Vec<Value> = (0..PRESET).map(|index| entry(index, &mut writer)).collect();
    Agent::read(json!({ "name": "Wren", "presetMessages": entries }), &mut Reader::new())
}

fn entry(index: usize, writer: &mut Writer) -> Value {
    let mut text = writer.text(300, index % 2 == 1);
    if index.is_multiple_of(5) {
        text.insert_str(0, "{{char}} → {{user}}: ");
    }
    match index {
        30 => json!({ "type": "chat_history" }),
        31 => {
            json!({ "role": "system", "content": text, "injectionStrategy": { "type": "depth", "depth": 4 } })
        }
        32 => json!({ "role": "system", "content": text, "insertionPoint": -1 }),
        28 => json!({ "role": "user", "content": text }),
        29 => json!({ "role": "assistant", "content": text }),
        _ => json!({ "role": "system", "content": text }),
    }
}

/// The messages of a conversation, without end: English and Chinese turns alternate, and every tenth asks a
/// tool. Some 600 bytes each. No text was counted before.
pub(crate) struct Conversation {
    writer: Writer,
    turn: usize,
    /// The rest of the turn under way, last message first.
    rest: Vec<Node>,
}

impl Conversation {
    /// Begins a conversation; equal seeds give equal messages.
    pub(crate) fn new(seed: u64) -> Self {
        Self { writer: Writer::new(seed), turn: 0, rest: Vec::new() }
    }

    /// Builds a session of the next messages.
    pub(crate) fn session(&mut self, len: usize) -> Session {
        Session::linear("bench", self.take(len)).0
    }

    fn turn(&mut self) -> Vec<Node> {
        self.turn += 1;
        let is_chinese = self.turn.is_multiple_of(2);
        let user = Node::new(Role::User, self.text(400, is_chinese));
        let answer = Node::new(Role::Assistant, self.text(800, is_chinese));
        if !self.turn.is_multiple_of(TOOL_EVERY) {
            return vec![answer, user];
        }
        let id = self.writer.id();
        let call = StoredToolCall {
            id: Some(id.as_str().into()),
            name: Some("search_notes".into()),
            arguments: Some(Text::from(json!({ "query": self.writer.text(60, is_chinese) }).to_string())),
            ..StoredToolCall::default()
        };
        let mut asks = Node::new(Role::Assistant, self.text(120, is_chinese));
        asks.tool_calls = vec![call];
        let mut result = Node::new(Role::Tool, self.text(1_000, is_chinese));
        result.tool_call_id = Some(id.as_str().into());
        vec![answer, result, asks, user]
    }

    fn text(&mut self, bytes: usize, is_chinese: bool) -> Text {
        Text::from(self.writer.text(bytes, is_chinese))
    }
}

impl Iterator for Conversation {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        if self.rest.is_empty() {
            self.rest = self.turn();
        }
        self.rest.pop()
    }
}

/// Adds a message at the active leaf.
pub(crate) fn append(session: &mut Session, number: usize, node: Node) {
    let parent = session.active_leaf_id().clone();
    let node = Box::new(node.with_id(format!("later-{number}")));
    let applied = session.apply(&SessionOp::Append { parent, node });
    assert!(applied.is_ok(), "a new message below the leaf is always possible");
}
