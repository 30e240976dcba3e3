//! Generates agent and conversation files: valid, nearly valid, and junk.

pub(crate) mod turn;

use ctx_types::GenerationKind;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) agent: Value,
    pub(crate) session: Value,
    pub(crate) input: Option<&'static str>,
    pub(crate) kind: GenerationKind,
    pub(crate) model: Option<&'static str>,
}

fn text() -> impl Strategy<Value = &'static str> {
    select(
        &[
            "x",
            "Hello {{user}}!",
            "{{char}}",
            "$& $$ {{nobody}}",
            "{{setvar::a::1}}",
            "{{getvar::a}}",
            "界 ",
            "",
            " \n",
            "{{",
        ][..],
    )
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => text().prop_map(Value::from),
        1 => (text(), text()).prop_map(|(one, two)| json!([
            { "type": "text", "text": one }, { "type": "image_url" }, { "type": "text", "text": two },
        ])),
        1 => Just(Value::Null),
    ]
}

const TARGETS: &[&str] =
    &["chat_history", "__CHAT_HISTORY__", "user_profile", "lore", "lroe", "scenario", "author_note", "a"];

fn placement() -> impl Strategy<Value = Map<String, Value>> {
    let flat = prop_oneof![
        3 => Just(json!({})),
        2 => (-6_i64..9).prop_map(|at| json!({ "insertionPoint": at })),
        2 => (select(TARGETS), select(&["before", "after", "beside"][..]))
            .prop_map(|(target, side)| json!({ "anchorTarget": target, "anchorPoint": side })),
    ];
    let kinds = select(&["default", "depth", "advanced_depth", "anchor", "deep"][..]);
    let points = select(&["0", "0~1", "1, 3", "2~3, 50", "9:0", "x", ""][..]);
    let strategy = (proptest::option::of(kinds), -1_i64..9, points, select(TARGETS), 0_u8..8).prop_map(
        |(kind, depth, points, target, keys)| {
            let mut strategy = json!({ "order": depth * 7 % 3, "lane": depth % 2 });
            let given =
                [("depth", json!(depth)), ("depthConfig", json!(points)), ("anchorTarget", json!(target))];
            for (bit, (key, value)) in given.into_iter().enumerate() {
                if keys & (1 << bit) != 0 {
                    strategy[key] = value;
                }
            }
            strategy["type"] = json!(kind);
            strategy
        },
    );
    (flat, proptest::option::weighted(0.4, strategy)).prop_map(|(mut entry, strategy)| {
        if let Some(strategy) = strategy {
            entry["injectionStrategy"] = strategy;
        }
        entry.as_object().unwrap().clone()
    })
}

fn entry() -> impl Strategy<Value = Value> {
    let kinds =
        select(&["message", "chat_history", "user_profile", "scenario", "placeholder", "weather"][..]);
    let kind = proptest::option::weighted(0.4, kinds);
    let id = select(&["a", "b", "lore", "lore", ""][..]);
    let role = select(&["system", "user", "assistant", "tool", "narrator"][..]);
    (placement(), kind, content(), id, role, 0..10).prop_map(
        |(mut entry, kind, content, id, role, switch)| {
            entry.extend([
                ("type".to_owned(), json!(kind)),
                ("content".to_owned(), content),
                ("id".to_owned(), json!(id)),
                ("role".to_owned(), json!(role)),
            ]);
            let (key, value) = match switch {
                0 => ("isEnabled", json!(false)),
                1 => ("groupId", json!("off")),
                2 => ("groupId", json!("none")),
                3 => ("modelMatch", json!({ "enabled": true, "patterns": ["gpt", "("] })),
                _ => ("isEnabled", json!(true)),
            };
            entry.insert(key.to_owned(), value);
            Value::Object(entry)
        },
    )
}

fn agent() -> impl Strategy<Value = Value> {
    (vec(entry(), 0..8), proptest::bool::weighted(0.15)).prop_map(|(entries, omit)| {
        json!({
            "name": "Ada",
            "presetMessages": entries,
            "presetGroups": [{ "id": "off", "enabled": false }],
            "historyWhenUnplaced": if omit { "omit" } else { "append" },
        })
    })
}

/// Writes a conversation from letters: `u`ser, `a`ssistant, `s`ystem, `c`all of two tools, `t`heir results,
/// `b`lank.
fn chat(letters: &str) -> Vec<Value> {
    let message = |(at, letter)| match letter {
        'c' => json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": "x", "function": { "name": "look", "arguments": "{}" } },
            { "id": "y", "function": { "name": "look", "arguments": "{}" } },
        ] }),
        't' => json!({ "role": "tool", "tool_call_id": if at % 2 == 0 { "x" } else { "y" }, "content": "" }),
        'b' => json!({ "role": "user", "content": " " }),
        's' => json!({ "role": "system", "content": format!("system {at}") }),
        'a' => json!({ "role": "assistant", "content": format!("answer {at} {{{{user}}}}") }),
        _ => json!({ "role": "user", "content": format!("question {at} {{{{setvar::a::2}}}}") }),
    };
    letters.chars().enumerate().map(message).collect()
}

fn tree(messages: Vec<Value>, marks: &[u8]) -> Value {
    let mut nodes = Map::new();
    nodes.insert("r".to_owned(), json!({ "id": "r", "parentId": null, "childrenIds": [], "role": "system" }));
    let mut parent = "r".to_owned();
    for (at, mut message) in messages.into_iter().enumerate() {
        let id = format!("m{at}");
        message["id"] = json!(id);
        message["parentId"] = json!(parent);
        message["childrenIds"] = json!([]);
        if let Some(calls) = message.as_object_mut().unwrap().remove("tool_calls") {
            message["toolCalls"] = calls;
        }
        if let Some(call) = message.as_object_mut().unwrap().remove("tool_call_id") {
            message["toolCallId"] = call;
        }
        match marks.get(at) {
            Some(0) => message["isEnabled"] = json!(false),
            Some(1) => {
                message["metadata"] =
                    json!({ "isCompressionNode": true, "compressedNodeIds": [parent, "m0"] });
            }
            Some(2) => message["metadata"] = json!({ "isContinuationPrefix": true }),
            _ => {}
        }
        nodes[&parent]["childrenIds"] = json!([id]);
        nodes.insert(id.clone(), message);
        parent = id;
    }
    json!({ "rootNodeId": "r", "activeLeafId": parent, "nodes": nodes })
}

fn session() -> impl Strategy<Value = Value> {
    let head = select(&["", "s", "ss"][..]);
    let turn = select(&["ua", "u", "ucta", "ucttca", "uctt", "uuas", "ub", "ta", "uctb"][..]);
    let letters = (head, vec(turn, 0..4)).prop_map(|(head, turns)| format!("{head}{}", turns.concat()));
    (letters, proptest::option::of(vec(0_u8..12, 16))).prop_map(|(letters, marks)| match marks {
        Some(marks) => tree(chat(&letters), &marks),
        None => Value::Array(chat(&letters)),
    })
}

prop_compose! {
    pub(crate) fn case()(
        agent in agent(), session in session(),
        input in select(&[None, Some("now {{user}}"), Some(" ")][..]),
        kind in select(&[GenerationKind::Normal, GenerationKind::Continue][..]),
        model in select(&[None, Some("gpt-5"), Some("claude")][..]),
    ) -> Case {
        Case { agent, session, input, kind, model }
    }
}

fn junk() -> impl Strategy<Value = Value> {
    const WORDS: &[&str] = &[
        "presetMessages",
        "messages",
        "nodes",
        "rootNodeId",
        "activeLeafId",
        "childrenIds",
        "parentId",
        "id",
        "role",
        "content",
        "type",
        "text",
        "injectionStrategy",
        "depth",
        "depthConfig",
        "anchorTarget",
        "insertionPoint",
        "order",
        "modelMatch",
        "enabled",
        "patterns",
        "isEnabled",
        "groupId",
        "presetGroups",
        "metadata",
        "isCompressionNode",
        "compressedNodeIds",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "tool_call_id",
        "mes",
        "is_user",
        "index",
        "detail",
        "agents",
        "greetings",
        "parameters",
        "custom",
        "character",
        "r",
        "a",
        "chat_history",
        "user_profile",
        "placeholder",
        "system",
        "assistant",
        "tool",
        "{{user}}",
        "{{setvar::a::",
        "0~1",
        "(",
        "用户档案",
        "First Message",
        "__CHAT_HISTORY__",
        "",
    ];
    let word = || select(WORDS);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..6).prop_map(Value::from),
            3 => vec((word().prop_map(str::to_owned), inner), 0..6)
                .prop_map(|keys| Value::Object(keys.into_iter().collect())),
        ]
    })
}

/// The outline lets the reader get past the first key.
pub(crate) fn outlined_junk() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => junk(),
        1 => (vec(junk(), 0..4), junk()).prop_map(|(entries, rest)| json!({ "presetMessages": entries, "presetGroups": rest })),
        1 => (vec(junk(), 0..4), junk()).prop_map(|(nodes, rest)| {
            let ids = ["r", "a", "id", "root"];
            let nodes: Map<_, _> = ids.into_iter().map(str::to_owned).zip(nodes).collect();
            json!({ "nodes": nodes, "rootNodeId": "r", "activeLeafId": "a", "metadata": rest })
        }),
        1 => vec(junk(), 0..5).prop_map(Value::from),
    ]
}
