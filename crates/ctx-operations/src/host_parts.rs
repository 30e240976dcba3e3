//! What a host adds to an engine by functions of its own language: anchors, macros, processors.

use std::sync::Arc;

use ctx_anchors::AnchorDefinition;
use ctx_engine::Engine;
use ctx_engine::prelude::{ContextProcessor, Descriptor, PipelineContext, ProcessorError, async_trait};
use ctx_macros::{Arity, Definition, Failure};
use ctx_types::{Content, Message, Phrase, Role, Source, SourceKind, Text, Trust};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::OperationError;
use crate::messages::message_to_json;

/// Asks a function of the host; the error is what it says of itself.
///
/// Of a macro it is asked `{"macro": name, "arguments": [text, …]}` and answers a text. Of a processor it is asked
/// `{"processor": id, "messages": [message, …]}`, each message with its `number`, and answers null, or the list that
/// takes their place: those that were given with their numbers, which may have another text as `content`, and new ones
/// with `role` and `content`.
pub type AskHost = dyn Fn(Value) -> Result<Value, String> + Send + Sync;

/// What a host adds.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct HostParts {
    anchors: Vec<Anchor>,
    macros: Vec<Macro>,
    processors: Vec<Processor>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Anchor {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    /// Whether the entry's own content is sent.
    #[serde(default)]
    has_template: bool,
    #[serde(default)]
    default_template: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Macro {
    name: String,
    #[serde(default)]
    description: String,
    /// How many arguments it takes.
    #[serde(default)]
    min: usize,
    #[serde(default)]
    max: usize,
    /// Whether equal texts can give another value in the next turn.
    #[serde(default)]
    volatile: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Processor {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    /// Where it stands; behind the formatters if absent.
    priority: Option<i64>,
}

/// Makes an engine with what a host adds; `ask` calls its functions.
///
/// `parts` has `anchors`, `macros` and `processors`, each optional. Errors: a part is of another type, or its name is
/// taken.
pub fn engine_with(parts: Value, ask: &Arc<AskHost>) -> Result<Engine, OperationError> {
    let parts: HostParts = serde_json::from_value(parts).map_err(OperationError::usage)?;
    let mut engine = Engine::new();
    for anchor in parts.anchors {
        engine.anchors.register(anchor.definition()).map_err(OperationError::usage)?;
    }
    for own in parts.macros {
        engine.macros.register(own.definition(ask.clone())).map_err(OperationError::usage)?;
    }
    for own in parts.processors {
        engine.register(Arc::new(HostProcessor { own, ask: ask.clone() })).map_err(OperationError::usage)?;
    }
    Ok(engine)
}

impl Anchor {
    fn definition(self) -> AnchorDefinition {
        let name = if self.name.is_empty() { self.id.clone() } else { self.name };
        AnchorDefinition {
            id: self.id.into(),
            name: name.into(),
            description: self.description.into(),
            is_system: false,
            has_template: self.has_template,
            default_template: self.default_template.map(Text::from),
        }
    }
}

impl Macro {
    fn definition(self, ask: Arc<AskHost>) -> Definition {
        let name = self.name.clone();
        let expand = move |call: &mut ctx_macros::Call<'_>| {
            let arguments: Vec<&str> = (0..call.argument_count()).map(|index| call.argument(index)).collect();
            let answer = ask(json!({ "macro": name, "arguments": arguments }));
            match answer {
                Ok(Value::String(text)) => Ok(ctx_macros::Value::from(text)),
                Ok(Value::Null) => Ok(ctx_macros::Value::from(String::new())),
                Ok(other) => Ok(ctx_macros::Value::from(other.to_string())),
                Err(error) => Err(Failure::from_message(Phrase::verbatim(error))),
            }
        };
        let mut definition = Definition::new(self.name, expand);
        definition.arity = Arity { min: self.min, max: Some(self.max.max(self.min)) };
        definition.volatile = self.volatile;
        definition.description = self.description;
        definition
    }
}

/// A processor that is a function of the host.
struct HostProcessor {
    own: Processor,
    ask: Arc<AskHost>,
}

#[async_trait]
impl ContextProcessor for HostProcessor {
    fn descriptor(&self) -> Descriptor {
        let Processor { id, name, description, priority } = &self.own;
        let name = if name.is_empty() { id } else { name };
        let descriptor = Descriptor::new(id.as_str(), name.as_str(), description.as_str());
        descriptor.with(|descriptor| descriptor.priority = priority.unwrap_or(descriptor.priority))
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let number = |(number, message): (usize, &Message)| {
            let mut written = message_to_json(message);
            written["number"] = json!(number);
            written
        };
        let messages: Vec<Value> = cx.draft.messages().iter().enumerate().map(number).collect();
        let answer = (self.ask)(json!({ "processor": self.own.id, "messages": messages }));
        match answer.map_err(ProcessorError::failed)? {
            Value::Null => Ok(()),
            Value::Array(list) => {
                let made = list.iter().map(|one| self.message(one, cx.draft.messages(), &messages));
                let made = made.collect::<Result<Vec<Message>, ProcessorError>>()?;
                cx.draft.set_messages(made);
                Ok(())
            }
            _ => Err(ProcessorError::failed("the function must return null or a list of messages")),
        }
    }
}

impl HostProcessor {
    /// Reads a message that the function gave: one that it was given, or a new one.
    fn message(&self, one: &Value, own: &[Message], given: &[Value]) -> Result<Message, ProcessorError> {
        let text = one.get("content").and_then(Value::as_str);
        let number =
            one.get("number").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        if let Some((message, written)) =
            number.and_then(|number| Some((own.get(number)?, given.get(number)?)))
        {
            let is_same = one.get("content").is_none_or(|content| Some(content) == written.get("content"));
            return match text {
                _ if is_same => Ok(message.clone()),
                Some(text) => {
                    Ok(message.clone().with(|message| message.content = Content::Text(text.into())))
                }
                None => Err(ProcessorError::failed("the new content of a message must be a string")),
            };
        }
        let role = one.get("role").cloned().and_then(|role| serde_json::from_value::<Role>(role).ok());
        let (Some(role), Some(text)) = (role, text) else {
            return Err(ProcessorError::failed("a new message needs a `role` and a string as `content`"));
        };
        let source = Source::new(SourceKind::Plugin, Trust::Preset).with_id(self.own.id.as_str());
        Ok(Message::new(role, text, source))
    }
}
