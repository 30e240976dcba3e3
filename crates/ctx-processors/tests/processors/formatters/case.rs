//! Runs formatters over messages written as lines.

use std::sync::{Arc, LazyLock};

use ctx_pipeline::internal::{CompileContext, Pipeline, Run, SettingsLayer};
use ctx_pipeline::{ProcessorRegistry, SettingOrigin};
use ctx_types::DepthPoints;
use ctx_types::{
    Agent, Attachment, Content, ContentPart, Message, Order, Place, Placement, Reasoning, Role, Side, Source,
    SourceKind, Text, ToolCall, Trust, TurnInput,
};
use serde_json::{Value, json};

use crate::inputs::{execute, registry};

pub(crate) const FORMATTERS: [&str; 5] = [
    "merge-injections",
    "merge-system-to-head",
    "merge-consecutive-roles",
    "convert-system-to-user",
    "ensure-alternating-roles",
];

/// Compares the resulting messages, one per line.
///
/// `processors` lists the enabled processors with their settings. Indentation and empty lines are ignored.
/// See [`message`] and [`line`] for the notation.
#[track_caller]
pub(crate) fn check(processors: Value, messages: &str, expected: &str) {
    let run = run(&processors, lines(messages).map(|(at, line)| message(at, line)).collect());
    let found: Vec<String> = run.draft.messages().iter().map(line).collect();
    let expected: Vec<&str> = lines(expected).map(|(_, line)| line).collect();
    assert_eq!(found, expected);
}

#[track_caller]
pub(crate) fn check_decisions(processors: Value, messages: &str, expected: &[&str]) {
    let run = run(&processors, lines(messages).map(|(at, line)| message(at, line)).collect());
    let found: Vec<String> = run.draft.decisions().iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

/// Each entry is an id, or `[id, config]`.
pub(crate) fn run(processors: &Value, messages: Vec<Message>) -> Run {
    static REGISTRY: LazyLock<ProcessorRegistry> = LazyLock::new(|| registry(&FORMATTERS));
    let mut settings: Vec<Value> = FORMATTERS.map(|id| json!({ "id": id, "enabled": false })).to_vec();
    for entry in processors.as_array().into_iter().flatten() {
        let id = entry.get(0).unwrap_or(entry);
        settings.retain(|setting| setting["id"] != *id);
        settings.push(json!({ "id": id, "enabled": true, "config": entry.get(1) }));
    }
    let (layer, found) =
        SettingsLayer::from_parameters(SettingOrigin::Agent, &json!({ "processors": settings }), "");
    assert_eq!(found, []);
    let pipeline = Pipeline::compile(&REGISTRY, &Agent::default(), CompileContext::default(), &[layer]);
    assert_eq!(pipeline.diagnostics(), []);
    let mut run = Run::default();
    run.draft.set_messages(messages);
    execute(&pipeline, &mut run, &Agent::default(), None, &TurnInput::default());
    assert_eq!(run.diagnostics, []);
    run
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate()
}

/// Reads a message: `PLACE ROLE [ATTRIBUTE]...: TEXT`.
///
/// The places are `skeleton`, `anchored`, `around` (the history), `gap`, `points` (a gap, one of several),
/// `history`, and `pinned`; `world`, `plugin`, and `summary` set the kind of source: an anchored worldbook
/// entry or plug-in message, and a summary of the history. Attributes: `name=`, `calls=x,y`, `result=x`,
/// `file=`, `order=`, `reasoning`, `prefix`, `parts` (splits the text at `|`; `<…>` is not text). The id of
/// the source is the number of the line.
pub(crate) fn message(at: usize, line: &str) -> Message {
    let (head, text) = line.split_once(':').unwrap();
    let mut words = head.split_whitespace();
    let (place, kind) = place(words.next().unwrap());
    let role = Role::parse(words.next().unwrap()).unwrap();
    let trust = if kind == SourceKind::Preset { Trust::Preset } else { Trust::User };
    let source = Source::new(kind, trust).with_id(at.to_string());
    let mut message = Message::new(role, text.trim(), source);
    message.place = place;
    if !matches!(place, Place::History | Place::Pinned | Place::Skeleton) {
        message.placement = Some(Arc::new(placement(place, 100.0)));
    }
    words.for_each(|word| set(&mut message, word));
    message
}

fn place(word: &str) -> (Place, SourceKind) {
    match word {
        "skeleton" => (Place::Skeleton, SourceKind::Preset),
        "anchored" => (Place::Anchored, SourceKind::Preset),
        "around" => (Place::AroundHistory, SourceKind::Preset),
        "gap" => (Place::Gap { multiple: false }, SourceKind::Preset),
        "points" => (Place::Gap { multiple: true }, SourceKind::Preset),
        "history" => (Place::History, SourceKind::History),
        "pinned" => (Place::Pinned, SourceKind::History),
        "summary" => (Place::History, SourceKind::Summary),
        "world" => (Place::Anchored, SourceKind::Worldbook),
        "plugin" => (Place::Anchored, SourceKind::Plugin),
        other => panic!("unknown place `{other}`"),
    }
}

fn placement(place: Place, order: f64) -> Placement {
    let order = Order(order);
    match place {
        Place::Gap { .. } => Placement::Depth { points: DepthPoints::single(1), order },
        _ => Placement::Anchor { target: "lore".into(), side: Side::After, order },
    }
}

fn set(message: &mut Message, attribute: &str) {
    let (key, value) = attribute.split_once('=').unwrap_or((attribute, ""));
    match key {
        "name" => message.name = Some(value.into()),
        "result" => message.tool_call_id = Some(value.into()),
        "file" => message.attachments.push(Attachment::from_value(&json!({ "id": value, "name": value }))),
        "order" => message.placement = Some(Arc::new(placement(message.place, value.parse().unwrap()))),
        "reasoning" => message.reasoning = Some(Reasoning { text: None, artifacts: Vec::new(), model: None }),
        "prefix" => message.is_continuation_prefix = true,
        "calls" => {
            let call = |id: &str| ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into() };
            message.tool_calls = value.split(',').map(call).collect();
        }
        "parts" => {
            let part = |text: &str| {
                if text.starts_with('<') {
                    ContentPart::Other(Arc::new(Value::from(text)))
                } else {
                    ContentPart::Text(Text::from(text))
                }
            };
            message.content = Content::Parts(message.text().split('|').map(part).collect());
        }
        other => panic!("unknown attribute `{other}`"),
    }
}

/// Writes a message: `ROLE [ATTRIBUTE]...: TEXT`, with `/` for a line break and parts split by `|`.
fn line(message: &Message) -> String {
    let mut line = message.role.to_string();
    if let Some(name) = &message.name {
        line.extend([" name=", name]);
    }
    if !message.tool_calls.is_empty() {
        let ids: Vec<&str> = message.tool_calls.iter().map(|call| &*call.id).collect();
        line.extend([" calls=", &ids.join(",")]);
    }
    for attachment in &message.attachments {
        line.extend([" file=", &attachment.name]);
    }
    if message.reasoning.is_some() {
        line += " reasoning";
    }
    let text = match &message.content {
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            let part = |part: &ContentPart| match part {
                ContentPart::Text(text) => text.to_string(),
                ContentPart::Other(value) => value.as_str().unwrap().to_owned(),
            };
            parts.iter().map(part).collect::<Vec<_>>().join("|")
        }
    };
    format!("{line}: {}", text.replace('\n', "/")).trim_end().to_owned()
}
