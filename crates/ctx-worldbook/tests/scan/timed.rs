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
fn a_sticky_entry_stays_for_so_many_messages() {
    let case = json!({
        "settings": { "depth": 1 }, "entries": [{ "key": ["magic"], "sticky": 2 }],
        "chats": chats(&[(1, true), (2, false), (3, false), (4, false)]),
    });
    check_chats(case, &[&["0"], &["0"], &[], &[]]);
}

#[test]
fn an_entry_rests_after_it_was_active() {
    let case = json!({
        "settings": { "depth": 1 }, "entries": [{ "key": ["magic"], "cooldown": 2 }],
        "chats": chats(&[(1, true), (2, true), (3, true), (4, true)]),
    });
    check_chats(case, &[&["0"], &[], &["0"], &[]]);
}

#[test]
fn a_rest_follows_what_was_sticky() {
    let case = json!({
        "settings": { "depth": 1 }, "entries": [{ "key": ["magic"], "sticky": 2, "cooldown": 2 }],
        "chats": chats(&[(1, true), (2, false), (3, true), (3, true), (4, true), (5, true)]),
    });
    check_chats(case, &[&["0"], &["0"], &[], &[], &[], &["0"]]);
}

#[test]
fn an_effect_of_an_answer_that_was_thrown_away_is_over() {
    let case = json!({
        "settings": { "depth": 1 }, "entries": [{ "key": ["magic"], "sticky": 3 }],
        "chats": [["magic"], ["other"], ["other", "x"]],
    });
    check_chats(case, &[&["0"], &[], &[]]);
}

#[test]
fn effects_are_not_made_longer() {
    let case = json!({
        "settings": { "depth": 1 }, "entries": [{ "key": ["magic"], "sticky": 2 }],
        "chats": chats(&[(1, true), (2, true), (3, false)]),
    });
    check_chats(case, &[&["0"], &["0"], &[]]);
}

#[test]
fn an_entry_waits_until_there_are_so_many_messages() {
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
fn an_effect_without_an_end_is_for_good() {
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
fn what_stays_needs_no_luck_and_no_recursion() {
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
fn a_changed_entry_has_lost_its_effect() {
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
fn an_entry_whose_keys_are_sorted_is_the_same() {
    let entry = json!({ "uid": 7, "key": ["magic"], "content": "x", "sticky": 9 });
    let case = json!({ "settings": { "depth": 1 }, "entries": [entry] });
    let first = scan(&compile(&case), &case, &json!(["magic"]), &TimedState::default(), &mut draws(&case));
    let sorted = json!({ "sticky": 9, "content": "x", "key": ["magic"], "uid": 7 });
    assert!(after(&sorted, &first.state.write(), 2).0);
}

#[test]
fn effects_of_other_books_wait_until_their_end() {
    let state =
        json!({ "sticky": { "Other.1": { "start": 1, "end": 4, "protected": false } }, "cooldown": {} });
    let entry = json!({ "uid": 7, "key": ["magic"] });
    assert_eq!(after(&entry, &state, 3), (false, state.clone()));
    assert_eq!(after(&entry, &state, 4).1, json!({ "sticky": {}, "cooldown": {} }));
}

#[test]
fn effects_of_sillytavern_hold() {
    let state = json!({ "sticky": { "B.7": { "hash": 123, "start": "1", "end": 4, "protected": false } } });
    let entry = json!({ "uid": 7, "key": ["magic"], "sticky": 3 });
    assert!(after(&entry, &state, 2).0);
    assert!(!after(&json!({ "uid": 7, "key": ["magic"] }), &state, 2).0, "the entry has no timing any more");
}

#[test]
fn a_state_that_cannot_be_read_is_told() {
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
fn a_uid_that_looks_like_a_numbered_one_keeps_its_own_effects() {
    let entry = |uid: &str, key: &str| json!({ "uid": uid, "key": [key], "sticky": 5 });
    let case = json!({
        "settings": { "depth": 1 },
        "entries": [entry("5", "nope"), entry("5", "magic"), entry("5#2", "nothere")],
        "chats": [["magic"], ["magic", "x"]],
    });
    check_chats(case, &[&["5"], &["5"]]);
}
