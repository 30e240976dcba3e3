//! Token budgets. Each byte is a token.

use serde_json::{Value, json};

use crate::case::{check, check_chats};

fn constant(order: u8, bytes: usize) -> Value {
    json!({ "uid": order, "constant": true, "order": order, "content": "x".repeat(bytes) })
}

fn active(uid: u8) -> String {
    format!("{uid}: constant (pass 1)")
}

#[test]
fn counts_line_feeds_in_budget() {
    // 25% of 80 is 20. Two texts of 9 bytes with line feeds reach it.
    let case =
        |last: usize| json!({ "entries": [constant(9, 9), constant(8, last)], "context": 80, "chat": [] });
    check(case(8), &[&active(9), &active(8)]);
    check(case(9), &[&active(9), "8: no, its 9 tokens exceed the remaining budget (of 20 tokens)"]);
}

#[test]
fn activates_and_counts_exempt_entries() {
    let mut exempt = constant(8, 50);
    exempt["ignoreBudget"] = json!(true);
    let case = json!({ "entries": [constant(9, 5), exempt, constant(7, 1)], "context": 80, "chat": [] });
    check(case, &[&active(9), &active(8), "7: no, its 1 token exceeds the remaining budget (of 20 tokens)"]);
}

#[test]
fn limits_budget_to_cap() {
    let case = |cap: u8, percent: u8| {
        json!({
            "settings": { "budget_cap": cap, "budget": percent },
            "entries": [constant(9, 5), constant(8, 5)], "context": 1000, "chat": [],
        })
    };
    check(case(13, 25), &[&active(9), &active(8)]);
    check(case(12, 25), &[&active(9), "8: no, its 5 tokens exceed the remaining budget (of 12 tokens)"]);
    check(case(0, 0), &[&active(9), &active(8)]);
    check(case(12, 0), &[&active(9), "8: no, its 5 tokens exceed the remaining budget (of 12 tokens)"]);
}

#[test]
fn applies_only_cap_without_context_window() {
    let case =
        |cap: u8| json!({ "settings": { "budget_cap": cap }, "entries": [constant(9, 99)], "chat": [] });
    check(case(0), &[&active(9)]);
    check(case(50), &["9: no, its 99 tokens exceed the remaining budget (of 50 tokens)"]);
}

#[test]
fn uses_budget_of_at_least_one() {
    let case = json!({ "entries": [constant(9, 0)], "context": 1, "chat": [] });
    check(case, &["9: no, its 0 tokens exceed the remaining budget (of 1 token)"]);
}

#[test]
fn counts_texts_of_earlier_passes() {
    let case = json!({
        "settings": { "recursive": true },
        "entries": [
            { "uid": 0, "key": ["go"], "content": "to alpha!" },
            { "uid": 1, "key": ["alpha"], "content": "and to beta" },
            { "uid": 2, "key": ["beta"], "content": "x" },
        ],
        "context": 80, "chat": ["go"],
    });
    check(
        case,
        &[
            "0: key `go` in message 0 (pass 1)",
            "1: no, its 11 tokens exceed the remaining budget (of 20 tokens)",
            "2: no, no key matches",
        ],
    );
}

#[test]
fn expands_macros_before_counting_tokens() {
    let case = json!({
        "entries": [{ "constant": true, "content": "{{char}}{{char}}{{char}}{{n}}" }], "context": 44, "chat": [],
    });
    check(case, &["0: no, its 10 tokens exceed the remaining budget (of 11 tokens)"]);
}

#[test]
fn evaluates_probability_before_budget() {
    let entry = |order: u8, probability: u8, bytes: usize| {
        let mut entry = constant(order, bytes);
        entry["probability"] = json!(probability);
        entry
    };
    let case = json!({
        "entries": [entry(9, 30, 1), entry(8, 30, 50), entry(7, 100, 1), entry(6, 0, 1), entry(5, 10, 1)],
        "context": 80, "chat": [], "random": [0.3, 0.31, 0],
    });
    check(
        case,
        &[
            &active(9),
            "8: no, the random value 31.0 is above the probability 30",
            &active(7),
            &active(6),
            &active(5),
        ],
    );
}

#[test]
fn keeps_failed_probability_across_passes() {
    let case = json!({
        "settings": { "recursive": true },
        "entries": [{ "uid": 0, "key": ["a"], "probability": 50 }, { "uid": 1, "key": ["a"], "content": "a", "order": 200 }],
        "random": [0.9, 0], "chats": [["a"]],
    });
    check_chats(case, &[&["1"]]);
}

#[test]
fn applies_budget_of_character_card_worldbook() {
    let case = json!({
        "books": {
            "Card": { "dialect": "ccv3", "token_budget": 7, "entries": [constant(9, 4), constant(8, 4), constant(7, 3)] },
            "Other": { "token_budget": 3, "entries": [constant(1, 40)] },
        },
        "chat": [],
    });
    let lost = "8: no, its 4 tokens exceed its worldbook's remaining budget (of 7 tokens)";
    check(case, &[&active(9), lost, &active(7), &active(1)]);
    let book = json!({ "dialect": "ccv3", "token_budget": 4, "entries": [constant(9, 4), constant(8, 1)] });
    let lost = "8: no, its 1 token exceeds its worldbook's remaining budget (of 4 tokens)";
    check(json!({ "books": { "Card": book }, "chat": [] }), &[&active(9), lost]);
}
