//! Random conversations and random things that happen to them.

use ctx_types::session::Session;
use ctx_types::{Persist as _, Reader};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A node before it is known which others there are.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    parent: usize,
    role: u8,
    content: u8,
    ids: [u8; 2],
    listed: [usize; 3],
    flags: u8,
}

/// Something that happens: what it is, two nodes, a few switches.
pub(crate) type Event = (u8, usize, usize, u8);

pub(crate) fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let draw = (any::<usize>(), 0_u8..10, 0_u8..8, any::<[u8; 2]>(), any::<[usize; 3]>(), any::<u8>());
    let draw = draw.prop_map(|(parent, role, content, ids, listed, flags)| Draw {
        parent,
        role,
        content,
        ids,
        listed,
        flags,
    });
    proptest::collection::vec(draw, 1..26)
}

pub(crate) fn events() -> impl Strategy<Value = Vec<Event>> {
    proptest::collection::vec((0_u8..14, any::<usize>(), any::<usize>(), any::<u8>()), 1..12)
}

/// Builds the session of some draws: branches, calls with results that are missing, late or there twice,
/// summaries of anything, messages that are switched off, all kinds of content.
pub(crate) fn session(draws: &[Draw]) -> Session {
    let mut nodes =
        vec![json!({ "id": "root", "parentId": null, "childrenIds": [], "role": "system", "content": "" })];
    for (at, draw) in draws.iter().enumerate() {
        // Mostly one long branch.
        let parent = if draw.parent % 5 == 0 { draw.parent / 5 % nodes.len() } else { nodes.len() - 1 };
        let id = format!("n{at}");
        let above = nodes[parent]["id"].clone();
        nodes[parent]["childrenIds"].as_array_mut().unwrap().push(json!(id));
        nodes.push(node(&id, &above, draw, at));
    }
    let leaf = nodes.last().unwrap()["id"].clone();
    let nodes: Map<String, Value> =
        nodes.into_iter().map(|node| (node["id"].as_str().unwrap().to_owned(), node)).collect();
    let file = json!({ "id": "s", "nodes": nodes, "rootNodeId": "root", "activeLeafId": leaf });
    Session::read(file, &mut Reader::new())
}

fn node(id: &str, parent: &Value, draw: &Draw, at: usize) -> Value {
    let mut node = json!({ "id": id, "parentId": parent, "childrenIds": [], "content": content(draw, at) });
    let call = |number: u8| format!("c{}", number % 4);
    match draw.role {
        0..=2 => node["role"] = json!("user"),
        3 | 4 => node["role"] = json!("assistant"),
        5 => {
            node["role"] = json!("assistant");
            let calls = draw.ids.iter().take(1 + usize::from(draw.flags & 1));
            node["toolCalls"] =
                calls.map(|id| json!({ "id": call(*id), "name": "f", "arguments": "{\"x\":1}" })).collect();
        }
        6 | 7 => {
            node["role"] = json!("tool");
            if draw.flags & 6 != 0 {
                node["toolCallId"] = json!(call(draw.ids[0]));
            }
        }
        8 => node["role"] = json!("system"),
        _ => {
            node["role"] = json!("system");
            let listed = draw.listed.iter().map(|listed| format!("n{}", listed % (at + 3)));
            let listed: Vec<String> = listed.chain([format!("n{}", at.saturating_sub(1))]).collect();
            node["metadata"] = json!({ "isCompressionNode": true, "compressedNodeIds": listed });
        }
    }
    if draw.flags & 0x70 == 0 {
        node["isEnabled"] = json!(false);
    }
    if draw.flags & 0x78 == 0x10 && draw.role < 5 {
        node["metadata"] = json!({ "isGreeting": true, "greetingLive": true });
    }
    if draw.flags & 0x78 == 0x18 && draw.role < 5 {
        node["metadata"] = json!({ "isContinuationPrefix": true });
    }
    node
}

fn content(draw: &Draw, at: usize) -> Value {
    match draw.content {
        0 => json!(""),
        1 => json!("你好，世界。这是一条中文消息，内容不长也不短。"),
        2 => json!("👩‍👩‍👧 flags 🏳️‍🌈 and more words to read"),
        3 => {
            json!([{ "type": "text", "text": "part one" }, { "type": "image_url", "image_url": { "url": "data:," } }])
        }
        4 => json!("iVBORw0KGgo".repeat(20)),
        _ => json!(format!("message {at} with {{context}} and {}", "some words ".repeat(at % 9))),
    }
}
