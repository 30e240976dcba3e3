use serde_json::{Value, json};

use crate::case::{Bytes, compile};
use ctx_worldbook::internal::{CheckOptions, check as lint};

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
    let message = format!("CTX0970 `B.7` can never activate: {reason}");
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
fn reports_entries_that_never_activate() {
    dead(json!({ "key": [] }), "no keys, and not constant");
    dead(json!({ "key": [" "] }), "no keys, and not constant");
    dead(json!({ "key": ["moon"], "scanDepth": 0 }), "scan depth 0: no key can match");
    dead(json!({ "key": ["moon"], "scanDepth": -1 }), "scan depth 0: no key can match");
    dead(json!({ "key": ["moon"], "probability": 0 }), "probability is 0");
    dead(json!({ "key": ["moon"], "triggers": ["sometimes"] }), "unknown generation type `sometimes`");
    dead(
        json!({ "key": ["moon"], "keysecondary": ["moon"], "selectiveLogic": 2 }),
        "secondary keys exclude each key",
    );
    dead(
        json!({ "key": ["TOWER"], "keysecondary": ["tower"], "selectiveLogic": 2 }),
        "secondary keys exclude each key",
    );
    dead(
        json!({ "key": ["moon"], "keysecondary": ["moon"], "selectiveLogic": 1 }),
        "secondary keys exclude each key",
    );
    dead(json!({ "key": ["moon"], "keysecondary": [" "] }), "needs a secondary key, and all are blank");
    dead(
        json!({ "key": ["moon"], "keysecondary": ["sun", ""], "selectiveLogic": 3 }),
        "needs all secondary keys, and one is blank",
    );
    dead(
        json!({ "key": ["moon"], "delay": 99_999_999_999_u64 }),
        "no conversation reaches the 99999999999 messages of `delay`",
    );
}

#[test]
fn reports_keys_without_scan_depth() {
    let message = "CTX0970 `B.7` can never activate: scan depth 0: no key can match";
    let entry = json!({ "key": ["moon"], "content": "x" });
    check(json!({ "depth": 0 }), entry.clone(), &[message]);
    check(json!({ "depth": 0, "min_activations": 1 }), entry, &[]);
    check(json!({ "depth": 0 }), json!({ "key": ["moon"], "content": "x", "scanDepth": 1 }), &[]);
}

#[test]
fn reports_content_over_worldbook_budget() {
    let book = |content: &str| {
        let entries = json!([{ "uid": 7, "key": ["moon"], "content": content }]);
        compile(&json!({ "books": { "B": { "dialect": "ccv3", "token_budget": 2, "entries": entries } } }))
    };
    let found = |content: &str| lint(&book(content), CheckOptions { counter: Some(&Bytes), budget: None });
    assert_eq!(found("xx"), []);
    assert_eq!(
        found("xxx")[0].message,
        "the content of `B.7` alone exceeds its worldbook's budget of 2 tokens"
    );
}

#[test]
fn accepts_entries_that_may_activate() {
    dead(json!({ "key": [], "constant": true }), "");
    dead(json!({ "key": [], "vectorized": true }), "");
    dead(json!({ "key": [], "disable": true }), "");
    dead(json!({ "key": ["moon", "sun"], "keysecondary": ["moon"], "selectiveLogic": 2 }), "");
    dead(json!({ "key": ["moon"], "probability": 0, "useProbability": false }), "");
    dead(
        json!({ "key": ["Moon"], "keysecondary": ["moon"], "selectiveLogic": 2, "caseSensitive": true }),
        "",
    );
    dead(json!({ "key": ["moon"], "keysecondary": ["moon", "sun"], "selectiveLogic": 1 }), "");
}

#[test]
fn reports_recursion_that_never_happens() {
    let waits = "CTX0971 `B.7` waits for recursion that never happens:";
    let entry = json!({ "key": ["moon"], "content": "x", "delayUntilRecursion": true });
    check(json!({ "recursive": true }), entry.clone(), &[]);
    check(json!({}), entry.clone(), &[&format!("{waits} recursion is off")]);
    check(
        json!({ "recursive": true, "max_recursion_steps": 1 }),
        entry.clone(),
        &[&format!("{waits} entries are scanned only once")],
    );
    let mut excluded = entry;
    excluded["excludeRecursion"] = json!(true);
    check(json!({ "recursive": true }), excluded, &[&format!("{waits} it is also excluded from recursion")]);
}

#[test]
fn reports_keys_that_match_everywhere() {
    let found = |key: &str| format!("CTX0972 key `{key}` of `B.7` matches nearly every text");
    let entry = |key: &str| json!({ "key": ["moon", key], "content": "x" });
    for key in [
        "a",
        "/x*/",
        "/moon|/",
        "/.*/s",
        "/./",
        "/[^]/",
        "/\\w/",
        "/\\S/",
        "/.+/s",
        "/[a-z]/i",
        "/\\s/",
        "的",
        "/[一-龥]/",
    ] {
        check(json!({}), entry(key), &[&found(key)]);
    }
    check(json!({ "match_whole_words": true }), entry("a"), &[]);
    for key in ["月", "the", "塔", "/tower|rain/", "/(?<=a)b/", "Q", "5", "*", "/^$/", "/^\\s*$/"] {
        check(json!({}), entry(key), &[]);
    }
    check(json!({}), entry("/.+x/"), &[]);
}

#[test]
fn reports_content_that_cannot_be_sent() {
    let entry = |content: String| json!({ "key": ["moon"], "content": content });
    check(
        json!({}),
        entry("x".repeat(19)),
        &["CTX0973 the content of `B.7` alone uses the budget of 20 tokens"],
    );
    check(json!({}), entry("x".repeat(18)), &[]);
    check(json!({}), entry(" ".to_owned()), &["CTX0974 `B.7` has no content"]);
    let outlet = json!({ "key": ["moon"], "content": "x", "position": 7 });
    check(json!({}), outlet, &["CTX0975 `B.7` has an outlet without a name and is never sent"]);
}
