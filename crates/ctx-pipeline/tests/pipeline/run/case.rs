//! Closures as processors, and runs over messages written as words.

use std::sync::Arc;

use ctx_pipeline::internal::{CompileContext, Pipeline, Run};
use ctx_pipeline::{
    Cancel, Config, ContextProcessor, Descriptor, Inputs, PipelineContext, PrepareContext, PreparedData,
    ProcessorError, ProcessorRegistry, RunError, async_trait,
};
use ctx_tokens::{Budget, ModelFacts};
use ctx_types::ports::{Stopwatch, TokenCounter};
use ctx_types::session::{LogLevel, Session};
use ctx_types::{Agent, EncodingId, Message, Role, Source, ToolCall, TurnInput};

type Act = Box<dyn Fn(&mut PipelineContext<'_>) -> Result<(), ProcessorError> + Send + Sync>;

type Prepare = Box<dyn Fn(&mut PrepareContext) -> PreparedData + Send + Sync>;

pub(crate) struct Step {
    pub(crate) descriptor: Descriptor,
    act: Act,
    prepare: Prepare,
    hangs: bool,
}

impl Step {
    pub(crate) fn new(
        id: &str,
        act: impl Fn(&mut PipelineContext<'_>) -> Result<(), ProcessorError> + Send + Sync + 'static,
    ) -> Self {
        let descriptor = Descriptor::new(id, id, "for tests");
        Self { descriptor, act: Box::new(act), prepare: Box::new(|_| PreparedData::default()), hangs: false }
    }

    pub(crate) fn edit(id: &str, edit: impl Fn(&mut Vec<Message>) + Send + Sync + 'static) -> Self {
        Self::new(id, move |cx| {
            edit(cx.draft.messages_mut());
            Ok(())
        })
    }

    pub(crate) fn push(id: &'static str) -> Self {
        Self::edit(id, move |messages| messages.push(message(id)))
    }

    pub(crate) fn core(mut self) -> Self {
        self.descriptor.is_core = true;
        self
    }

    pub(crate) fn at(mut self, priority: i64) -> Self {
        self.descriptor.priority = priority;
        self
    }

    pub(crate) fn per_message(mut self) -> Self {
        self.descriptor.per_message = true;
        self
    }

    pub(crate) fn hanging(mut self) -> Self {
        self.hangs = true;
        self
    }

    pub(crate) fn preparing(
        mut self,
        prepare: impl Fn(&mut PrepareContext) -> PreparedData + Send + Sync + 'static,
    ) -> Self {
        self.prepare = Box::new(prepare);
        self
    }
}

#[async_trait]
impl ContextProcessor for Step {
    fn descriptor(&self) -> Descriptor {
        self.descriptor.clone()
    }

    fn prepare(&self, _agent: &Agent, _config: &Config, cx: &mut PrepareContext) -> PreparedData {
        (self.prepare)(cx)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        (self.act)(cx)?;
        if self.hangs {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

#[derive(Default)]
pub(crate) struct Host {
    pub(crate) cancel: Cancel,
    pub(crate) stopwatch: Option<Box<dyn Stopwatch>>,
}

#[track_caller]
pub(crate) fn check(steps: impl IntoIterator<Item = Step>, before: &str, expected: &[&str]) {
    let (run, result) = run(steps, before, &Host::default());
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(describe(&run), expected);
}

pub(crate) fn run(
    steps: impl IntoIterator<Item = Step>,
    before: &str,
    host: &Host,
) -> (Run, Result<(), RunError>) {
    let pipeline = compile(steps);
    let mut run = Run::default();
    run.draft.set_messages(messages(before));
    let result = with_inputs(host, |inputs| pollster::block_on(pipeline.run(&mut run, inputs, ..)));
    (run, result)
}

pub(crate) fn compile(steps: impl IntoIterator<Item = Step>) -> Pipeline {
    let mut registry = ProcessorRegistry::default();
    for step in steps {
        registry.register(Arc::new(step)).unwrap();
    }
    Pipeline::compile(&registry, &Agent::default(), CompileContext::default(), &[])
}

pub(crate) fn with_inputs<T>(host: &Host, use_inputs: impl FnOnce(Inputs<'_>) -> T) -> T {
    let (agent, turn, model) = (Agent::default(), TurnInput::default(), ModelFacts::unknown("x"));
    let (session, _) = Session::linear("s", []);
    let budget = Budget { available: None, lines: Vec::new() };
    use_inputs(Inputs {
        agent: &agent,
        profile: None,
        session: &session,
        turn: &turn,
        model: &model,
        counter: &Bytes,
        budget: &budget,
        cancel: &host.cancel,
        attachments: ctx_types::ports::AttachmentPorts::default(),
        embedder: None,
        deadline: None,
        stopwatch: host.stopwatch.as_deref(),
    })
}

/// Skips errors in logs, which are also diagnostics or the error of the run.
pub(crate) fn describe(run: &Run) -> Vec<String> {
    let mut lines = vec![words(run.draft.messages())];
    lines.extend(run.diagnostics.iter().map(ToString::to_string));
    lines.extend(run.draft.decisions().iter().map(ToString::to_string));
    for stage in &run.stages {
        let log = stage.log.iter().filter(|line| line.level != LogLevel::Error);
        lines.extend(log.map(|line| format!("{}: {line}", stage.id)));
    }
    lines
}

/// Counts 1 token per byte.
struct Bytes;

impl TokenCounter for Bytes {
    fn encoding(&self) -> EncodingId {
        EncodingId(1)
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.len()).unwrap()
    }
}

pub(crate) fn messages(words: &str) -> Vec<Message> {
    words.split_whitespace().map(message).collect()
}

pub(crate) fn words(messages: &[Message]) -> String {
    messages.iter().map(|message| message.text().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Reads a message: `u1`, `a1`, `s1`; with calls `c1:x,y`; a result `t1:x`. The word is its text. The id
/// precedes the colon; `t:x` has no id.
pub(crate) fn message(word: &str) -> Message {
    let (id, calls) = word.split_once(':').unwrap_or((word, ""));
    let role = match id.get(..1) {
        Some("u") => Role::User,
        Some("a" | "c") => Role::Assistant,
        Some("t") => Role::Tool,
        _ => Role::System,
    };
    let mut source = Source::history(id, role);
    source.id = source.id.filter(|id| id.len() > 1);
    let mut message = Message::new(role, word, source);
    let mut calls = calls.split(',').filter(|call| !call.is_empty());
    if role == Role::Tool {
        message.tool_call_id = calls.next().map(Into::into);
        return message;
    }
    let call = |id: &str| ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into() };
    message.tool_calls = calls.map(call).collect();
    message
}
