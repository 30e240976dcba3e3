//! Deterministic conversations of any length, and a preset of 40 messages.

mod words;

use ctx_engine::{Compile, CompiledAgent, Engine};
use ctx_tokens::{Counter, ModelTable};
use ctx_types::ports::TokenCounter as _;
use ctx_types::session::{Node, Session, SessionOp, StoredToolCall};
use ctx_types::{Agent, Content, Persist, Reader, Role, Text, TurnInput, UserProfile};
use serde_json::{Value, json};

pub(crate) use words::Writer;

pub(crate) const BUDGET: i64 = 128_000;

/// Counts with `o200k_base`.
const MODEL: &str = "gpt-4o";

const PRESET: usize = 40;

const TOOL_EVERY: usize = 10;

const CHANGE_EVERY: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variables {
    Off,
    On,
}

pub(crate) fn warm(variables: Variables) -> CompiledAgent {
    let compiled = Engine::new().compile(&agent(variables), &with());
    let counter = Counter::for_model(&ModelTable::builtin().lookup(MODEL).0).0;
    counter.warm();
    let mut writer = Writer::new(0);
    for number in 0..200 {
        counter.count(&writer.text(1_000, number % 2 == 0));
    }
    let turn = turn().with(|turn| turn.input = Some("Hello".into()));
    let context = compiled.assemble_blocking(&Session::new("warm"), &turn);
    assert!(context.is_ok(), "a greeting fits");
    compiled
}

pub(crate) fn with() -> Compile {
    let profile = json!({ "name": "Lin", "content": "Keeps bees and asks before doing." });
    Compile::default().with(|compile| compile.profile = Some(UserProfile::read(profile, &mut Reader::new())))
}

pub(crate) fn turn() -> TurnInput {
    TurnInput::default().with(|turn| {
        turn.model = Some(MODEL.into());
        turn.context_tokens = Some(BUDGET);
    })
}

/// 40 messages of about 300 bytes: mostly system, 20% with macros.
pub(crate) fn agent(variables: Variables) -> Agent {
    let mut writer = Writer::new(1);
    let mut entries: Vec<Value> = (0..PRESET).map(|index| entry(index, &mut writer)).collect();
    let mut file = json!({ "name": "Wren" });
    if variables == Variables::On {
        let shown = "Health $[hero.hp], gold $[hero.gold], last seen: $[place].";
        entries[2] = json!({ "role": "system", "content": shown });
        file["variableConfig"] = json!({ "enabled": true, "definitions": [
            { "key": "hero", "type": "group", "children": [
                { "key": "hp", "type": "variable", "initialValue": 100, "min": 0, "max": 100 },
                { "key": "gold", "type": "variable", "initialValue": 0 },
            ] },
            { "key": "place", "type": "variable", "initialValue": "garden" },
        ] });
    }
    file["presetMessages"] = Value::Array(entries);
    Agent::read(file, &mut Reader::new())
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

/// Infinite: English and Chinese turns of about 600 bytes, every tenth with a tool call.
pub(crate) struct Conversation {
    writer: Writer,
    variables: Variables,
    messages: usize,
    turn: usize,
    rest: Vec<Node>,
}

impl Conversation {
    pub(crate) fn new(seed: u64, variables: Variables) -> Self {
        Self { writer: Writer::new(seed), variables, messages: 0, turn: 0, rest: Vec::new() }
    }

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
        let mut node = self.rest.pop()?;
        self.messages += 1;
        if self.variables == Variables::On && self.messages.is_multiple_of(CHANGE_EVERY) {
            change_variable(&mut node, self.messages / CHANGE_EVERY);
        }
        Some(node)
    }
}

fn change_variable(node: &mut Node, number: usize) {
    let tag = match number % 5 {
        0 => format!("<svar name=\"place\" value=\"room {number}\"/>"),
        1 | 2 => "<svar name=\"hero.hp\" op=\"-\" value=\"7\"/>".to_owned(),
        3 => "<svar name=\"hero.hp\" op=\"+\" value=\"11\"/>".to_owned(),
        _ => "<svar name=\"hero.gold\" op=\"+\" value=\"3\"/>".to_owned(),
    };
    let text = node.content.as_ref().map(Content::text).unwrap_or_default();
    node.content = Some(Content::Text(Text::from(format!("{text}\n{tag}"))));
}

pub(crate) fn append(session: &mut Session, number: usize, node: Node) {
    let parent = session.active_leaf_id().clone();
    let node = Box::new(node.with_id(format!("later-{number}")));
    let applied = session.apply(&SessionOp::Append { parent, node });
    assert!(applied.is_ok(), "a new message below the leaf is always possible");
}
