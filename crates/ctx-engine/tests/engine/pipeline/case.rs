use std::sync::Arc;

use async_trait::async_trait;
use ctx_engine::{AssembleError, Compile, CompiledAgent, Context, Engine};
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::session::{Node, Session};
use ctx_types::{Agent, Content, Message, Persist, Reader, Role, Source, SourceKind, Trust, TurnInput};
use serde_json::{Value, json};

type Execute = dyn Fn(&mut PipelineContext<'_>) -> Result<(), ProcessorError> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Plugin {
    id: &'static str,
    priority: i64,
    execute: Arc<Execute>,
}

impl Plugin {
    pub(crate) fn renamed(self, id: &'static str) -> Self {
        Self { id, ..self }
    }
}

#[async_trait]
impl ContextProcessor for Plugin {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(self.id, "", "").with(|descriptor| descriptor.priority = self.priority)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        (self.execute)(cx)
    }
}

pub(crate) fn plugin(
    id: &'static str,
    priority: i64,
    execute: impl Fn(&mut PipelineContext<'_>) + Send + Sync + 'static,
) -> Plugin {
    let execute = move |cx: &mut PipelineContext<'_>| {
        execute(cx);
        Ok(())
    };
    Plugin { id, priority, execute: Arc::new(execute) }
}

pub(crate) fn failing(
    id: &'static str,
    priority: i64,
    execute: impl Fn(&mut PipelineContext<'_>) -> Result<(), ProcessorError> + Send + Sync + 'static,
) -> Plugin {
    Plugin { id, priority, execute: Arc::new(execute) }
}

#[derive(Clone, Default)]
pub(crate) struct Case {
    pub(crate) agent: Value,
    pub(crate) session: Option<Session>,
    pub(crate) turn: TurnInput,
    pub(crate) plugins: Vec<Plugin>,
}

impl Case {
    /// A budget and a conversation of `count` messages that ends with a question.
    pub(crate) fn talk(count: usize, budget: i64) -> Self {
        let turn = TurnInput::default().with(|turn| turn.context_tokens = Some(budget));
        let agent = json!({ "presetMessages": [
            { "role": "system", "content": "You help." },
            { "type": "chat_history" },
        ] });
        Self { agent, session: Some(talk(count)), turn, plugins: Vec::new() }
    }

    pub(crate) fn with(self, plugin: Plugin) -> Self {
        let plugins = self.plugins.into_iter().chain([plugin]).collect();
        Self { plugins, ..self }
    }

    pub(crate) fn assemble(&self) -> Result<Context, AssembleError> {
        assert_eq!(self.compile().diagnostics(), []);
        self.unchecked()
    }

    pub(crate) fn unchecked(&self) -> Result<Context, AssembleError> {
        let session = self.session.clone().unwrap_or_else(|| Session::new("s"));
        self.compile().assemble_blocking(&session, &self.turn)
    }

    pub(crate) fn compile(&self) -> CompiledAgent {
        let mut engine = Engine::new();
        for plugin in &self.plugins {
            engine.register(Arc::new(plugin.clone())).unwrap();
        }
        let agent = Agent::read(self.agent.clone(), &mut Reader::new());
        engine.compile(&agent, &Compile::default())
    }

    #[track_caller]
    pub(crate) fn context(&self) -> Context {
        self.assemble().unwrap()
    }
}

pub(crate) fn talk(count: usize) -> Session {
    let nodes = (0..count).map(|at| match (count - at) % 2 {
        1 => Node::new(Role::User, text("Question", at)),
        _ => Node::new(Role::Assistant, text("Answer", at)),
    });
    Session::linear("s", nodes).0
}

fn text(kind: &str, at: usize) -> String {
    format!("{kind} {at} of a long walk along the river, with many bridges and some mills.")
}

pub(crate) fn written(text: &str) -> Message {
    Message::new(Role::System, text, Source::new(SourceKind::Plugin, Trust::Preset))
}

pub(crate) fn rewrite(message: &mut Message, text: String) {
    message.content = Content::Text(text.into());
}

pub(crate) fn texts(context: &Context) -> Vec<String> {
    context.messages.iter().map(|message| message.text().into_owned()).collect()
}

pub(crate) fn stages(context: &Context) -> Vec<&str> {
    context.report.stages.iter().map(|stage| stage.id.as_str()).collect()
}

pub(crate) fn log(context: &Context, id: &str) -> String {
    let stage = context.report.stages.iter().find(|stage| stage.id == id);
    stage.and_then(|stage| stage.log.first()).map(|line| line.message.to_string()).unwrap_or_default()
}

pub(crate) fn total(context: &Context) -> u64 {
    context.tokens().into_iter().map(u64::from).sum()
}
