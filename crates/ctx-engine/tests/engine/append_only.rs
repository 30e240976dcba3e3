//! A request of an append-only conversation repeats the previous one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ctx_engine::{Compile, CompiledAgent, Context, Dialect, Engine, Limits, Request, Switches, read_agent};
use ctx_types::{
    Content, LoadedWorldbook, Node, NodeEdit, NodeId, NodeMetadata, Persist as _, PrefixMode, Reader, Role,
    Session, SessionOp, StoredToolCall, TurnInput, Worldbook,
};
use proptest::prelude::*;
use serde_json::{Value, json};

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

const WORDS: [&str; 6] = ["basil", "lake", "train", "lamp", "dog", "rain"];

const DIALECTS: [Dialect; 4] =
    [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Anthropic, Dialect::Gemini];

/// What happens between two requests.
#[derive(Clone, Debug)]
enum Step {
    /// The user writes a message, which the host stores before the request or after it.
    Write { words: Vec<usize>, is_stored: bool },
    /// The model calls a tool, and a request follows its result.
    CallTool { word: usize },
    /// The newest request is sent again, for another reply.
    Regenerate,
    /// The user edits an earlier message.
    Edit { back: usize },
    /// The user goes back to an earlier reply.
    Branch { back: usize },
    /// The author edits an entry of the preset.
    EditNote { word: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let word = 0..WORDS.len();
    let step = prop_oneof![
        8 => (prop::collection::vec(word.clone(), 1..4), any::<bool>())
            .prop_map(|(words, is_stored)| Step::Write { words, is_stored }),
        2 => word.clone().prop_map(|word| Step::CallTool { word }),
        1 => Just(Step::Regenerate),
        1 => (0_usize..12).prop_map(|back| Step::Edit { back }),
        1 => (0_usize..12).prop_map(|back| Step::Branch { back }),
        1 => word.prop_map(|word| Step::EditNote { word }),
    ];
    prop::collection::vec(step, 4..24)
}

fn agent(note: usize) -> Value {
    json!({
        "prefix": "append-only",
        "presetMessages": [
            { "id": "sys", "role": "system", "content": "You are a gardener. It is {{time}}, {{random::a::b::c}}." },
            { "type": "chat_history" },
            { "id": "late", "role": "system", "content": "Be brief." },
            { "id": "four", "role": "system", "content": format!("Depth four at {{{{time}}}}. {}", WORDS[note]),
              "injectionStrategy": { "type": "depth", "depth": 4 } },
            { "id": "two", "role": "user", "content": "Depth two.",
              "injectionStrategy": { "type": "depth", "depth": 2 } },
            { "id": "last", "role": "system", "content": "Before the answer.", "insertionPoint": -1 },
        ],
    })
}

fn book() -> LoadedWorldbook {
    let book = json!({ "entries": [
        { "uid": 1, "constant": true, "content": "always", "position": 4, "depth": 0 },
        { "uid": 2, "key": ["basil"], "content": "basil grows by the door", "position": 0 },
        { "uid": 3, "key": ["lake"], "content": "the lake is cold", "position": 4, "depth": 2, "sticky": 3 },
        { "uid": 4, "key": ["train"], "content": "the train leaves at 7:15", "position": 4, "depth": 8 },
        { "uid": 5, "key": ["lamp"], "content": "the lamp is lit {{random::red::blue}}", "position": 1 },
    ] });
    let book = Worldbook::read(book, &mut Reader::new());
    LoadedWorldbook { id: "b".into(), name: "b".into(), book: book.into(), is_global: true }
}

/// A host that keeps one conversation.
struct Host {
    session: Session,
    note: usize,
    nodes: usize,
    turns: u64,
    options: Options,
    /// Requests by the message that was the active leaf.
    sent: BTreeMap<NodeId, (Context, TurnInput)>,
}

#[derive(Clone, Debug)]
struct Options {
    context_tokens: i64,
    merges: bool,
    recalls: bool,
}

impl Host {
    fn new(options: Options) -> Self {
        Self { session: Session::new("s"), note: 0, nodes: 0, turns: 0, options, sent: BTreeMap::new() }
    }

    fn compiled(&self) -> CompiledAgent {
        let agent = read_agent(
            agent(self.note).to_string().as_bytes(),
            "a.json",
            &Limits::default(),
            &ENGINE.anchors,
        )
        .unwrap();
        let enable = if self.options.recalls { vec!["recall".to_owned()] } else { vec![] };
        let disable = if self.options.merges { vec![] } else { vec!["merge-consecutive-roles".to_owned()] };
        let with = Compile::default().with(|compile| {
            compile.worldbooks = vec![book()];
            compile.switches = Switches { enable, disable };
        });
        ENGINE.compile(&agent.value, &with)
    }

    fn append(&mut self, node: Node) {
        self.nodes += 1;
        let node = Box::new(node.with_id(format!("n{}", self.nodes)));
        let parent = self.session.active_leaf_id().clone();
        self.session.apply(&SessionOp::Append { parent, node }).unwrap();
    }

    fn turn(&mut self) -> TurnInput {
        self.turns += 1;
        let (turns, tokens) = (self.turns, self.options.context_tokens);
        TurnInput::default().with(|turn| {
            turn.at_millis = Some(i64::try_from(turns).unwrap() * 61_000);
            turn.seed = turns;
            turn.context_tokens = Some(tokens);
        })
    }

    /// Sends a request and checks it. Returns `None` if no request fits.
    fn send(&mut self, turn: TurnInput) -> Result<(), TestCaseError> {
        let Ok(context) = self.compiled().assemble_blocking(&self.session, &turn) else { return Ok(()) };
        let prefix = context.report.prefix.clone().unwrap();
        let leaf = self.session.active_leaf_id().clone();
        let earlier = std::iter::once(&leaf)
            .chain(self.session.ancestors(&leaf).map(|(id, _)| id).skip(1))
            .find_map(|id| self.sent.get(id));
        if let Some((earlier, _)) = earlier.filter(|_| prefix.planned_break.is_none()) {
            for dialect in DIALECTS {
                let (before, after) = (blocks(earlier, dialect), blocks(&context, dialect));
                let shared = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
                prop_assert!(
                    shared == before.len(),
                    "{dialect:?}: block {shared} changed:\n{:?}\n{:?}\n{before:#?}\n{after:#?}",
                    before.get(shared),
                    after.get(shared)
                );
            }
        }
        for op in context.effects.clone() {
            self.session.apply(&op).unwrap();
        }
        // A request with a message that is not stored yet is the one of its parent.
        self.sent.insert(leaf, (context, turn));
        Ok(())
    }

    fn run(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Write { words, is_stored } => {
                let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
                let text = format!("Question {}: {}?", self.turns, words.join(" "));
                if *is_stored {
                    self.append(Node::new(Role::User, text.as_str()));
                    let turn = self.turn();
                    self.send(turn)?;
                } else {
                    let turn = self.turn().with(|turn| turn.input = Some(text.as_str().into()));
                    self.send(turn)?;
                    self.append(Node::new(Role::User, text.as_str()));
                }
                let reply = format!("Reply {} about {}.", self.turns, words[0]);
                self.append(Node::new(Role::Assistant, reply));
            }
            Step::CallTool { word } => {
                self.append(Node::new(Role::User, format!("Look up the {}.", WORDS[*word])));
                let turn = self.turn();
                self.send(turn)?;
                let id = format!("c{}", self.turns);
                let call = StoredToolCall {
                    id: Some(id.as_str().into()),
                    name: Some("find".into()),
                    arguments: Some("{}".into()),
                    ..StoredToolCall::default()
                };
                let mut node = Node::new(Role::Assistant, "");
                node.tool_calls = vec![call];
                self.append(node);
                let mut result = Node::new(Role::Tool, format!("found {}", WORDS[*word]));
                result.tool_call_id = Some(id.as_str().into());
                self.append(result);
                let turn = self.turn();
                self.send(turn)?;
                self.append(Node::new(Role::Assistant, "Found."));
            }
            Step::Regenerate => {
                let leaf = self.session.active_leaf_id().clone();
                let Some(parent) = self.session.node(&leaf).and_then(|node| node.parent_id.clone()) else {
                    return Ok(());
                };
                let is_user = self.session.node(&parent).is_some_and(|node| node.role == Some(Role::User));
                if is_user && self.sent.contains_key(&parent) {
                    self.session.apply(&SessionOp::ActivateLeaf { id: parent }).unwrap();
                    let turn = self.turn();
                    self.send(turn)?;
                    self.append(Node::new(Role::Assistant, "Another reply."));
                }
            }
            Step::Edit { back } => {
                let ids: Vec<NodeId> =
                    self.session.ancestors(self.session.active_leaf_id()).map(|(id, _)| id.clone()).collect();
                if let Some(id) = ids.get(*back).cloned() {
                    let content = Content::Text(format!("edited {}", self.turns).into());
                    let edit = Box::new(NodeEdit::content(content));
                    self.session.apply(&SessionOp::Edit { id, edit }).unwrap();
                }
            }
            Step::Branch { back } => {
                let replies: Vec<NodeId> = self
                    .session
                    .ancestors(self.session.active_leaf_id())
                    .filter(|(_, node)| node.role == Some(Role::Assistant) && node.tool_calls.is_empty())
                    .map(|(id, _)| id.clone())
                    .collect();
                if let Some(id) = replies.get(*back).cloned() {
                    self.session.apply(&SessionOp::ActivateLeaf { id }).unwrap();
                }
            }
            Step::EditNote { word } => self.note = *word,
        }
        Ok(())
    }
}

/// Returns the parts of a request body that a provider caches, in order, without cache marks.
fn blocks(context: &Context, dialect: Dialect) -> Vec<Value> {
    let encoded = dialect.encode_with(&context.messages, &Request::new("m"), &context.options());
    let body: Value = serde_json::from_slice(&encoded.to_bytes()).unwrap();
    let mut blocks = Vec::new();
    for key in ["system", "systemInstruction", "messages", "input", "contents"] {
        let items = match &body[key] {
            Value::Array(items) => items.clone(),
            Value::Null => continue,
            other => vec![other.clone()],
        };
        for item in items {
            // Consecutive messages of a role are one message with several blocks.
            let parts = ["content", "parts"].iter().find_map(|key| item[*key].as_array().cloned());
            let role = item["role"].clone();
            match parts {
                Some(parts) => blocks.extend(parts.into_iter().map(|part| json!([role, part]))),
                None => blocks.push(item),
            }
        }
    }
    blocks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn repeats_the_previous_request(
        steps in steps(),
        context_tokens in prop_oneof![Just(0_i64), Just(400), Just(900)],
        merges: bool,
        recalls: bool,
    ) {
        let mut host = Host::new(Options { context_tokens, merges, recalls });
        for step in &steps {
            host.run(step)?;
        }
    }
}

/// Describes a request: whether it repeats the previous one, and the messages that follow.
fn describe(context: &Context) -> String {
    let prefix = context.report.prefix.as_ref().unwrap();
    let planned = prefix.planned_break.as_ref().map(|planned| format!(", {}", planned.reason));
    let head = format!("repeats {}{}", prefix.messages, planned.unwrap_or_default());
    let added = context.messages[prefix.messages..].iter();
    let added = added.map(|message| {
        format!("{} {}: {}", message.role, message.source, message.text()).trim_end().to_owned()
    });
    std::iter::once(head).chain(added).collect::<Vec<_>>().join("\n  ")
}

#[test]
fn keeps_texts_where_they_were_inserted() {
    let mut host = Host::new(Options { context_tokens: 0, merges: true, recalls: false });
    let steps = [
        Step::Write { words: vec![0], is_stored: true },
        Step::Write { words: vec![1], is_stored: false },
        Step::CallTool { word: 2 },
        Step::Write { words: vec![5], is_stored: true },
        Step::Edit { back: 1 },
        Step::Write { words: vec![4], is_stored: true },
    ];
    let mut described = Vec::new();
    for step in &steps {
        let before: Vec<NodeId> = host.sent.keys().cloned().collect();
        host.run(step).unwrap();
        let new = host.sent.iter().filter(|(id, _)| !before.contains(id));
        described.extend(new.map(|(_, (context, _))| describe(context)));
    }
    insta::assert_snapshot!(described.join("\n"), @r"
    repeats 0
      system merged:preset:sys+worldbook:b.2+preset:four: You are a gardener. It is 12:01 AM, a.

    ---

    basil grows by the door

    ---

    Depth four at 12:01 AM. basil
      user preset:two: Depth two.
      system preset:last: Before the answer.
      user history:n1: Question 0: basil?
      system merged:worldbook:b.1+preset:late: always

    ---

    Be brief.
    repeats 5
      assistant history:n2: Reply 1 about basil.
      system merged:preset:four+worldbook:b.3: Depth four at 12:02 AM. basil

    ---

    the lake is cold
      user input: Question 1: lake?
    repeats 8
      assistant history:n4: Reply 2 about lake.
      system merged:preset:four+worldbook:b.4: Depth four at 12:03 AM. basil

    ---

    the train leaves at 7:15
      user history:n5: Look up the train.
    repeats 11
      assistant history:n6:
      tool history:n7: found train
      system preset:four: Depth four at 12:04 AM. basil
    repeats 14
      assistant history:n8: Found.
      system preset:four: Depth four at 12:05 AM. basil
      user history:n9: Question 4: rain?
    repeats 16, the conversation changed at `n9`
      user history:n9: edited 5
      assistant history:n10: Reply 5 about rain.
      system preset:four: Depth four at 12:06 AM. basil
      user history:n11: Question 5: dog?
    ");
}

#[test]
fn sends_an_input_that_is_not_stored_once() {
    let mut host = Host::new(Options { context_tokens: 0, merges: false, recalls: false });
    for _ in 0..2 {
        let turn = host.turn().with(|turn| turn.input = Some("Hello".into()));
        host.send(turn).unwrap();
    }
    let (context, _) = host.sent.values().next().unwrap();
    assert_eq!(context.messages.iter().filter(|message| message.text() == "Hello").count(), 1);
}

#[test]
fn breaks_at_messages_that_a_summary_hides() {
    let mut host = Host::new(Options { context_tokens: 0, merges: false, recalls: false });
    for word in 0..3 {
        host.run(&Step::Write { words: vec![word], is_stored: true }).unwrap();
    }
    let mut summary = Node::new(Role::System, "They talked about plants.");
    summary.metadata = Some(Box::new(NodeMetadata {
        is_compression_node: Some(true),
        compressed_node_ids: vec!["n1".into(), "n2".into()],
        ..NodeMetadata::default()
    }));
    let summary = Box::new(summary.with_id("summary"));
    host.session.apply(&SessionOp::Insert { after: "n2".into(), node: summary }).unwrap();
    host.run(&Step::Write { words: vec![3], is_stored: true }).unwrap();
    let (context, _) = &host.sent[&NodeId::from("n7")];
    let planned = context.report.prefix.clone().unwrap().planned_break.unwrap();
    assert_eq!(planned.reason.to_string(), "the conversation changed at `n1`");
    assert!(context.messages.iter().all(|message| !message.text().contains("Question 0")));
}

#[test]
fn repeats_placeholders_between_messages() {
    let agent = json!({ "prefix": "append-only", "presetMessages": [
        { "role": "system", "content": "Be kind." },
        { "role": "user", "content": "Be brief." },
        { "type": "chat_history" },
    ] });
    let agent =
        read_agent(agent.to_string().as_bytes(), "a.json", &Limits::default(), &ENGINE.anchors).unwrap();
    let with = Compile::default().with(|compile| {
        compile.switches = Switches {
            enable: vec!["ensure-alternating-roles".to_owned()],
            disable: vec!["merge-consecutive-roles".to_owned()],
        };
    });
    let compiled = ENGINE.compile(&agent.value, &with);
    let (mut session, _) = Session::linear("s", [Node::new(Role::User, "Hello").with_id("n1")]);
    let turn = TurnInput::default();
    let first = compiled.assemble_blocking(&session, &turn).unwrap();
    for op in &first.effects {
        session.apply(op).unwrap();
    }
    for (id, role, text) in [("n2", Role::Assistant, "Hi"), ("n3", Role::User, "Bye")] {
        let parent = session.active_leaf_id().clone();
        let node = Box::new(Node::new(role, text).with_id(id));
        session.apply(&SessionOp::Append { parent, node }).unwrap();
    }
    let second = compiled.assemble_blocking(&session, &turn).unwrap();
    let texts = |context: &Context| -> Vec<String> {
        context.messages.iter().map(|message| message.text().into_owned()).collect()
    };
    assert_eq!(texts(&first).len(), 4);
    assert_eq!(texts(&second)[..4], texts(&first));
}

#[test]
fn recalls_messages_that_the_cut_drops() {
    let agent = json!({ "presetMessages": [{ "type": "chat_history" }] }).to_string();
    let agent = read_agent(agent.as_bytes(), "a.json", &Limits::default(), &ENGINE.anchors).unwrap();
    let switches = Switches { enable: vec!["recall".to_owned()], disable: vec![] };
    let compiled =
        ENGINE.compile(&agent.value, &Compile::default().with(|compile| compile.switches = switches));
    let text = |at: usize| match at {
        15 => "The lighthouse key lies under the red stone.".to_owned(),
        _ => format!("Chapter {at} tells of ships and storms at the coast, and of long nights."),
    };
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let nodes = roles.take(40).enumerate().map(|(at, role)| Node::new(role, text(at)));
    let (session, _) = Session::linear("s", nodes);
    for mode in [PrefixMode::Moving, PrefixMode::AppendOnly] {
        let turn = TurnInput::new("Where is the lighthouse key?").with(|turn| {
            turn.prefix = Some(mode);
            turn.context_tokens = Some(700);
        });
        let context = compiled.assemble_blocking(&session, &turn).unwrap();
        assert!(context.messages.len() < 40);
        assert!(context.messages.iter().any(|message| message.text().contains("red stone")), "{mode:?}");
    }
}
