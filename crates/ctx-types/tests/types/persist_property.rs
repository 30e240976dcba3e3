use ctx_types::session::{Node, Session};
use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, Persist, PresetMessage, Reader};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

fn any_json() -> impl Strategy<Value = Value> {
    let word = || {
        prop_oneof![
            Just("id"),
            Just("n1"),
            Just("root"),
            Just("text"),
            Just("type"),
            Just("user"),
            Just("depth"),
            Just(""),
            Just("content"),
            Just("metadata"),
            Just("childrenIds"),
            Just("parentId"),
            Just("a/~b\u{0}\u{fffd}😀"),
        ]
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just(1.0), Just(-0.0), Just(1e15), Just(0.1)].prop_map(Value::from),
        word().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..5).prop_map(|entries| {
                Value::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

/// Target, kind of change, and new value.
type Change = (usize, u8, Value);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    proptest::collection::vec((any::<usize>(), 0_u8..6, any_json()), 0..6)
}

fn change(document: &mut Value, (place, kind, new): Change) {
    let mut pointers = Vec::new();
    collect_pointers(document, &mut String::new(), &mut pointers);
    let target = document.pointer_mut(&pointers[place % pointers.len()]).unwrap();
    match (kind, target) {
        (0, Value::Object(map)) => {
            map.insert("unknown".to_owned(), new);
        }
        (1, Value::Object(map)) => *map = std::mem::take(map).into_iter().rev().collect(),
        (2, Value::Object(map)) => {
            let key = map.keys().nth(place % map.len().max(1)).cloned().unwrap_or_default();
            map.shift_remove(&key);
        }
        (0..=2, Value::Array(items)) => items.push(new),
        (_, target) => *target = new,
    }
}

fn collect_pointers(value: &Value, at: &mut String, pointers: &mut Vec<String>) {
    pointers.push(at.clone());
    let steps: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            let escape = |key: &String| key.replace('~', "~0").replace('/', "~1");
            map.iter().map(|(key, value)| (escape(key), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(i, item)| (i.to_string(), item)).collect(),
        _ => Vec::new(),
    };
    for (step, value) in steps {
        let end = at.len();
        at.push('/');
        at.push_str(&step);
        collect_pointers(value, at, pointers);
        at.truncate(end);
    }
}

fn check<T: Persist + serde::Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    mut document: Value,
    changes: Vec<Change>,
) {
    for each in changes {
        change(&mut document, each);
    }
    let noun = T::read(document.clone(), &mut Reader::new());
    let written = noun.write();
    assert_eq!(written, document);
    assert_eq!(written.to_string(), document.to_string());
    assert_eq!(serde_json::to_string(&noun).unwrap(), document.to_string());
    assert_eq!(serde_json::from_str::<T>(&document.to_string()).unwrap(), noun, "streamed");
    let again = T::read(written, &mut Reader::new());
    assert_eq!(again, noun);
}

fn node() -> Value {
    json!({
        "id": "n1", "parentId": "root", "childrenIds": ["n2"], "lastSelectedChildId": "n2", "name": "Ada",
        "content": [{ "type": "text", "text": "t", "x": 1 }, { "type": "image_url", "image_url": {} }],
        "role": "assistant", "status": "complete", "isEnabled": true, "timestamp": "now", "updatedAt": 1.0,
        "attachments": [{ "id": "f", "assetId": "a", "name": "n", "mimeType": "m", "path": "p", "size": 3 }],
        "toolCalls": [{ "id": "c", "name": "f", "arguments": "{}", "type": "function" }], "toolCallId": "c",
        "metadata": {
            "isContinuationPrefix": false, "isGreeting": true, "greetingLive": true, "isCompressionNode": true,
            "compressedNodeIds": ["n1"], "reasoningContent": "r", "reasoningArtifacts": [{ "provider": "x" }],
            "toolCall": { "requestId": "r" }, "toolCallsRequested": [{ "requestId": "r", "args": {} }], "y": null,
        },
    })
}

fn session() -> Value {
    let root = json!({ "id": "root", "parentId": null, "childrenIds": ["n1", "n3"], "content": "" });
    let leaf = json!({ "id": "n2", "parentId": "n1", "childrenIds": [], "content": "text", "role": "user" });
    let other =
        json!({ "id": "n3", "parentId": "root", "childrenIds": [], "content": "text", "role": "tool" });
    json!({
        "id": "s", "name": "Talk", "createdAt": "now", "activeLeafId": "n2", "agentUsage": { "a": 1 },
        "nodes": { "n3": other, "n1": node(), "root": root, "n2": leaf }, "rootNodeId": "root",
    })
}

fn entry() -> Value {
    json!({
        "id": "e", "name": "n", "role": "system", "content": "{{x}}", "type": "message", "isEnabled": false,
        "groupId": "g", "insertionPoint": -1, "anchorPoint": "before", "anchorTarget": "t", "order": 1.5,
        "injectionStrategy": {
            "type": "depth", "depth": 3, "depthConfig": "3~2", "anchorTarget": "t", "anchorPosition": "after",
            "order": 7, "lane": 1,
        },
        "modelMatch": {
            "enabled": true, "mode": "all", "exclude": false, "patterns": ["a"], "profilePatterns": ["b"],
            "matchProfileName": true,
        },
        "presetAttachments": [{ "assetId": "a", "description": "d" }], "attachments": [], "childrenIds": [],
    })
}

fn agent() -> Value {
    json!({
        "id": "a", "name": "Ada", "displayName": "A", "description": "d", "agentVersion": "1", "icon": "i",
        "character": {
            "description": "d", "personality": "p", "scenario": "s", "examples": "e", "systemPrompt": "y",
            "postHistory": "h", "depthPrompt": { "prompt": "p" }, "creatorNotes": "n", "version": "v", "nickname": "k",
        },
        "presetMessages": [entry(), { "type": "chat_history" }], "presetGroups": [{ "id": "g", "isEnabled": true }],
        "greetings": [{ "id": "g", "name": "n", "content": "c", "role": "assistant" }],
        "parameters": { "temperature": 0.7 }, "regexConfig": {}, "variableConfig": {}, "virtualTimeConfig": {},
        "assets": [{ "id": "x" }], "worldbookIds": ["w"], "modelId": "m", "dialect": "aio",
        "historyWhenUnplaced": "omit",
    })
}

fn book() -> Value {
    json!({
        "name": "Town", "description": "d", "scan_depth": 3, "token_budget": "200", "recursive_scanning": 1, "x": {},
        "entries": {
            "7": {
                "uid": 7, "key": ["a", 5], "keysecondary": "b, c", "comment": "t", "content": "@@depth 1\nx",
                "constant": false, "selective": true, "selectiveLogic": 3, "order": "5", "position": "at_depth",
                "depth": 2.0, "role": null, "outletName": "", "disable": 0, "ignoreBudget": true,
                "delayUntilRecursion": true, "probability": 40, "useProbability": true, "group": "g,h",
                "groupWeight": 10, "sticky": "2", "cooldown": null, "delay": 1, "displayIndex": 4,
                "characterFilter": { "isExclude": true, "names": ["Ada"], "tags": [] }, "triggers": ["normal"],
            },
            "b": { "uid": "b", "extensions": { "y": null } }, "0": null,
        },
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn round_trips_nodes(changes in changes()) {
        check::<Node>(node(), changes);
    }

    #[test]
    fn round_trips_sessions(changes in changes()) {
        check::<Session>(session(), changes);
    }

    #[test]
    fn round_trips_preset_entries(changes in changes()) {
        check::<PresetMessage>(entry(), changes);
    }

    #[test]
    fn round_trips_agents(changes in changes()) {
        check::<Agent>(agent(), changes);
    }

    #[test]
    fn round_trips_worldbooks(changes in changes(), is_list in any::<bool>()) {
        let mut book = book();
        if is_list {
            let entries = book["entries"].as_object().map(|entries| entries.values().cloned().collect());
            book["entries"] = Value::Array(entries.unwrap_or_default());
        }
        check::<Worldbook>(book, changes);
    }

    #[test]
    fn round_trips_any_json(value in any_json()) {
        check::<Session>(value.clone(), Vec::new());
        check::<Agent>(value.clone(), Vec::new());
        check::<Worldbook>(value.clone(), Vec::new());
        check::<Node>(value, Vec::new());
    }
}

#[test]
fn round_trips_unchanged_documents() {
    let known = |map: &Map<String, Value>| map.len();
    assert!(known(agent().as_object().unwrap()) > 15);
    check::<Agent>(agent(), Vec::new());
    check::<Session>(session(), Vec::new());
}
