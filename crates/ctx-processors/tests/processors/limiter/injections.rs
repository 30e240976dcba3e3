//! `token-limiter`: injections in the dropped part of a conversation.

use serde_json::json;

use crate::limiter::case::{Case, check, check_decisions, depths};

/// A conversation `u0 a1 u2 a3 u4` of 50 tokens, with entries of 2 tokens at depths; 2 older messages fit.
fn case(entries: &[&str]) -> Case {
    let budget = 20 + 10 + u32::try_from(entries.len()).unwrap() * 2;
    Case { preset: depths(entries), budget: Some(budget), ..Case::new("u a u a u") }
}

#[test]
fn keeps_injection_at_border() {
    check(case(&["3"]), "A u2 a3 u4");
    check_decisions(
        case(&["3"]),
        &["dropped history:0 and 1 more: does not fit the budget of 32 tokens (20 bytes, 20 tokens)"],
    );
}

#[test]
fn applies_tie_breakers_at_front() {
    let entry = |name: &str, depth: u64, lane: i64| {
        let strategy = json!({ "type": "depth", "depth": depth, "lane": lane });
        json!({ "role": "system", "content": name, "injectionStrategy": strategy })
    };
    let preset = json!([{ "type": "chat_history" }, entry("A.", 5, 2), entry("B.", 4, 1), entry("C.", 3, 0)]);
    check(Case { preset, ..case(&["", "", ""]) }, "C B A u2 a3 u4");
}

#[test]
fn moves_index_like_depth() {
    let preset = json!([{ "type": "chat_history" }, { "content": "A.", "insertionPoint": 0 }]);
    check(Case { preset, budget: Some(32), ..Case::new("u a u a u") }, "A u2 a3 u4");
}

#[test]
fn counts_tokens_of_each_repeated_injection() {
    // The pending turn with its 2 injections has 14 tokens, each older message with its injection 12.
    check(Case { budget: Some(26), ..case(&["0~1"]) }, "A a3 A u4 A");
    check(Case { budget: Some(25), ..case(&["0~1"]) }, "A u4 A");
}

#[test]
fn drops_repeated_injection_with_adjacent_group() {
    let preset = depths(&["0,5"]);
    let case = Case { preset, ..Case::new("a c:x t:x a u u") };
    check(Case { budget: Some(50), ..case.clone() }, "A :x t2:x a3 u4 u5 A");
    check(Case { budget: Some(48), ..case }, "a3 u4 u5 A");
}

#[test]
fn keeps_single_injections_when_budget_is_small() {
    let preset = depths(&["4", "2"]);
    check(Case { preset, budget: Some(14), ..Case::new("u a u a u") }, "A B u4");
}

#[test]
fn moves_injections_out_of_unloaded_history() {
    let window = |entries: &[&str]| Case { window: Some(30), ..case(entries) };
    check(window(&["5 2", "4 1"]), "B A u2 a3 u4");
    check(window(&["5", "3", "4"]), "A B C u2 a3 u4");
    check(Case { budget: Some(38), ..window(&["0~1"]) }, "A u2 A a3 A u4 A");
}

#[test]
fn reports_each_moved_injection_once() {
    let dropped = "dropped history:0 and 1 more: does not fit the budget of 32 tokens (20 bytes";
    let told = |case: Case, tokens: &str, moved: &str| {
        check_decisions(case, &[moved, &format!("{dropped}, {tokens})")]);
    };
    let unloaded =
        "moved preset#1: its position is in history that is not loaded; placed before the loaded messages";
    told(Case { window: Some(30), ..case(&["5"]) }, "at most 20 tokens", unloaded);
    let beyond = "moved preset#1: depth 9 exceeds 5 messages; placed before the oldest";
    told(Case { window: Some(30), ..case(&["9"]) }, "at most 20 tokens", beyond);
    told(case(&["9"]), "20 tokens", beyond);
}

#[test]
fn joins_injections_equally_in_unloaded_history() {
    let joined = |entries: &[&str], expected: &str| {
        let chat = "u c:x t:x a u a u";
        let budget = 10 + u32::try_from(entries.len()).unwrap() * 3 + 20;
        let whole = Case { preset: depths(entries), budget: Some(budget), merges: true, ..Case::new(chat) };
        check(whole.clone(), expected);
        check(Case { window: Some(30), ..whole }, expected);
    };
    joined(&["7", "7", "6"], "A.+B C u4 a5 u6");
    joined(&["7", "6", "7"], "A.+C B u4 a5 u6");
    joined(&["7 2", "7 1", "6 1"], "B C A u4 a5 u6");
    // A slot inside a group moves before the group.
    joined(&["5", "6", "4"], "A.+B C u4 a5 u6");
    // A slot beyond the conversation is its front.
    joined(&["7", "9", "3"], "A.+B C u4 a5 u6");
}

#[test]
fn keeps_anchored_entries_around_history() {
    let preset = json!([
        { "id": "x", "role": "system", "content": "X" },
        { "type": "chat_history" },
        { "content": "A.", "anchorTarget": "chat_history", "anchorPoint": "before" },
        { "content": "B.", "injectionStrategy": { "type": "depth", "depth": 5 } },
        { "content": "C.", "anchorTarget": "chat_history" },
    ]);
    check(Case { preset, budget: Some(37), ..Case::new("s u a u a u") }, "X A s0 B a4 u5 C");
}
