//! Operations on presets, and their inverses.

use ctx_types::{Agent, PresetMessage, PresetOp};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Makes an agent with one entry a word; `!` is not an object, `~` is switched off.
fn agent(words: &str) -> Agent {
    let entry = |word: &str| match word {
        "!" => json!(7),
        _ if word.starts_with('~') => {
            json!({ "x": 1, "id": word.trim_start_matches('~'), "isEnabled": false })
        }
        _ => json!({ "id": word, "x": null }),
    };
    let entries: Vec<Value> = words.split_whitespace().map(entry).collect();
    serde_json::from_value(json!({ "name": "A", "presetMessages": entries, "z": 1 })).unwrap()
}

fn words(agent: &Agent) -> String {
    let word = |entry: &PresetMessage| match &entry.id {
        None => "!".to_owned(),
        Some(id) if entry.is_enabled() => id.to_string(),
        Some(id) => format!("~{id}"),
    };
    agent.preset_messages.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(before: &str, op: &PresetOp, after: &str) {
    let mut changed = agent(before);
    let original = serde_json::to_string(&changed).unwrap();
    let undo = changed.apply_preset(&stored(op)).unwrap();
    assert_eq!(words(&changed), after);
    let done = serde_json::to_string(&changed).unwrap();
    let redo = changed.apply_preset(&stored(&undo)).unwrap();
    assert_eq!(serde_json::to_string(&changed).unwrap(), original, "undone");
    changed.apply_preset(&stored(&redo)).unwrap();
    assert_eq!(serde_json::to_string(&changed).unwrap(), done, "done again");
}

#[track_caller]
fn stored(op: &PresetOp) -> PresetOp {
    let text = serde_json::to_string(op).unwrap();
    let read: PresetOp = serde_json::from_str(&text).unwrap();
    assert_eq!(read, *op);
    read
}

#[track_caller]
fn check_error(before: &str, op: &PresetOp, expected: &str) {
    let mut same = agent(before);
    assert_eq!(same.apply_preset(op).unwrap_err().to_string(), expected);
    assert_eq!(same, agent(before));
}

fn entry() -> Box<PresetMessage> {
    Box::new(PresetMessage { id: Some("n".into()), ..PresetMessage::default() })
}

#[test]
fn an_entry_is_inserted_before_the_one_at_its_place() {
    check("a b", &PresetOp::Insert { index: 1, entry: entry() }, "a n b");
    check("a", &PresetOp::Insert { index: 1, entry: entry() }, "a n");
    check("", &PresetOp::Insert { index: 0, entry: entry() }, "n");
}

#[test]
fn an_entry_is_removed_or_replaced_whatever_it_is() {
    check("a ! b", &PresetOp::Remove { index: 1 }, "a b");
    check("a ! b", &PresetOp::Replace { index: 1, entry: entry() }, "a n b");
}

#[test]
fn an_entry_moves_to_its_new_place() {
    check("a b c d", &PresetOp::Move { from: 0, to: 2 }, "b c a d");
    check("a b c d", &PresetOp::Move { from: 3, to: 1 }, "a d b c");
    check("a b", &PresetOp::Move { from: 1, to: 1 }, "a b");
}

#[test]
fn an_entry_is_switched() {
    check("a b", &PresetOp::Toggle { index: 1, enabled: false }, "a ~b");
    check("a ~b", &PresetOp::Toggle { index: 1, enabled: true }, "a b");
    check("a b", &PresetOp::Toggle { index: 1, enabled: true }, "a b");
}

#[test]
fn places_outside_the_list_are_errors() {
    check_error("a", &PresetOp::Insert { index: 2, entry: entry() }, "no preset entry 2: there are 1");
    check_error("a", &PresetOp::Remove { index: 1 }, "no preset entry 1: there are 1");
    check_error("a", &PresetOp::Replace { index: 1, entry: entry() }, "no preset entry 1: there are 1");
    check_error("a", &PresetOp::Move { from: 0, to: 1 }, "no preset entry 1: there are 1");
    check_error("a", &PresetOp::Move { from: 5, to: 0 }, "no preset entry 5: there are 1");
    check_error("", &PresetOp::Toggle { index: 0, enabled: true }, "no preset entry 0: there are 0");
}

#[test]
fn what_is_no_object_cannot_be_switched() {
    let expected = "preset entry 0 is not an object; it cannot be enabled or disabled";
    check_error("!", &PresetOp::Toggle { index: 0, enabled: false }, expected);
}

#[test]
fn the_first_entry_of_an_agent_without_a_preset_is_undone_exactly() {
    for file in [json!({}), json!({ "presetMessages": null, "x": 1 }), json!({ "presetMessages": 5, "x": 1 })]
    {
        let mut agent: Agent = serde_json::from_value(file.clone()).unwrap();
        let undo = agent.apply_preset(&PresetOp::Insert { index: 0, entry: entry() }).unwrap();
        assert_eq!(serde_json::to_value(&agent).unwrap()["presetMessages"][0]["id"], "n");
        agent.apply_preset(&undo).unwrap();
        assert_eq!(serde_json::to_string(&agent).unwrap(), file.to_string());
    }
}

fn op() -> impl Strategy<Value = PresetOp> {
    let place = 0_usize..6;
    prop_oneof![
        place.clone().prop_map(|index| PresetOp::Insert { index, entry: entry() }),
        place.clone().prop_map(|index| PresetOp::Replace { index, entry: entry() }),
        place.clone().prop_map(|index| PresetOp::Remove { index }),
        (place.clone(), place.clone()).prop_map(|(from, to)| PresetOp::Move { from, to }),
        (place, any::<bool>()).prop_map(|(index, enabled)| PresetOp::Toggle { index, enabled }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_is_undone_exactly(ops in proptest::collection::vec(op(), 0..12)) {
        let mut changed = agent("a ~b ! c");
        let mut undos = Vec::new();
        for op in &ops {
            let before = serde_json::to_string(&changed).unwrap();
            let result = changed.apply_preset(op);
            prop_assert!(result.is_ok() || serde_json::to_string(&changed).unwrap() == before);
            undos.extend(result.map(|undo| (undo, before)));
        }
        for (undo, before) in undos.iter().rev() {
            changed.apply_preset(&stored(undo)).unwrap();
            prop_assert_eq!(&serde_json::to_string(&changed).unwrap(), before);
        }
    }
}
