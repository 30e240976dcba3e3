//! What is wrong with books, whatever the conversation.

use serde_json::{Value, json};

use crate::case::{Bytes, compile};
use ctx_worldbook::{CheckOptions, check as lint};

#[track_caller]
fn check(settings: Value, entry: Value, expected: &[&str]) {
    let set = compile(&json!({ "settings": settings, "entries": { "7": entry } }));
    let found = lint(&set, CheckOptions { counter: Some(&Bytes), budget: Some(20) });
    let found: Vec<String> =
        found.iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn dead(entry: Value, reason: &str) {
    let mut entry = entry;
    entry["content"] = json!("x");
    let message = format!("CTX0970 `B.7` can never become active: {reason}");
    check(
        json!({}),
        entry,
        if reason.is_empty() { &[] } else { std::slice::from_ref(&message) }
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice(),
    );
}

#[test]
fn entries_that_never_become_active_are_found() {
    dead(json!({ "key": [] }), "it has no keys and is not constant");
    dead(json!({ "key": [" "] }), "it has no keys and is not constant");
    dead(
        json!({ "key": ["moon"], "scanDepth": 0 }),
        "it looks at no message, so that none of its keys is found",
    );
    dead(json!({ "key": ["moon"], "probability": 0 }), "its probability is 0");
    dead(
        json!({ "key": ["moon"], "triggers": ["sometimes"] }),
        "nothing of the kind `sometimes` is generated",
    );
    dead(
        json!({ "key": ["moon"], "keysecondary": ["moon"], "selectiveLogic": 2 }),
        "its secondary keys forbid each of its keys",
    );
}

#[test]
fn entries_that_may_become_active_are_not() {
    dead(json!({ "key": [], "constant": true }), "");
    dead(json!({ "key": [], "vectorized": true }), "");
    dead(json!({ "key": [], "disable": true }), "");
    dead(json!({ "key": ["moon", "sun"], "keysecondary": ["moon"], "selectiveLogic": 2 }), "");
    dead(json!({ "key": ["moon"], "probability": 0, "useProbability": false }), "");
}

#[test]
fn recursion_that_never_comes_is_found() {
    let waits = "CTX0971 `B.7` waits for recursion that never comes:";
    let entry = json!({ "key": ["moon"], "content": "x", "delayUntilRecursion": true });
    check(json!({ "recursive": true }), entry.clone(), &[]);
    check(json!({}), entry.clone(), &[&format!("{waits} recursion is off")]);
    check(
        json!({ "recursive": true, "max_recursion_steps": 1 }),
        entry.clone(),
        &[&format!("{waits} entries are considered only once")],
    );
    let mut excluded = entry;
    excluded["excludeRecursion"] = json!(true);
    check(json!({ "recursive": true }), excluded, &[&format!("{waits} it is excluded from recursion too")]);
}

#[test]
fn keys_that_are_found_everywhere_are_found() {
    let found = |key: &str| format!("CTX0972 the key `{key}` of `B.7` is found in nearly every text");
    let entry = |key: &str| json!({ "key": ["moon", key], "content": "x" });
    for key in ["a", "/x*/", "/moon|/", "/.*/s"] {
        check(json!({}), entry(key), &[&found(key)]);
    }
    check(json!({ "match_whole_words": true }), entry("a"), &[]);
    check(json!({}), entry("月"), &[]);
    check(json!({}), entry("/.+x/"), &[]);
}

#[test]
fn texts_that_cannot_be_sent_are_found() {
    let entry = |content: String| json!({ "key": ["moon"], "content": content });
    check(
        json!({}),
        entry("x".repeat(20)),
        &["CTX0973 the text of `B.7` alone reaches the budget of 20 tokens"],
    );
    check(json!({}), entry("x".repeat(19)), &[]);
    check(json!({}), entry(" ".to_owned()), &["CTX0974 `B.7` has no text"]);
    let outlet = json!({ "key": ["moon"], "content": "x", "position": 7 });
    check(json!({}), outlet, &["CTX0975 `B.7` goes to an outlet without a name, so nowhere"]);
}
