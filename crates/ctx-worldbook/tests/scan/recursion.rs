use serde_json::json;

use crate::case::check;

#[test]
fn finds_patterns_in_and_across_entry_texts() {
    let entry = |key: &str| json!({ "key": [key], "content": "x", "excludeRecursion": false });
    let case = json!({
        "settings": { "recursive": true },
        "chat": ["the moon"],
        "entries": [
            { "key": ["moon"], "content": "a sun, a star" },
            entry("/moon[^]*star/"), entry("/\\bstar$/"), entry("/n\\n\\x01a s/"), entry("/moon.*star/"),
            entry("/^the moon$/m"), entry("/(?<=sun, )a st/"), entry("/(s).*\\1tar/"), entry("/o{2}[^]{2,9}a sun/"),
            entry("/^a sun/m"),
        ],
    });
    check(
        case,
        &[
            "0: key `moon` in message 0 (pass 1)",
            "1: key `/moon[^]*star/` in message 0 (pass 2)",
            "2: key `/\\bstar$/` in the content of `B.0` (pass 2)",
            "3: key `/n\\n\\x01a s/` in message 0 (pass 2)",
            "4: no, no key matches",
            "5: no, no key matches",
            "6: key `/(?<=sun, )a st/` in the content of `B.0` (pass 2)",
            "7: key `/(s).*\\1tar/` in the content of `B.0` (pass 2)",
            "8: key `/o{2}[^]{2,9}a sun/` in message 0 (pass 2)",
            "9: no, no key matches",
        ],
    );
}

#[test]
fn excludes_entries_with_no_recursive_search() {
    let entries = json!([
        { "key": ["moon"], "content": "sunword" },
        { "key": ["sunword"], "content": "@@no_recursive_search\nx" },
    ]);
    let case = |chat: &str| {
        let books = json!({ "B": { "dialect": "risuai", "entries": entries } });
        json!({ "settings": { "recursive": true }, "books": books, "chat": [chat] })
    };
    check(
        case("moon"),
        &[
            "0: key `moon` in message 0 (pass 1)",
            "1: no, key `sunword` matches only in other entries; this entry is excluded from recursion",
        ],
    );
    let direct = "1: key `sunword` in message 0 (pass 1)";
    check(case("moon sunword"), &["0: key `moon` in message 0 (pass 1)", direct]);
}

#[test]
fn activates_cyclic_entries_once() {
    let case = json!({
        "settings": { "recursive": true },
        "entries": [{ "key": ["a"], "content": "b" }, { "key": ["b"], "content": "a c" }, { "key": ["c"], "content": "b" }],
        "chat": ["a"],
    });
    check(
        case,
        &[
            "0: key `a` in message 0 (pass 1)",
            "1: key `b` in the content of `B.0` (pass 2)",
            "2: key `c` in the content of `B.1` (pass 3)",
        ],
    );
}

#[test]
fn delays_levels_until_earlier_levels_finish() {
    let case = json!({
        "settings": { "recursive": true },
        "entries": [
            { "key": ["start"], "content": "alpha" },
            { "key": ["alpha"], "delayUntilRecursion": 2, "content": "beta" },
            { "key": ["alpha"], "delayUntilRecursion": true, "content": "gamma" },
            { "key": ["gamma"], "delayUntilRecursion": 3 },
            { "key": ["beta"] },
        ],
        "chat": ["start"],
    });
    check(
        case,
        &[
            "0: key `start` in message 0 (pass 1)",
            "1: key `alpha` in the content of `B.0` (pass 4)",
            "2: key `alpha` in the content of `B.0` (pass 2)",
            "3: key `gamma` in the content of `B.2` (pass 7)",
            "4: key `beta` in the content of `B.1` (pass 5)",
        ],
    );
}

#[test]
fn prefers_recursion_level_over_boolean() {
    let case = json!({
        "settings": { "recursive": true },
        "entries": [
            { "key": ["a"], "delayUntilRecursion": true, "delayUntilRecursionLevel": 2 },
            { "key": ["a"], "delayUntilRecursion": true },
            { "key": ["a"], "content": "x" },
        ],
        "chat": ["a"],
    });
    check(
        case,
        &[
            "0: key `a` in message 0 (pass 4)",
            "1: key `a` in message 0 (pass 2)",
            "2: key `a` in message 0 (pass 1)",
        ],
    );
}

#[test]
fn activates_single_level_without_active_entries() {
    let entries = json!([{ "key": ["a"], "delayUntilRecursion": true }]);
    let case = |is_recursive: bool| json!({ "settings": { "recursive": is_recursive }, "entries": entries, "chat": ["a"] });
    check(case(true), &["0: key `a` in message 0 (pass 2)"]);
    check(case(false), &["0: no, waits for recursion level 1"]);
}

#[test]
fn activates_several_levels_with_recursion_disabled() {
    let case = json!({
        "entries": [{ "key": ["a"], "delayUntilRecursion": 1 }, { "key": ["a"], "delayUntilRecursion": 2 }],
        "chat": ["a"],
    });
    check(case, &["0: key `a` in message 0 (pass 2)", "1: key `a` in message 0 (pass 2)"]);
}

#[test]
fn limits_recursion_steps() {
    let case = |steps: u8| {
        json!({
            "settings": { "recursive": true, "max_recursion_steps": steps },
            "entries": [{ "key": ["a"], "content": "b" }, { "key": ["b"], "content": "c" }, { "key": ["c"] }],
            "chat": ["a"],
        })
    };
    let first = "0: key `a` in message 0 (pass 1)";
    let second = "1: key `b` in the content of `B.0` (pass 2)";
    let none = |uid: u8| format!("{uid}: no, no key matches");
    check(case(1), &[first, &none(1), &none(2)]);
    check(case(2), &[first, second, &none(2)]);
    check(case(0), &[first, second, "2: key `c` in the content of `B.1` (pass 3)"]);
}

#[test]
fn searches_more_messages_for_minimum_activations() {
    let case = |min: u8, max: u8| {
        json!({
            "settings": { "depth": 1, "min_activations": min, "min_activations_depth_max": max },
            "entries": [{ "key": ["ancient"] }, { "key": ["f1"] }],
            "chat": ["ancient", "f1", "f2", "f3"],
        })
    };
    let none = |uid: u8| format!("{uid}: no, no key matches");
    check(case(0, 0), &[&none(0), &none(1)]);
    check(case(1, 0), &[&none(0), "1: key `f1` in message 1 (pass 3)"]);
    check(case(2, 0), &["0: key `ancient` in message 0 (pass 4)", "1: key `f1` in message 1 (pass 3)"]);
    check(case(2, 1), &[&none(0), &none(1)]);
    check(case(2, 2), &[&none(0), "1: key `f1` in message 1 (pass 3)"]);
}

#[test]
fn recurses_after_wider_search() {
    let case = json!({
        "settings": { "depth": 1, "min_activations": 3, "recursive": true },
        "entries": [{ "key": ["old"], "content": "alpha" }, { "key": ["alpha"] }],
        "chat": ["old", "new"],
    });
    check(case, &["0: key `old` in message 0 (pass 2)", "1: key `alpha` in the content of `B.0` (pass 3)"]);
}
