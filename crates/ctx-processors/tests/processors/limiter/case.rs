//! Runs the loader, the assembler, and the limiter over conversations written as words.

use std::sync::{Arc, LazyLock};

use ctx_pipeline::internal::{CompileContext, Pipeline, Run, SettingsLayer};
use ctx_pipeline::{Cancel, ContextProcessor, Inputs, ProcessorRegistry, RunError, SettingOrigin};
use ctx_processors::internal::{LimiterResult, LoadedWindow, WindowSize};
use ctx_tokens::internal::Overheads;
use ctx_tokens::{Budget, ModelFacts};
use ctx_types::ports::TokenCounter;
use ctx_types::session::{Node, Session};
use ctx_types::{Agent, EncodingId, GenerationKind, Message, Persist, Reader, TurnInput};
use serde_json::{Value, json};

use crate::inputs::registry;

/// A turn. One byte is one token; messages have no overhead.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    /// Oldest first, one message per word: see [`node`].
    pub(crate) chat: &'static str,
    /// Preset entries; if empty, only the conversation is sent.
    pub(crate) preset: Value,
    /// Tokens to load.
    pub(crate) window: Option<u64>,
    pub(crate) budget: Option<u32>,
    pub(crate) config: Value,
    pub(crate) loader: Value,
    pub(crate) input: Option<&'static str>,
    pub(crate) kind: GenerationKind,
    /// Whether `merge-injections` runs too, with the separator `+`.
    pub(crate) merges: bool,
    /// Further processors.
    pub(crate) plugins: Plugins,
}

#[derive(Clone, Default)]
pub(crate) struct Plugins(Vec<Arc<dyn ContextProcessor>>);

impl Plugins {
    pub(crate) fn one(plugin: impl ContextProcessor + 'static) -> Self {
        Self(vec![Arc::new(plugin)])
    }
}

impl std::fmt::Debug for Plugins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} plug-ins", self.0.len())
    }
}

impl Case {
    pub(crate) fn new(chat: &'static str) -> Self {
        Self { chat, ..Self::default() }
    }

    pub(crate) fn run(&self) -> Result<Run, RunError> {
        self.run_session(&session(self.chat))
    }

    pub(crate) fn run_session(&self, session: &Session) -> Result<Run, RunError> {
        let file = json!({ "presetMessages": self.preset });
        let agent = Agent::read(file, &mut Reader::new());
        let mut settings = json!([
            { "id": "token-limiter", "config": self.config },
            { "id": "session-loader", "config": self.loader },
        ]);
        if self.merges {
            let merging =
                json!({ "id": "merge-injections", "enabled": true, "config": { "separator": "+" } });
            settings.as_array_mut().unwrap().push(merging);
        }
        let (layer, found) =
            SettingsLayer::from_parameters(SettingOrigin::Agent, &json!({ "processors": settings }), "");
        assert_eq!(found, []);
        let pipeline = Pipeline::compile(&self.registry(), &agent, CompileContext::default(), &[layer]);
        assert_eq!(pipeline.diagnostics(), []);
        let turn = TurnInput::default().with(|turn| {
            turn.input = self.input.map(Into::into);
            turn.kind = self.kind;
        });
        let overheads = Overheads { per_message: 0, per_name: 0, per_reply: 0, per_tool: 0, with_tools: 0 };
        let model = ModelFacts { overheads, ..ModelFacts::unknown("x") };
        let mut run = Run::default();
        if let Some(tokens) = self.window {
            run.blackboard.insert(WindowSize { tokens, is_final: false });
        }
        let inputs = Inputs {
            agent: &agent,
            profile: None,
            session,
            turn: &turn,
            model: &model,
            counter: &Bytes,
            budget: &Budget { available: self.budget, lines: Vec::new() },
            cancel: &Cancel::default(),
            attachments: ctx_types::ports::AttachmentPorts::default(),
            embedder: None,
            deadline: None,
            stopwatch: None,
        };
        pollster::block_on(pipeline.run(&mut run, inputs, ..))?;
        Ok(run)
    }

    fn registry(&self) -> ProcessorRegistry {
        static REGISTRY: LazyLock<ProcessorRegistry> = LazyLock::new(|| {
            registry(&["session-loader", "injection-assembler", "merge-injections", "token-limiter"])
        });
        let mut registry = REGISTRY.clone();
        for plugin in &self.plugins.0 {
            registry.register(plugin.clone()).unwrap();
        }
        registry
    }
}

/// One token per byte.
struct Bytes;

impl TokenCounter for Bytes {
    fn encoding(&self) -> EncodingId {
        EncodingId(1)
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.len()).unwrap()
    }
}

/// See [`words`].
#[track_caller]
pub(crate) fn check(case: Case, expected: &str) {
    assert_eq!(words(&case.run().unwrap()), expected);
}

#[track_caller]
pub(crate) fn check_decisions(case: Case, expected: &[&str]) {
    let run = case.run().unwrap();
    let shown = run.draft.decisions().iter().map(|decision| {
        let bytes = decision.bytes.map(|bytes| format!(" ({bytes} bytes")).unwrap_or_default();
        let tokens = decision.tokens.map(|tokens| format!(", {tokens}")).unwrap_or_default();
        let end = if bytes.is_empty() { "" } else { ")" };
        format!("{decision}{bytes}{tokens}{end}")
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

/// Names messages by their texts without the filling dots, and calls and results by their ids. `>` marks the
/// unfinished reply.
pub(crate) fn words(run: &Run) -> String {
    run.draft.messages().iter().map(word).collect::<Vec<_>>().join(" ")
}

pub(crate) fn word(message: &Message) -> String {
    let mut word = message.text().trim_end_matches('.').replace('\n', "/");
    if message.is_continuation_prefix {
        word.insert(0, '>');
    }
    if let Some(id) = &message.tool_call_id {
        word.extend([":", id]);
    }
    for (at, call) in message.tool_calls.iter().enumerate() {
        word.extend([if at == 0 { ":" } else { "," }, &call.id]);
    }
    word
}

pub(crate) fn skipped(run: &Run) -> usize {
    run.blackboard.get::<LoadedWindow>().unwrap().skipped
}

pub(crate) fn limited(run: &Run) -> LimiterResult {
    run.blackboard.get::<LimiterResult>().copied().unwrap()
}

pub(crate) fn session(chat: &str) -> Session {
    let nodes = chat.split_whitespace().enumerate().map(|(at, word)| node(at, word));
    let (session, found) = Session::linear("s", nodes);
    assert_eq!(found, []);
    session
}

/// Reads a message: `KIND[:IDS][=BYTES]`.
///
/// The kinds are `s`ystem, `u`ser, `a`ssistant, `c`all of tools with these ids, `t`ool result with this id,
/// `p`refix (an unfinished reply), `d`isabled, `b`lank, and `S`ummary, which hides the messages with these
/// numbers. The text is the kind and the number of the message, filled with dots to 10 or the given bytes. A
/// call has no text.
fn node(at: usize, word: &str) -> Node {
    let (word, len) = word.split_once('=').unwrap_or((word, "10"));
    let (kind, ids) = word.split_once(':').unwrap_or((word, ""));
    let len: usize = len.parse().unwrap();
    let ids: Vec<&str> = ids.split(',').filter(|id| !id.is_empty()).collect();
    let role = match kind {
        "s" => "system",
        "a" | "c" | "p" => "assistant",
        "t" => "tool",
        _ => "user",
    };
    let text = match kind {
        "c" | "b" => String::new(),
        _ => filled(format!("{kind}{at}"), len),
    };
    let call = |id: &&str| json!({ "id": id, "name": "f", "arguments": "{}" });
    let mut node = json!({ "id": at.to_string(), "role": role, "content": text });
    match kind {
        "c" => node["toolCalls"] = ids.iter().map(call).collect(),
        "t" if !ids.is_empty() => node["toolCallId"] = json!(ids[0]),
        "p" => node["metadata"] = json!({ "isContinuationPrefix": true }),
        "d" => node["isEnabled"] = json!(false),
        "S" => node["metadata"] = json!({ "isCompressionNode": true, "compressedNodeIds": ids }),
        _ => {}
    }
    let mut reader = Reader::new();
    let node = Node::read(node, &mut reader);
    assert_eq!(reader.finish(), []);
    node
}

fn filled(mut text: String, len: usize) -> String {
    text.extend(std::iter::repeat_n('.', len.saturating_sub(text.len())));
    text
}

/// Creates a preset of the conversation and entries `DEPTHS [ORDER]`, each named by a letter.
pub(crate) fn depths(entries: &[&str]) -> Value {
    let entries = entries.iter().zip('A'..).map(|(entry, name)| {
        let (depths, order) = entry.split_once(' ').unwrap_or((entry, "100"));
        let order: i64 = order.parse().unwrap();
        let mut strategy = json!({ "type": "advanced_depth", "depthConfig": depths, "order": order });
        if let Ok(depth) = depths.parse::<u64>() {
            strategy = json!({ "type": "depth", "depth": depth, "order": order });
        }
        json!({ "role": "system", "content": format!("{name}."), "injectionStrategy": strategy })
    });
    std::iter::once(json!({ "type": "chat_history" })).chain(entries).collect()
}
