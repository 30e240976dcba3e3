//! Compression over many turns: a rewritten prefix stays until it must be rewritten.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ctx_engine::{Compile, CompiledAgent, Context, Engine, Ports, Switches, TurnCache};
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::{Node, NodeEdit, NodeId, Session, SessionOp, StoredToolCall};
use ctx_types::{Agent, Content, Message, Persist, Reader, Role, SourceKind, TurnInput};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::pipeline::case::{log, texts, total};

struct Chat {
    compiled: CompiledAgent,
    session: Session,
    memory: TurnCache,
    turn: TurnInput,
}

impl Chat {
    fn new(count: usize, config: &Value) -> Self {
        Self {
            compiled: compile(config),
            session: Session::linear("s", (0..count).map(user_node)).0,
            memory: TurnCache::default(),
            turn: TurnInput::default().with(|turn| turn.context_tokens = Some(2_000)),
        }
    }

    fn assemble(&self) -> Context {
        let ports = Ports::default().with(|ports| ports.memory = Some(&self.memory));
        pollster::block_on(self.compiled.assemble_with(&self.session, &self.turn, ports)).unwrap()
    }

    fn append_turn(&mut self) {
        (0..2).for_each(|_| self.append(user_node));
    }

    fn append(&mut self, node: impl FnOnce(usize) -> Node) {
        let node = Box::new(node(self.len()));
        self.session
            .apply(&SessionOp::Append { parent: self.session.active_leaf_id().clone(), node })
            .unwrap();
    }

    fn len(&self) -> usize {
        self.session.nodes().count() - 1
    }

    fn edit(&mut self, id: &str, text: &str) {
        let edit = Box::new(NodeEdit::content(Content::Text(text.into())));
        self.session.apply(&SessionOp::Edit { id: NodeId::from(id), edit }).unwrap();
    }
}

fn compile(config: &Value) -> CompiledAgent {
    compile_at(1, json!({}), config)
}

fn compile_at(depth: u8, rules: Value, config: &Value) -> CompiledAgent {
    let mut file = json!({
        "presetMessages": [
            { "role": "system", "content": "You help." },
            { "type": "chat_history" },
            { "role": "system", "content": "Answer briefly.", "injectionStrategy": { "type": "depth", "depth": depth } },
        ],
        "parameters": { "processors": [{ "id": "request-compressor", "enabled": true, "config": config }] },
    });
    file["regexConfig"] = rules;
    compile_file(file)
}

fn compile_file(file: Value) -> CompiledAgent {
    let agent = Agent::read(file, &mut Reader::new());
    // The formatters would join digests with system messages.
    let disable = ["merge-system-to-head", "merge-consecutive-roles"].map(str::to_owned).to_vec();
    let switches = Switches { disable, ..Switches::default() };
    let with = Compile::default().with(|compile| {
        compile.switches = switches;
        compile.time_limit = Some(Duration::from_secs(60));
    });
    let compiled = Engine::new().compile(&agent, &with);
    assert_eq!(compiled.diagnostics(), []);
    compiled
}

/// Returns message number `at`; its text contains a unique name.
fn user_node(at: usize) -> Node {
    let role = if at.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let text = format!(
        "I saw lamp X{at}Q on the pier at {}:{:02}, and it was rather dim, as I think.",
        at % 24,
        at % 60
    );
    Node::new(role, text).with_id(format!("n{}", at + 1))
}

fn note(context: &Context) -> Option<&Message> {
    context.messages.iter().find(|message| message.note.is_some())
}

fn is_rewritten(context: &Context) -> bool {
    log(context, "request-compressor").starts_with("compacted")
}

fn common(before: &Context, after: &Context) -> usize {
    before.messages.iter().zip(&after.messages).take_while(|(before, after)| before == after).count()
}

#[test]
fn keeps_rewritten_prefix_until_budget_is_near() {
    let mut chat = Chat::new(81, &json!({}));
    let mut before = chat.assemble();
    assert!(is_rewritten(&before));
    let mut rewrites = 0;
    for _ in 0..100 {
        chat.append_turn();
        let after = chat.assemble();
        assert!(total(&after) <= 1_997);
        if is_rewritten(&after) {
            rewrites += 1;
        } else {
            assert_eq!(note(&after), note(&before));
            // All but the system message that moves with the newest message.
            assert!(common(&before, &after) >= before.messages.len() - 2);
        }
        before = after;
    }
    assert!((2..=20).contains(&rewrites), "{rewrites}");
}

#[test]
fn reports_reused_compression() {
    let mut chat = Chat::new(81, &json!({}));
    chat.assemble();
    chat.append_turn();
    let context = chat.assemble();
    let stage = context.report.stages.iter().find(|stage| stage.id == "request-compressor").unwrap();
    insta::assert_snapshot!(stage.log[0], @r#"the earlier compression of 75 messages still fits: 1026 of 1997 tokens {"sinceLastTurn":{"messages":7,"tokens":936,"bytes":2596,"rewrittenTokens":90}}"#);
    let gone: usize = context
        .report
        .decisions
        .iter()
        .filter(|one| one.outcome == Outcome::Merged)
        .map(|one| one.count)
        .sum();
    assert_eq!(gone + texts(&context).len() - 3, 83, "each message is sent or has a decision");
}

#[test]
fn compresses_again_without_cache() {
    let mut chat = Chat::new(81, &json!({}));
    let first = chat.assemble();
    chat.append_turn();
    chat.memory.forget();
    assert!(!chat.memory.is_compressed());
    let anew = chat.assemble();
    assert!(is_rewritten(&anew), "{}", log(&anew, "request-compressor"));
    assert_ne!(note(&anew).unwrap().text(), note(&first).unwrap().text());
    assert_eq!(anew, chat.compiled.assemble_blocking(&chat.session, &chat.turn).unwrap());
}

#[test]
fn compresses_again_after_edit_of_rewritten_prefix() {
    let mut chat = Chat::new(81, &json!({}));
    let first = chat.assemble();
    chat.append_turn();
    chat.edit("n5", "I saw lamp Z9999Z, to be honest.");
    let after = chat.assemble();
    assert!(is_rewritten(&after) && note(&after) != note(&first));
    // Messages after the digest may be edited without a rewrite.
    chat.append_turn();
    chat.edit("n84", "I saw nothing.");
    let later = chat.assemble();
    assert!(!is_rewritten(&later));
    assert_eq!(note(&later), note(&after));
    assert!(texts(&later).iter().any(|text| text == "I saw nothing."));
}

#[test]
fn discards_compression_on_another_branch() {
    let mut chat = Chat::new(81, &json!({}));
    chat.assemble();
    let node = Box::new(user_node(2).with_id("other"));
    chat.session.apply(&SessionOp::Append { parent: "n10".into(), node }).unwrap();
    let other = chat.assemble();
    assert_eq!(note(&other), None);
    assert!(!chat.memory.is_compressed());
}

#[test]
fn compresses_again_with_other_settings() {
    let mut chat = Chat::new(81, &json!({}));
    let first = chat.assemble();
    chat.compiled = compile(&json!({ "strategy": "sentences" }));
    let after = chat.assemble();
    assert!(is_rewritten(&after) && note(&after) != note(&first));
}

#[test]
fn previews_request_without_caching_it() {
    let mut chat = Chat::new(81, &json!({}));
    chat.turn.preview = true;
    let preview = chat.assemble();
    assert!(!chat.memory.is_compressed());
    chat.turn.preview = false;
    assert_eq!(chat.assemble().messages, preview.messages);
    chat.append_turn();
    chat.turn.preview = true;
    let preview = chat.assemble();
    chat.turn.preview = false;
    assert_eq!(chat.assemble(), preview);
}

#[test]
fn keeps_selected_messages_across_turns() {
    let mut chat = Chat::new(81, &json!({ "strategy": "key-message", "minRecentMessages": 4 }));
    let before = chat.assemble();
    assert!(is_rewritten(&before));
    chat.append_turn();
    let after = chat.assemble();
    assert!(!is_rewritten(&after));
    assert!(common(&before, &after) >= before.messages.len() - 2);
}

#[test]
fn keeps_unloaded_messages_in_digest() {
    let config = json!({ "compressWindow": 2_000 });
    let mut chat = Chat::new(41, &config);
    let mut rewrites = 0;
    while rewrites < 3 {
        chat.append_turn();
        rewrites += usize::from(is_rewritten(&chat.assemble()));
    }
    let context = chat.assemble();
    let left =
        context.report.decisions.iter().find(|decision| decision.outcome == Outcome::NotLoaded).unwrap();
    assert!(left.count > 20, "{left}");
    let text = note(&context).unwrap().text().into_owned();
    assert!(text.starts_with("U: I saw lamp X0Q"), "the digest keeps the first message: {text}");
    chat.memory.forget();
    let anew = chat.assemble();
    assert!(!note(&anew).unwrap().text().contains("X0Q"), "without the cache, the first message is unknown");
}

#[test]
fn reserves_tokens_for_later_processors_each_turn() {
    let mut chat = Chat::new(81, &json!({ "triggerThreshold": 1.0, "targetUsage": 0.9 }));
    chat.turn.context_tokens = Some(1_000);
    for _ in 0..30 {
        let context = chat.assemble();
        assert!(total(&context) <= 997);
        chat.append_turn();
    }
}

#[test]
fn counts_extra_tokens_of_limiter() {
    for extra in [1, 8, 40] {
        let file = json!({
            "presetMessages": [{ "role": "system", "content": "You help." }, { "type": "chat_history" }],
            "parameters": { "processors": [
                { "id": "request-compressor", "enabled": true },
                { "id": "token-limiter", "config": { "extraTokensPerMessage": extra } },
            ] },
        });
        let mut chat = Chat::new(40, &json!({}));
        chat.compiled = compile_file(file);
        for _ in 0..20 {
            chat.append_turn();
            let context = chat.assemble();
            let limiter = log(&context, "token-limiter");
            assert!(limiter.starts_with("everything fits"), "{extra}: {limiter}");
        }
    }
}

#[test]
fn keeps_pinned_messages_and_summaries_in_place() {
    let mut chat = Chat::new(81, &json!({}));
    let mut file = json!(chat.session);
    file["nodes"]["n9"]["pinned"] = json!(true);
    file["nodes"]["n12"]["metadata"] =
        json!({ "isCompressionNode": true, "compressedNodeIds": ["n10", "n11"] });
    chat.session = Session::read(file, &mut Reader::new());
    let before = chat.assemble();
    assert!(is_rewritten(&before));
    chat.append_turn();
    let after = chat.assemble();
    assert!(!is_rewritten(&after));
    for context in [&before, &after] {
        let ids: Vec<&str> =
            context.messages.iter().filter_map(|message| message.source.id.as_deref()).collect();
        let place = |id: &str| ids.iter().position(|found| *found == id);
        assert!(ids[0].starts_with("note-"), "{ids:?}");
        assert_eq!((place("n9"), place("n12")), (Some(1), Some(2)));
        let kinds = context.messages.iter().filter(|message| message.source.kind == SourceKind::Summary);
        assert_eq!(kinds.count(), 2);
    }
}

fn not_sent(context: &Context) -> usize {
    let gone = |decision: &&Decision| decision.source.kind.is_history() && decision.outcome != Outcome::Cut;
    context.report.decisions.iter().filter(gone).map(|decision| decision.count).sum()
}

/// Each message of the branch is sent or has a decision.
#[track_caller]
fn assert_complete(chat: &Chat, context: &Context) {
    let path = chat.session.path();
    let ids: BTreeSet<&str> = path.iter().filter_map(|node| node.id.as_deref()).collect();
    let sent = context.messages.iter().filter_map(|message| message.source.id.as_deref());
    let known = sent.filter(|id| ids.contains(id)).count() + not_sent(context);
    // Decisions also count results that the compressor added for unanswered calls.
    assert!(known >= path.len(), "{known} of {}", path.len());
}

#[derive(Clone, Copy, Debug)]
enum Step {
    GoOn,
    UseTool,
    Edit(usize),
    Toggle(usize, bool),
    Branch(usize),
    Budget(u16),
    Ask,
}

impl Step {
    /// Counts messages from the newest.
    fn any() -> impl Strategy<Value = Self> {
        prop_oneof![
            12 => Just(Self::GoOn),
            3 => Just(Self::UseTool),
            1 => (0_usize..90).prop_map(Self::Edit),
            1 => (0_usize..90, any::<bool>()).prop_map(|(at, enabled)| Self::Toggle(at, enabled)),
            1 => (0_usize..20).prop_map(Self::Branch),
            1 => (800_u16..4_000).prop_map(Self::Budget),
            1 => Just(Self::Ask),
        ]
    }

    fn take(self, chat: &mut Chat) {
        let id = |newer: usize| NodeId::from(format!("n{}", chat.len() - newer.min(chat.len() - 1)));
        match self {
            Self::GoOn => chat.append_turn(),
            Self::UseTool => {
                let call = |at: usize| Arc::<str>::from(format!("c{at}"));
                let tool_calls = |at| {
                    let (id, name) = (Some(call(at)), Some("look".into()));
                    vec![StoredToolCall { id, name, ..StoredToolCall::default() }]
                };
                chat.append(|at| Node {
                    role: Some(Role::Assistant),
                    tool_calls: tool_calls(at),
                    ..user_node(at)
                });
                chat.append(|at| Node {
                    role: Some(Role::Tool),
                    tool_call_id: Some(call(at - 1)),
                    ..user_node(at)
                });
                chat.append_turn();
            }
            Self::Edit(newer) => chat.edit(&id(newer), "I saw nothing."),
            Self::Toggle(newer, enabled) => {
                chat.session.apply(&SessionOp::Toggle { id: id(newer), enabled }).unwrap();
            }
            Self::Branch(newer) => {
                let (parent, node) = (id(newer), Box::new(user_node(chat.len())));
                chat.session.apply(&SessionOp::Append { parent, node }).unwrap();
            }
            Self::Budget(tokens) => chat.turn.context_tokens = Some(tokens.into()),
            Self::Ask => chat.turn.input = chat.turn.input.take().xor(Some("What was it?".into())),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sends_or_reports_each_message(
        steps in vec(Step::any(), 1..60),
        strategy in select(vec!["telegraphic", "sentences", "key-message", "last-rounds"]),
        depth in 1_u8..60,
        rule_depth in 0_u8..60,
        window in select(vec![0, 2_000, 100_000]),
    ) {
        let config = json!({ "strategy": strategy, "compressWindow": window });
        let rule = json!({ "regex": "X(\\d*7)Q", "replacement": "$1", "depthRange": { "min": rule_depth } });
        let rules = json!({ "presets": [{ "rules": [rule] }] });
        let mut chat = Chat { compiled: compile_at(depth, rules, &config), ..Chat::new(81, &config) };
        for step in steps {
            step.take(&mut chat);
            assert_complete(&chat, &chat.assemble());
        }
    }
}
