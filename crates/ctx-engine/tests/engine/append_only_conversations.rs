//! Generated conversations: each append-only request repeats the previous one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ctx_engine::{Compile, CompiledAgent, Context, Dialect, Engine, Ports, Request, Switches, read_agent};
use ctx_types::ports::{Asset, AssetStore, PortError, PortFuture};
use ctx_types::session::{Node, NodeEdit, NodeId, NodeMetadata, Session, SessionOp, StoredToolCall};
use ctx_types::worldbook::{LoadedWorldbook, Worldbook};
use ctx_types::{
    Attachment, Content, GenerationKind, Message, Persist as _, Reader, Role, Source, SourceKind,
    StoredAttachment, Trust, TurnInput,
};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

const WORDS: [&str; 6] = ["basil", "lake", "train", "lamp", "dog", "rain"];

const DIALECTS: [Dialect; 4] =
    [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Anthropic, Dialect::Gemini];

/// What happens between two requests.
#[derive(Clone, Debug)]
pub(crate) enum Step {
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
    /// The author edits an entry at a depth.
    EditNote { word: usize },
    /// The user writes a message with a file.
    Attach,
    /// The file changes.
    ChangeFile,
    /// The user writes a message, and the host adds a text for this turn only.
    AddForThisTurn { word: usize },
    /// A summary hides two messages.
    Summarize { back: usize },
    /// The newest reply is continued.
    Continue,
    /// A message is stored that is not sent, because it is blank.
    AddBlank,
    /// The user disables or enables a message.
    Toggle { at: usize },
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
        1 => word.clone().prop_map(|word| Step::EditNote { word }),
        1 => Just(Step::Attach),
        1 => Just(Step::ChangeFile),
        1 => word.prop_map(|word| Step::AddForThisTurn { word }),
        1 => (0_usize..12).prop_map(|back| Step::Summarize { back }),
        1 => Just(Step::Continue),
        1 => Just(Step::AddBlank),
        1 => (0_usize..12).prop_map(|at| Step::Toggle { at }),
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
            { "id": "list", "role": "system", "content": "At two depths.",
              "injectionStrategy": { "type": "advanced_depth", "depthConfig": "3, 6" } },
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

/// Returns the same text for each file.
pub(crate) struct Files(String);

impl AssetStore for Files {
    fn load<'a>(&'a self, _: &'a Attachment, _: u64) -> PortFuture<'a, Result<Asset, PortError>> {
        Box::pin(async { Ok(Asset::new(self.0.as_bytes())) })
    }
}

/// A host that keeps one conversation.
pub(crate) struct Host {
    pub(crate) session: Session,
    note: usize,
    files: Files,
    nodes: usize,
    turns: u64,
    options: Options,
    /// Requests by the message that was the active leaf.
    pub(crate) sent: BTreeMap<NodeId, (Context, TurnInput)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) context_tokens: i64,
    pub(crate) merges: bool,
    pub(crate) recalls: bool,
    /// Whether the conversation begins with an instruction and a greeting.
    pub(crate) has_opening: bool,
}

impl Host {
    pub(crate) fn new(options: Options) -> Self {
        let files = Files("Plan 0".to_owned());
        let opening = [
            Node::new(Role::System, "The garden is old.").with_id("scene"),
            Node::new(Role::Assistant, "Welcome.").with_id("greeting"),
        ];
        let (session, _) = Session::linear("s", opening.into_iter().filter(|_| options.has_opening));
        Self { session, note: 0, files, nodes: 0, turns: 0, options, sent: BTreeMap::new() }
    }

    fn compiled(&self) -> CompiledAgent {
        let agent = read_agent(agent(self.note).to_string().as_bytes(), "a.json").unwrap();
        let enable = if self.options.recalls { vec!["recall".to_owned()] } else { vec![] };
        let disable = if self.options.merges { vec![] } else { vec!["merge-consecutive-roles".to_owned()] };
        let with = Compile::default().with(|compile| {
            compile.worldbooks = vec![book()];
            compile.switches = Switches { enable, disable };
        });
        ENGINE.compile(&agent.value, &with)
    }

    pub(crate) fn append(&mut self, node: Node) {
        self.nodes += 1;
        let node = Box::new(node.with_id(format!("n{}", self.nodes)));
        let parent = self.session.active_leaf_id().clone();
        self.session.apply(&SessionOp::Append { parent, node }).unwrap();
    }

    pub(crate) fn turn(&mut self) -> TurnInput {
        self.turns += 1;
        let (turns, tokens) = (self.turns, self.options.context_tokens);
        TurnInput::default().with(|turn| {
            turn.at_millis = Some(i64::try_from(turns).unwrap() * 61_000);
            turn.seed = turns;
            turn.context_tokens = Some(tokens);
            // A model that sees images.
            turn.model = Some("gpt-4o".into());
        })
    }

    /// Sends a request and checks it. Returns `None` if no request fits.
    pub(crate) fn send(&mut self, turn: TurnInput) -> Result<(), TestCaseError> {
        let ports = Ports::default().with(|ports| ports.attachments.assets = Some(&self.files));
        let compiled = self.compiled();
        let Ok(context) = pollster::block_on(compiled.assemble_with(&self.session, &turn, ports)) else {
            return Ok(());
        };
        let prefix = context.report.prefix.clone().unwrap();
        let leaf = self.session.active_leaf_id().clone();
        let earlier = std::iter::once(&leaf)
            .chain(self.session.ancestors(&leaf).map(|(id, _)| id).skip(1))
            .find_map(|id| self.sent.get(id));
        if let Some((earlier, _)) = earlier.filter(|_| prefix.planned_break.is_none()) {
            for dialect in DIALECTS {
                let (before, after) = (lasting_blocks(earlier, dialect), blocks(&context, dialect));
                let shared = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
                prop_assert!(
                    shared == before.len(),
                    "{dialect:?}: block {shared} changed:\n{:?}\n{:?}\n{before:#?}\n{after:#?}",
                    before.get(shared),
                    after.get(shared)
                );
            }
        }
        if self.options.context_tokens == 0 {
            let sent: Vec<_> = context.messages.iter().map(Message::text).collect();
            for at in 0..self.session.sent_len() {
                let text = self.session.sent_message(at).unwrap().text();
                prop_assert!(sent.iter().any(|sent| sent.contains(&*text)), "{text} is missing: {sent:#?}");
            }
        }
        let pages = context.messages.iter().filter(|message| message.text().contains("A page about")).count();
        prop_assert!(pages == turn.further.len(), "text for one turn stays: {:#?}", context.messages);
        for op in context.effects.clone() {
            self.session.apply(&op).unwrap();
        }
        // A request with a message that is not stored yet is the one of its parent.
        self.sent.insert(leaf, (context, turn));
        Ok(())
    }

    pub(crate) fn run(&mut self, step: &Step) -> Result<(), TestCaseError> {
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
            Step::CallTool { word } => self.call_tool(*word)?,
            Step::Regenerate => self.regenerate()?,
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
            Step::Attach => self.attach()?,
            Step::ChangeFile => self.files = Files(format!("Plan {}", self.turns)),
            Step::AddForThisTurn { word } => self.add_for_this_turn(*word)?,
            Step::Summarize { back } => self.summarize(*back),
            Step::Continue => self.continue_reply()?,
            Step::AddBlank => self.append(Node::new(Role::Assistant, " ")),
            Step::Toggle { at } => {
                let ids: Vec<NodeId> =
                    self.session.ancestors(self.session.active_leaf_id()).map(|(id, _)| id.clone()).collect();
                if let Some(id) = ids.iter().rev().nth(*at).cloned() {
                    let is_enabled = self.session.node(&id).is_some_and(Node::is_enabled);
                    self.session.apply(&SessionOp::Toggle { id, enabled: !is_enabled }).unwrap();
                }
            }
        }
        Ok(())
    }

    fn attach(&mut self) -> Result<(), TestCaseError> {
        let mut node = Node::new(Role::User, "Look at the plan.");
        node.attachments = vec![StoredAttachment {
            id: Some("f1".into()),
            name: Some("plan.png".into()),
            mime_type: Some("image/png".into()),
            path: Some("plan.png".into()),
            ..StoredAttachment::default()
        }];
        self.append(node);
        let turn = self.turn();
        self.send(turn)?;
        self.append(Node::new(Role::Assistant, "I see it."));
        Ok(())
    }

    fn add_for_this_turn(&mut self, word: usize) -> Result<(), TestCaseError> {
        self.append(Node::new(Role::User, format!("Look at the {}.", WORDS[word])));
        let source = Source::new(SourceKind::Plugin, Trust::User).with_id("page");
        let page = Message::new(Role::User, format!("A page about the {}.", WORDS[word]), source);
        let turn = self.turn().with(|turn| turn.further = vec![page]);
        self.send(turn)?;
        self.append(Node::new(Role::Assistant, "It is on the page."));
        Ok(())
    }

    fn summarize(&mut self, back: usize) {
        let path: Vec<NodeId> =
            self.session.ancestors(self.session.active_leaf_id()).map(|(id, _)| id.clone()).collect();
        let hidden: Vec<NodeId> = path.iter().rev().skip(back).take(2).cloned().collect();
        // The newest message stays.
        if hidden.len() == 2 && back + 2 < path.len() {
            self.nodes += 1;
            let mut node = Node::new(Role::System, format!("Summary {}.", self.nodes));
            let after = hidden[1].clone();
            node.metadata = Some(Box::new(NodeMetadata {
                is_compression_node: Some(true),
                compressed_node_ids: hidden,
                ..NodeMetadata::default()
            }));
            let node = Box::new(node.with_id(format!("n{}", self.nodes)));
            self.session.apply(&SessionOp::Insert { after, node }).unwrap();
        }
    }

    fn continue_reply(&mut self) -> Result<(), TestCaseError> {
        let leaf = self.session.active_leaf_id().clone();
        let reply = self.session.node(&leaf).filter(|node| node.role == Some(Role::Assistant));
        if reply.is_some_and(|node| node.tool_calls.is_empty()) {
            let turn = self.turn().with(|turn| turn.kind = GenerationKind::Continue);
            self.send(turn)?;
            let content = Content::Text(format!("A longer reply {}.", self.turns).into());
            let edit = Box::new(NodeEdit::content(content));
            self.session.apply(&SessionOp::Edit { id: leaf, edit }).unwrap();
        }
        Ok(())
    }

    fn call_tool(&mut self, word: usize) -> Result<(), TestCaseError> {
        self.append(Node::new(Role::User, format!("Look up the {}.", WORDS[word])));
        let turn = self.turn();
        self.send(turn)?;
        self.append_tool_result(word);
        let turn = self.turn();
        self.send(turn)?;
        self.append(Node::new(Role::Assistant, "Found."));
        Ok(())
    }

    /// Appends a call and its result.
    pub(crate) fn append_tool_result(&mut self, word: usize) {
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
        let mut result = Node::new(Role::Tool, format!("found {}", WORDS[word]));
        result.tool_call_id = Some(id.as_str().into());
        self.append(result);
    }

    fn regenerate(&mut self) -> Result<(), TestCaseError> {
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
        Ok(())
    }
}

/// Returns the parts of a request body before the text of this turn only.
fn lasting_blocks(context: &Context, dialect: Dialect) -> Vec<Value> {
    let mut context = context.clone();
    context.messages.truncate(context.report.stable.as_ref().unwrap().messages);
    blocks(&context, dialect)
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
        has_opening: bool,
    ) {
        let mut host = Host::new(Options { context_tokens, merges, recalls, has_opening });
        for step in &steps {
            host.run(step)?;
        }
    }
}
