//! `ctx compress`: conversations that fit into a number of tokens.

use std::sync::Arc;

use anyhow::Result;
use ctx_compress::request::{
    CompressionPipeline, Meter, PassOutcome, Protection, RequestConfig, STRATEGIES, strategy,
};
use ctx_engine::Engine;
use ctx_tokens::Counter;
use ctx_types::{Diagnostic, Message, Node, Note, Place, Session, closest};
use serde_json::{Map, Value, json};

use crate::args::{CompressArguments, CompressCommand, Counting, PassArguments};
use crate::commands::inputs::{self, InputFile};
use crate::config::Config;
use crate::exit::{Exit, UsageError};
use crate::show::{self, Sources};

/// Plans or runs a pass.
pub(crate) fn run(arguments: &CompressArguments) -> Result<Exit> {
    match &arguments.command {
        CompressCommand::Plan(arguments) => plan(arguments),
        CompressCommand::Run(arguments) => compress(arguments),
    }
}

fn plan(arguments: &PassArguments) -> Result<Exit> {
    let mut sources = Sources::default();
    let Prepared { pipeline, messages, protection } = prepare(arguments, &mut sources)?;
    let plan = pipeline.plan(&messages, protection);
    sources.show(&in_conversation(&plan.diagnostics, arguments));
    match arguments.json {
        true => show::json(&plan.to_json())?,
        false => show::result(&plan.to_string())?,
    }
    match &plan.outcome {
        PassOutcome::Infeasible(overflow) => Err((**overflow).clone().into()),
        PassOutcome::Compacted | PassOutcome::NotNeeded | PassOutcome::NoProgress { .. } => Ok(Exit::Success),
    }
}

fn compress(arguments: &PassArguments) -> Result<Exit> {
    let mut sources = Sources::default();
    let Prepared { pipeline, messages, protection } = prepare(arguments, &mut sources)?;
    let compression = pipeline.compress(&messages, protection);
    sources.show(&in_conversation(&compression.report.diagnostics, arguments));
    if let PassOutcome::Infeasible(overflow) = compression.report.outcome {
        return Err((*overflow).into());
    }
    match arguments.json {
        true => {
            let messages: Vec<Value> = compression.messages.iter().map(to_json).collect();
            let loop_start = arguments.loop_start.map(|_| compression.new_loop_start);
            let mut result = json!({ "messages": messages, "report": compression.report });
            if let Some(start) = loop_start {
                result["loopStart"] = json!(start);
            }
            show::json(&result)?;
        }
        false => show::result(&show::messages(&compression.messages))?,
    }
    Ok(Exit::Success)
}

/// A pass that is ready to run.
struct Prepared {
    pipeline: CompressionPipeline<'static>,
    messages: Vec<Message>,
    protection: Protection,
}

fn prepare(arguments: &PassArguments, sources: &mut Sources) -> Result<Prepared> {
    inputs::check_stdin([Some(&arguments.session), arguments.models.as_ref()].into_iter().flatten())?;
    let Some(strategy) = strategy(&arguments.strategy) else {
        return Err(unknown(&arguments.strategy).into());
    };
    let config = Config::read(&arguments.config, sources)?;
    let mut found = config.found.clone();
    let meter = meter(arguments, &config, sources, &mut found)?;
    let file = InputFile::from(&arguments.session);
    let conversation = inputs::conversation(&file, sources)?;
    found.extend(conversation.diagnostics);
    sources.show(&found);
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(arguments.budget));
    Ok(Prepared {
        pipeline: pipeline.with_strategy(strategy).with_meter(meter),
        messages: messages(&conversation.value),
        protection: arguments.loop_start.map_or(Protection::LastUserMessage, Protection::CurrentLoop),
    })
}

fn unknown(name: &str) -> UsageError {
    let near = closest(name, STRATEGIES).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    UsageError(format!("there is no strategy `{name}`{near}"))
}

fn meter(
    arguments: &PassArguments,
    config: &Config,
    sources: &mut Sources,
    found: &mut Vec<Diagnostic>,
) -> Result<Meter<'static>> {
    let model = arguments.model.as_deref().or(config.model.as_deref());
    match (arguments.counter, model) {
        (Counting::Estimate, _) => return Ok(Meter::estimate()),
        (Counting::Model, None) => {
            let help = "`--counter model` needs a model; name one with `--model`";
            return Err(UsageError(help.to_owned()).into());
        }
        (Counting::Model, Some(_)) => {}
    }
    let mut engine = Engine::new();
    let models = config.file("models", arguments.models.clone(), sources)?;
    if let Some(file) = models.map(InputFile::from) {
        let (models, odd) = inputs::models(&file, &engine.models, sources)?;
        engine.models = Arc::new(models);
        found.extend(odd);
    }
    let (facts, unknown) = engine.models.lookup(model.unwrap_or_default());
    found.extend(unknown);
    let (counter, odd) = Counter::for_model(&facts);
    found.extend(odd);
    Ok(Meter::for_model(Arc::new(facts), Arc::new(counter)))
}

/// Returns what is sent of a conversation.
fn messages(session: &Session) -> Vec<Message> {
    let sent = (0..session.sent_len()).filter_map(|position| session.sent_node(position));
    let message = |node: &Node, message: Message| match node.kept.get("pinned") {
        Some(Value::Bool(true)) => message.with(|message| message.place = Place::Pinned),
        _ => message,
    };
    sent.map(|(id, node)| message(node, node.to_message(id))).collect()
}

/// Points findings about the list of messages at the file.
fn in_conversation(found: &[Diagnostic], arguments: &PassArguments) -> Vec<Diagnostic> {
    let name = crate::files::name(&arguments.session);
    let at_file = |mut found: Diagnostic| {
        // Messages that are not sent have no index in the list, so that only the file itself is sure.
        found.location.pointer = None;
        found.in_document(name.as_str())
    };
    found.iter().cloned().map(at_file).collect()
}

/// Writes a message as chat completions have it, with its id, and for a note what a later pass needs.
fn to_json(message: &Message) -> Value {
    let mut map = Map::new();
    if let Some(id) = &message.source.id {
        map.insert("id".to_owned(), json!(id));
    }
    map.insert("role".to_owned(), json!(message.role));
    map.insert("content".to_owned(), content(message));
    if !message.tool_calls.is_empty() {
        let call = |call: &ctx_types::ToolCall| json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": call.arguments } });
        map.insert("tool_calls".to_owned(), message.tool_calls.iter().map(call).collect());
    }
    let texts = [("tool_call_id", &message.tool_call_id), ("name", &message.name)];
    for (key, text) in texts.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))) {
        map.insert(key.to_owned(), json!(text));
    }
    if let Some(text) = message.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref()) {
        map.insert("reasoning_content".to_owned(), json!(text));
    }
    if !message.attachments.is_empty() {
        let files = message.attachments.iter().map(|file| (*file.kept).clone());
        map.insert("attachments".to_owned(), files.collect());
    }
    if message.place == Place::Pinned && !message.role.is_instruction() {
        map.insert("pinned".to_owned(), Value::Bool(true));
    }
    if let Some(note) = &message.note {
        map.insert(Note::KEY.to_owned(), json!(note));
    }
    Value::Object(map)
}

/// Writes content: null for calls without a text, a list where there is more than text.
fn content(message: &Message) -> Value {
    use ctx_types::{Content, ContentPart};
    let part = |part: &ContentPart| match part {
        ContentPart::Text(text) => json!({ "type": "text", "text": text }),
        ContentPart::Other(other) => (**other).clone(),
    };
    match &message.content {
        Content::Text(text) if text.is_empty() && !message.tool_calls.is_empty() => Value::Null,
        Content::Text(text) => json!(text),
        Content::Parts(parts) => parts.iter().map(part).collect(),
    }
}
