use serde_json::{Value, json};

use crate::case::{check, check_chats, compile, draws, scan, statuses};
use ctx_worldbook::TimedState;

/// `true` adds `magic` as the newest message.
fn chats(lengths: &[(usize, bool)]) -> Value {
    let chat = |(length, is_magic): &(usize, bool)| {
        let mut chat = vec![json!("x"); *length];
        if *is_magic {
            chat[length - 1] = json!("magic");
        }
        Value::Array(chat)
    };
    lengths.iter().map(chat).collect()
}

#[test]
fn blocks_entry_during_cooldown() {
    let case = json!({
        "settings": { "depth": 1 }, "entries": [{ "key": ["magic"], "cooldown": 2 }],
        "chats": chats(&[(1, true), (2, true), (3, true), (4, true)]),
    });
    check_chats(case, &[&["0"], &[], &["0"], &[]]);
}

#[test]
fn starts_cooldown_after_sticky() {
    let case = json!({
        "settings": { "depth": 1 }, "entries": [{ "key": ["magic"], "sticky": 2, "cooldown": 2 }],
        "chats": chats(&[(1, true), (2, false), (3, true), (3, true), (4, true), (5, true)]),
    });
    check_chats(case, &[&["0"], &["0"], &[], &[], &[], &["0"]]);
}

#[test]
fn drops_effect_of_replaced_message() {
    let case = json!({
        "settings": { "depth": 1 }, "entries": [{ "key": ["magic"], "sticky": 3 }],
        "chats": [["magic"], ["other"], ["other", "x"]],
    });
    check_chats(case, &[&["0"], &[], &[]]);
}

#[test]
fn keeps_effect_duration_if_triggered_again() {
    let case = json!({
        "settings": { "depth": 1 }, "entries": [{ "key": ["magic"], "sticky": 2 }],
        "chats": chats(&[(1, true), (2, true), (3, false)]),
    });
    check_chats(case, &[&["0"], &["0"], &[]]);
}

#[test]
fn delays_entry_until_message_count() {
    let entries = json!([{ "constant": true, "delay": 3 }]);
    check(
        json!({ "entries": entries, "chat": ["a", "b"] }),
        &["0: no, delayed until the conversation has 3 messages"],
    );
    check(json!({ "entries": entries, "chat": ["a", "b", "c"] }), &["0: constant (pass 1)"]);
    let one = json!([{ "constant": true, "delay": 1 }]);
    check(json!({ "entries": one, "chat": [] }), &["0: no, delayed until the conversation has 1 message"]);
}

#[test]
fn keeps_permanent_effects() {
    let entries = json!([
        { "key": ["moon"], "content": "@@keep_activate_after_match\nx" },
        { "key": ["moon"], "content": "@@dont_activate_after_match\nx" },
    ]);
    let case = json!({ "books": { "B": { "dialect": "ccv3", "entries": entries } } });
    let set = compile(&case);
    let first = scan(&set, &case, &json!(["moon"]), &TimedState::default(), &mut draws(&case));
    let chat = json!(["moon", "x"]);
    let second = scan(&set, &case, &chat, &first.state, &mut draws(&case));
    let mut told = statuses(&set, &second, &chat);
    told.sort();
    assert_eq!(told, ["0: sticky permanently (pass 1)", "1: no, cooldown permanently"]);
}

#[test]
fn ignores_probability_of_sticky_entry() {
    let case = json!({
        "settings": { "depth": 1 }, "random": [0, 0.99],
        "entries": [{ "key": ["magic"], "sticky": 5, "probability": 50 }],
        "chats": chats(&[(1, true), (2, false), (3, false)]),
    });
    check_chats(case, &[&["0"], &["0"], &["0"]]);
}

/// Returns whether the entry is active, and the new state.
fn after(entry: &Value, state: &Value, length: usize) -> (bool, Value) {
    let case = json!({ "settings": { "depth": 1 }, "entries": [entry] });
    let set = compile(&case);
    let (state, found) = TimedState::read(state);
    assert_eq!(found, []);
    let chat = Value::Array(vec![json!("x"); length]);
    let scan = scan(&set, &case, &chat, &state, &mut draws(&case));
    (!scan.activations.is_empty(), scan.state.write())
}

#[test]
fn drops_effect_of_changed_entry() {
    let entry = json!({ "uid": 7, "key": ["magic"], "content": "x", "sticky": 9 });
    let case = json!({ "settings": { "depth": 1 }, "entries": [entry] });
    let set = compile(&case);
    let first = scan(&set, &case, &json!(["magic"]), &TimedState::default(), &mut draws(&case));
    let state = first.state.write();
    assert!(after(&entry, &state, 2).0);
    for (field, value) in [
        ("content", json!("y")),
        ("position", json!(1)),
        ("order", json!(7)),
        ("group", json!("g")),
        ("probability", json!(99)),
        ("comment", json!("Moon")),
        ("mine", json!({ "a": [1] })),
    ] {
        let mut changed = entry.clone();
        changed[field] = value;
        assert_eq!(after(&changed, &state, 2), (false, json!({ "sticky": {}, "cooldown": {} })), "{field}");
    }
}

#[test]
fn keeps_effect_if_key_order_changes() {
    let entry = json!({ "uid": 7, "key": ["magic"], "content": "x", "sticky": 9 });
    let case = json!({ "settings": { "depth": 1 }, "entries": [entry] });
    let first = scan(&compile(&case), &case, &json!(["magic"]), &TimedState::default(), &mut draws(&case));
    let sorted = json!({ "sticky": 9, "content": "x", "key": ["magic"], "uid": 7 });
    assert!(after(&sorted, &first.state.write(), 2).0);
}

#[test]
fn keeps_effects_of_other_worldbooks_until_end() {
    let state =
        json!({ "sticky": { "Other.1": { "start": 1, "end": 4, "protected": false } }, "cooldown": {} });
    let entry = json!({ "uid": 7, "key": ["magic"] });
    assert_eq!(after(&entry, &state, 3), (false, state.clone()));
    assert_eq!(after(&entry, &state, 4).1, json!({ "sticky": {}, "cooldown": {} }));
}

#[test]
fn reads_effects_of_sillytavern() {
    let state = json!({ "sticky": { "B.7": { "hash": 123, "start": "1", "end": 4, "protected": false } } });
    let entry = json!({ "uid": 7, "key": ["magic"], "sticky": 3 });
    assert!(after(&entry, &state, 2).0);
    assert!(!after(&json!({ "uid": 7, "key": ["magic"] }), &state, 2).0, "the entry no longer has timing");
}

#[test]
fn reports_unreadable_state() {
    let (state, found) = TimedState::read(&json!({ "sticky": { "B.7": { "start": 1 } }, "cooldown": 5 }));
    assert!(state.is_empty());
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "error[CTX0964]: the timed effect of `B.7` has no `start` and `end` (at /sticky)",
            "error[CTX0964]: `cooldown` is not an object (at /cooldown)",
        ]
    );
}

#[test]
fn skips_entries_whose_uid_is_active() {
    let case = json!({
        "settings": { "depth": 1 },
        "entries": [{ "uid": 1, "key": ["magic"], "sticky": 5 }, { "uid": 1, "key": ["tea"], "sticky": 5 }],
        "chats": [["magic"], ["magic", "tea"], ["magic", "tea", "x"]],
    });
    check_chats(case, &[&["1"], &["1"], &["1"]]);
}

#[test]
fn keeps_effects_of_uid_with_number_suffix() {
    let entry = |uid: &str, key: &str| json!({ "uid": uid, "key": [key], "sticky": 5 });
    let case = json!({
        "settings": { "depth": 1 },
        "entries": [entry("5", "nope"), entry("5", "magic"), entry("5#2", "nothere")],
        "chats": [["magic"], ["magic", "x"]],
    });
    check_chats(case, &[&["5"], &["5"]]);
}
