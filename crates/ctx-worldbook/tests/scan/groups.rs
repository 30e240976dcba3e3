use serde_json::{Value, json};

use crate::case::{check, check_chats, compile, draws, scan};
use ctx_worldbook::TimedState;

fn member(order: u8, weight: u16) -> Value {
    json!({ "uid": order, "key": ["g"], "group": "G", "order": order, "groupWeight": weight })
}

const ACTIVE: &str = "key `g` in message 0 (pass 1)";

#[test]
fn chooses_by_weight_in_entry_order() {
    let case = |drawn: f64| json!({ "entries": [member(90, 100), member(80, 300)], "chat": ["g"], "random": [drawn] });
    let lost = "no, another entry won the random choice in group `G`";
    for drawn in [0.0, 0.2, 0.25] {
        check(case(drawn), &[&format!("90: {ACTIVE}"), &format!("80: {lost}")]);
    }
    for drawn in [0.26, 0.99] {
        check(case(drawn), &[&format!("90: {lost}"), &format!("80: {ACTIVE}")]);
    }
}

#[test]
fn needs_no_random_value_for_single_entry() {
    let case = json!({ "entries": [member(1, 0)], "chat": ["g"] });
    let set = compile(&case);
    let mut draws = draws(&case);
    let scan = scan(&set, &case, &case["chat"], &TimedState::default(), &mut draws);
    assert_eq!((scan.activations.len(), draws.count()), (1, 0));
}

#[test]
fn prefers_highest_order_among_priority_entries() {
    let with = |order: u8, goes_first: bool| {
        let mut entry = member(order, 100);
        entry["groupOverride"] = json!(goes_first);
        entry
    };
    let case = json!({ "entries": [with(9, false), with(5, true), with(7, true)], "chat": ["g"] });
    let lost = "no, another entry has priority in group `G`";
    check(case, &[&format!("9: {lost}"), &format!("7: {ACTIVE}"), &format!("5: {lost}")]);
}

#[test]
fn applies_scores_before_random_choice() {
    let case = json!({
        "settings": { "use_group_scoring": true }, "chat": ["g h"], "random": [0],
        "entries": [
            { "uid": 0, "key": ["g"], "group": "G", "order": 99 },
            { "uid": 1, "key": ["g", "h"], "group": "G", "order": 1 },
            { "uid": 2, "key": ["g"], "keysecondary": ["h"], "group": "G", "order": 2 },
            { "uid": 3, "key": ["g"], "keysecondary": ["x", "h"], "selectiveLogic": 1, "group": "G", "order": 3 },
        ],
    });
    check(
        case,
        &[
            "0: no, another entry has 2 matching keys in group `G`, this entry 1",
            "3: no, another entry has 2 matching keys in group `G`, this entry 1",
            "2: key `g` in message 0 with `h` in message 0 (pass 1)",
            "1: no, another entry won the random choice in group `G`",
        ],
    );
}

#[test]
fn scores_only_entries_with_group_scoring() {
    let case = json!({
        "chat": ["g h"], "random": [0],
        "entries": [
            { "uid": 0, "key": ["g"], "group": "G", "order": 9 },
            { "uid": 1, "key": ["g"], "group": "G", "order": 8, "useGroupScoring": true },
            { "uid": 2, "key": ["g", "h"], "group": "G", "order": 7 },
        ],
    });
    check(
        case,
        &[
            &format!("0: {ACTIVE}"),
            "1: no, another entry has 2 matching keys in group `G`, this entry 1",
            "2: no, another entry won the random choice in group `G`",
        ],
    );
}

#[test]
fn blocks_group_of_active_entry() {
    let case = json!({
        "settings": { "recursive": true }, "chat": ["g"],
        "entries": [
            { "key": ["g"], "group": "G", "content": "later" },
            { "key": ["later"], "group": "G" },
            { "key": ["later"] },
            { "key": ["later"], "group": "H, G" },
        ],
    });
    check(
        case,
        &[
            &format!("0: {ACTIVE}"),
            "1: no, another entry is already active in group `G`",
            "2: key `later` in the content of `B.0` (pass 2)",
            "3: no, another entry is already active in group `G`",
        ],
    );
}

#[test]
fn leaves_groups_open_for_multi_group_entry() {
    let case = json!({
        "settings": { "recursive": true }, "chat": ["g"],
        "entries": [{ "key": ["g"], "group": "G,H", "content": "later" }, { "key": ["later"], "group": "G" }],
    });
    check(case, &[&format!("0: {ACTIVE}"), "1: key `later` in the content of `B.0` (pass 2)"]);
}

#[test]
fn requires_winning_every_group() {
    let entry = |uid: u8, group: &str| json!({ "uid": uid, "key": ["g"], "group": group, "order": 9 - uid });
    let case = |draws: &[f64]| json!({ "entries": [entry(0, "A, B"), entry(1, "A"), entry(2, "B")], "chat": ["g"], "random": draws });
    let lost =
        |uid: u8, group: &str| format!("{uid}: no, another entry won the random choice in group `{group}`");
    // The loser of the first group leaves the second one, which then needs no random value.
    check(case(&[0.9]), &[&lost(0, "A"), &format!("1: {ACTIVE}"), &format!("2: {ACTIVE}")]);
    check(case(&[0.0, 0.9]), &[&lost(0, "B"), &lost(1, "A"), &format!("2: {ACTIVE}")]);
    check(case(&[0.0, 0.0]), &[&format!("0: {ACTIVE}"), &lost(1, "A"), &lost(2, "B")]);
}

#[test]
fn evaluates_numeric_groups_first() {
    let entry = |uid: u8, group: &str| json!({ "uid": uid, "key": ["g"], "group": group, "order": 9 - uid });
    let case = json!({
        "entries": [entry(0, "b"), entry(1, "10"), entry(2, "b"), entry(3, "10"), entry(4, "9"), entry(5, "9")],
        "chat": ["g"], "random": [0.0, 0.9, 0.0],
    });
    let lost =
        |uid: u8, group: &str| format!("{uid}: no, another entry won the random choice in group `{group}`");
    check(
        case,
        &[
            &format!("0: {ACTIVE}"),
            &lost(1, "10"),
            &lost(2, "b"),
            &format!("3: {ACTIVE}"),
            &format!("4: {ACTIVE}"),
            &lost(5, "9"),
        ],
    );
}

#[test]
fn prefers_sticky_entry_without_random_value() {
    let case = json!({
        "settings": { "depth": 1 }, "random": [0],
        "entries": [
            { "uid": 0, "key": ["magic"], "group": "G", "order": 90, "sticky": 3 },
            { "uid": 1, "key": ["tea"], "group": "G", "order": 95 },
        ],
        "chats": [["magic"], ["magic", "tea"], ["magic", "tea", "x", "tea"]],
    });
    check_chats(case, &[&["0"], &["0"], &["1"]]);
}

#[test]
fn treats_negative_weight_as_zero() {
    let entry =
        |uid: u8, weight: i32| json!({ "uid": uid, "constant": true, "group": "g", "groupWeight": weight });
    for (weights, winner) in [((-5, -5), "0"), ((-5, 5), "1"), ((5, -5), "0")] {
        let case =
            json!({ "entries": [entry(0, weights.0), entry(1, weights.1)], "random": [0.5], "chats": [[]] });
        check_chats(case, &[&[winner]]);
    }
}
