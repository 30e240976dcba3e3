//! Random requests: conversations with calls and results that do not pair, all kinds of content, and what presets,
//! people and earlier passes put among them.

use std::sync::Arc;

use ctx_compress::request::{CompressionPipeline, RequestConfig};
use ctx_types::{
    Attachment, Content, ContentPart, Message, Place, Reasoning, Role, Source, SourceKind, ToolCall, Trust,
};
use proptest::prelude::*;
use serde_json::json;

/// A message before it is known which others there are.
#[derive(Clone, Debug)]
struct Draw {
    kind: u8,
    content: u8,
    length: u8,
    ids: [u8; 3],
    flags: u8,
}

fn draws(most: usize) -> impl Strategy<Value = Vec<Draw>> {
    let draw = (0_u8..24, 0_u8..12, any::<u8>(), any::<[u8; 3]>(), any::<u8>());
    let draw =
        draw.prop_map(|(kind, content, length, ids, flags)| Draw { kind, content, length, ids, flags });
    proptest::collection::vec(draw, 0..most)
}

/// Requests of any kind.
pub(crate) fn requests() -> impl Strategy<Value = Vec<Message>> {
    (draws(36), 0_u8..4).prop_map(|(draws, noted)| with_note(write(&draws, false), noted))
}

/// Requests whose calls and results pair.
pub(crate) fn paired_requests() -> impl Strategy<Value = Vec<Message>> {
    (draws(30), 0_u8..4).prop_map(|(draws, noted)| with_note(write(&draws, true), noted))
}

/// Requests of nothing but a conversation.
pub(crate) fn conversations() -> impl Strategy<Value = Vec<Message>> {
    draws(30).prop_map(|draws| {
        let draws: Vec<Draw> = draws.into_iter().filter(|draw| draw.kind < 17).collect();
        write(&draws, true)
    })
}

/// Lets an earlier pass rewrite the beginning in some cases.
fn with_note(messages: Vec<Message>, noted: u8) -> Vec<Message> {
    if noted != 0 {
        return messages;
    }
    let budget = CompressionPipeline::new(RequestConfig::default()).usage(&messages).used_tokens / 2;
    CompressionPipeline::new(RequestConfig::to_fit(budget)).compress_if_needed(&messages).messages
}

fn write(draws: &[Draw], is_paired: bool) -> Vec<Message> {
    let mut messages = Vec::new();
    for (at, draw) in draws.iter().enumerate() {
        match (draw.kind, is_paired) {
            (6..=8, true) => group(&mut messages, draw, at),
            (9..=10, true) => messages.push(message(Role::User, draw, at)),
            _ => messages.push(one(draw, at)),
        }
    }
    messages
}

/// A message with calls and all of its results, in any order; in some cases one of them is pinned.
fn group(messages: &mut Vec<Message>, draw: &Draw, at: usize) {
    let begin = messages.len();
    let count = 1 + usize::from(draw.flags % 3);
    let id = |number: usize| format!("c{at}-{number}");
    let calls = (0..count).map(|number| call(&id(number), draw.ids[number])).collect();
    messages.push(message(Role::Assistant, draw, at).with(|message| message.tool_calls = calls));
    let mut order: Vec<usize> = (0..count).collect();
    order.rotate_left(usize::from(draw.ids[0]) % count);
    for number in order {
        let result = Draw { content: (draw.content + 5) % 12, length: draw.ids[number], ..draw.clone() };
        let mut result = message(Role::Tool, &result, at);
        result.source = Source::history(format!("n{at}-{number}"), Role::Tool);
        messages.push(result.with(|message| message.tool_call_id = Some(id(number).into())));
    }
    if draw.flags & 0b1_1000 == 0b1_1000 {
        messages[begin + usize::from(draw.ids[1]) % (count + 1)].place = Place::Pinned;
    }
}

/// A message by itself; calls and results have ids of a few, so that some pair.
fn one(draw: &Draw, at: usize) -> Message {
    let id = |number: u8| format!("c{}", number % 5);
    match draw.kind {
        0..=2 => message(Role::User, draw, at),
        3..=5 => message(Role::Assistant, draw, at),
        6..=8 => {
            let count = 1 + usize::from(draw.flags & 1);
            let calls = draw.ids.iter().take(count).map(|number| call(&id(*number), *number)).collect();
            message(Role::Assistant, draw, at).with(|message| message.tool_calls = calls)
        }
        9..=10 => message(Role::Tool, draw, at).with(|message| {
            message.tool_call_id = (draw.flags & 6 != 0).then(|| id(draw.ids[0]).into());
        }),
        11 => message(Role::Assistant, draw, at).with(|message| {
            message.reasoning = Some(Reasoning {
                text: Some("because of the lake".into()),
                artifacts: Vec::new(),
                model: None,
            });
        }),
        12 => message(Role::User, draw, at).with(|message| {
            message.attachments = vec![Attachment::from_value(
                &json!({ "id": "f1", "name": "plan.png", "mimeType": "image/png" }),
            )];
        }),
        13..=16 => message(if draw.flags & 1 == 0 { Role::User } else { Role::Assistant }, draw, at),
        17 => message(Role::System, draw, at),
        18 => message([Role::System, Role::User, Role::Assistant][usize::from(draw.flags % 3)], draw, at)
            .with(|message| {
                message.source = Source::new(SourceKind::Summary, Trust::Model).with_id(format!("s{at}"));
            }),
        19 => message(Role::System, draw, at)
            .with(|message| message.content = Content::Text("SUMMARY\nof it".into())),
        20 => message(Role::User, draw, at).with(|message| message.place = Place::Pinned),
        21 => placed(draw, at, Place::Gap { multiple: false }),
        22 => placed(draw, at, Place::Gap { multiple: true }),
        _ => placed(draw, at, Place::Skeleton),
    }
}

fn placed(draw: &Draw, at: usize, place: Place) -> Message {
    let role = if draw.flags & 1 == 0 { Role::System } else { Role::User };
    message(role, draw, at).with(|message| {
        message.source = Source::preset(Some(format!("p{at}").into()), at, None);
        message.place = place;
    })
}

fn message(role: Role, draw: &Draw, at: usize) -> Message {
    let mut message = Message::new(role, "", Source::history(format!("n{at}"), role));
    message.content = content(draw, at);
    message
}

fn call(id: &str, number: u8) -> ToolCall {
    let (name, arguments) = match number % 4 {
        0 => (
            "book_room",
            format!(
                "{{\"room\": {number}, \"guest\": \"Ada Bell\", \"from\": \"2026-05-{:02}\"}}",
                number % 28
            ),
        ),
        1 => ("get_weather", "{\"place\": \"苏黎世\"}".to_owned()),
        2 => ("look", "{}".to_owned()),
        _ => ("write_file", format!("no json but {}", "words ".repeat(usize::from(number % 16)))),
    };
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

fn content(draw: &Draw, at: usize) -> Content {
    let length = usize::from(draw.length);
    let text = match draw.content {
        0 => String::new(),
        1 => "你好，世界。我想在五月三日订十二号房，不要靠近电梯的。".repeat(1 + length % 5),
        2 => format!("👩‍👩‍👧 flags 🏳️‍🌈 and {at} more words to read, \r\n said Lin."),
        3 => return parts(draw, at),
        4 => "iVBORw0KGgoAAAANSUhEUgAA".repeat(length % 80),
        5 => format!(
            "{{\"booking\": \"B-{at}{length}\", \"ok\": true, \"price\": {length}.5, \"rooms\": [{at}, 14]}}"
        ),
        6 => format!("Error: no key {length} in the cupboard {}", "at frame\n".repeat(length % 40)),
        7 => format!(
            "U: {} \n\n- a list of {length}\n- and more\n\nIn short: it is done.",
            "long and wide ".repeat(length % 120)
        ),
        8 => format!("Lin: {} ARTIFACT_SAVED path/to/{length}.txt", "nothing ".repeat(length % 9)),
        _ => format!(
            "I must not forget that guest {at} comes at {}:15 with {length} bags. Is there room {}?",
            at % 24,
            length
        ),
    };
    Content::Text(text.into())
}

fn parts(draw: &Draw, at: usize) -> Content {
    let image = json!({ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{}", "A".repeat(usize::from(draw.length))) } });
    Content::Parts(vec![
        ContentPart::Text(format!("Part one of {at}. ").into()),
        ContentPart::Other(Arc::new(image)),
        ContentPart::Text("And part two, about the lake and its boats.".into()),
    ])
}
