use serde_json::{Value, json};

use crate::case::{check, check_chats};

#[track_caller]
fn found(entry: Value, text: &str, expected: bool) {
    let expected = if expected {
        format!("0: key `{}` in message 0 (pass 1)", entry["key"][0].as_str().unwrap())
    } else {
        "0: no, no key matches".to_owned()
    };
    check(json!({ "entries": [entry], "chat": [text] }), &[&expected]);
}

#[test]
fn ignores_case_and_word_boundaries_by_default() {
    found(json!({ "key": ["drag"] }), "A Dragon", true);
    found(json!({ "key": ["ÉTÉ"] }), "en été", true);
    found(json!({ "key": ["Drag"], "caseSensitive": true }), "A Dragon", true);
    found(json!({ "key": ["drag"], "caseSensitive": true }), "A Dragon", false);
}

#[test]
fn matches_whole_ascii_words() {
    let whole = |key: &str| json!({ "key": [key], "matchWholeWords": true });
    found(whole("cat"), "concatenate", false);
    found(whole("cat"), "a cat.", true);
    found(whole("cat"), "_cat_", false);
    found(whole("龙"), "巨龙飞过", true);
    found(whole("caf"), "café", true);
    found(whole("a-a"), "xa-a-a", true);
    found(whole("C++"), "in C++!", true);
}

#[test]
fn ignores_word_boundaries_for_multi_word_keys() {
    found(json!({ "key": ["old town"], "matchWholeWords": true }), "cold townsfolk", true);
}

#[test]
fn trims_keys_and_ignores_empty_keys() {
    found(json!({ "key": ["  moon\u{feff} "] }), "a moon", true);
    found(json!({ "key": [" "] }), "a moon", false);
}

#[test]
fn matches_regular_expressions() {
    found(json!({ "key": ["/drag(on|oon)s?/i"] }), "DRAGOONS", true);
    found(json!({ "key": ["/\\bDragon/"], "caseSensitive": false }), "a dragon", false);
    found(json!({ "key": ["/(?<!re)turn/"] }), "return, and turn", true);
    found(json!({ "key": ["/(?<!re)turn/"] }), "return", false);
    found(json!({ "key": ["/^moon/m"] }), "a sun\nmoon", true);
}

#[test]
fn treats_invalid_expression_as_plain_text() {
    found(json!({ "key": ["/a(/"] }), "write /A(/", true);
    found(json!({ "key": ["/a/b/"] }), "from a/b", false);
    found(json!({ "key": ["/a/b/"] }), "from /a/b/", true);
    found(json!({ "key": ["/moon/x"] }), "/moon/x", true);
}

#[test]
fn expands_macros_in_keys() {
    found(json!({ "key": ["{{char}} Smith"] }), "ada smith", true);
    found(json!({ "key": ["/^.*{{char}}/"] }), "here is Ada", true);
    found(json!({ "key": ["{{char}}"], "matchWholeWords": true }), "Adagio", false);
    found(json!({ "key": ["{{char}}"], "caseSensitive": true }), "ada", false);
}

#[test]
fn matches_across_messages_only_with_expressions() {
    let case = json!({
        "entries": [{ "key": ["new old"] }, { "key": ["/new\\s+\\x01old/"] }, { "key": ["/old[^]*new/"] }],
        "chat": ["old", "new"],
    });
    check(
        case,
        &[
            "0: no, no key matches",
            "1: key `/new\\s+\\x01old/` in message 1 (pass 1)",
            "2: no, no key matches",
        ],
    );
}

#[test]
fn searches_messages_up_to_scan_depth() {
    let case = json!({
        "entries": [
            { "key": ["one"] },
            { "key": ["two"] },
            { "key": ["one"], "scanDepth": 3 },
            { "key": ["three"], "scanDepth": 0 },
            { "key": ["/one/"], "scanDepth": 9 },
        ],
        "chat": ["one", "two", "three"],
    });
    check(
        case,
        &[
            "0: no, no key matches",
            "1: key `two` in message 1 (pass 1)",
            "2: key `one` in message 0 (pass 1)",
            "3: no, no key matches",
            "4: key `/one/` in message 0 (pass 1)",
        ],
    );
}

#[test]
fn applies_secondary_key_logic() {
    let entry = |uid: u8, logic: u8, secondary: &[&str]| json!({ "uid": uid, "key": ["a1"], "keysecondary": secondary, "selectiveLogic": logic });
    let case = json!({
        "entries": [
            entry(0, 0, &["s1", "s2"]), entry(1, 0, &["s1"]),
            entry(2, 1, &["s1", "s2"]), entry(3, 1, &["s2"]),
            entry(4, 2, &["s1"]), entry(5, 2, &["s1", "s2"]),
            entry(6, 3, &["s2", "a1"]), entry(7, 3, &["s1", "s2"]),
        ],
        "chat": ["a1 s2"],
    });
    check(
        case,
        &[
            "0: key `a1` in message 0 with `s2` in message 0 (pass 1)",
            "1: no, key `a1` matches, but no secondary key",
            "2: key `a1` in message 0 (pass 1)",
            "3: no, key `a1` matches, but so do all secondary keys",
            "4: key `a1` in message 0 (pass 1)",
            "5: no, key `a1` matches, but so does secondary key `s2`",
            "6: key `a1` in message 0 with `s2` in message 0 (pass 1)",
            "7: no, key `a1` matches, but not all secondary keys",
        ],
    );
}

#[test]
fn ignores_secondary_keys_unless_selective() {
    let case = json!({
        "entries": [{ "key": ["a"], "keysecondary": ["x"], "selective": false }, { "key": ["a"], "keysecondary": [] }],
        "chat": ["a"],
    });
    check(case, &["0: key `a` in message 0 (pass 1)", "1: key `a` in message 0 (pass 1)"]);
}

#[test]
fn searches_additional_texts_if_enabled() {
    let case = json!({
        "entries": [
            { "key": ["poet"], "matchPersonaDescription": true },
            { "key": ["poet"] },
            { "key": ["/storm.?y/"], "matchScenario": true },
            { "key": ["note"] },
            { "key": ["note"], "scanDepth": 0 },
        ],
        "persona": "A poet.", "scenario": "A stormy night.", "injected": ["a note"], "chat": ["hi"],
    });
    check(
        case,
        &[
            "0: key `poet` in the user profile (pass 1)",
            "1: no, no key matches",
            "2: key `/storm.?y/` in the scenario (pass 1)",
            "3: key `note` in additional text 0 (pass 1)",
            "4: no, no key matches",
        ],
    );
}

#[test]
fn activates_only_constant_entries_without_keys() {
    let case = json!({
        "entries": [{ "constant": true }, { "key": [] }, { "key": ["x"], "constant": true }, { "key": [] }],
        "activated": ["B.3"], "chat": [],
    });
    check(
        case,
        &[
            "0: constant (pass 1)",
            "1: no, no keys",
            "2: constant (pass 1)",
            "3: activated by the host (pass 1)",
        ],
    );
}

#[test]
fn distinguishes_named_groups_from_macros() {
    let link = |n: usize| json!({ "uid": n, "key": [format!("/(?<n>key){n}x/")], "content": format!("{} key{}x", "y".repeat(2_000), n + 1) });
    let entries: Vec<Value> = (0..300).map(link).collect();
    let case = json!({ "settings": { "recursive": true }, "entries": entries, "chats": [["key0x"]] });
    let all: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    check_chats(case, &[&all]);
}

#[test]
fn reports_message_of_key_with_macros() {
    let case = json!({
        "settings": { "depth": 3 }, "entries": [{ "key": ["{{char}}'s"] }, { "key": ["<b>tower"] }],
        "chat": ["ADA'S lamp", "a <B>Tower", "İİİİİ"],
    });
    check(case, &["0: key `{{char}}'s` in message 0 (pass 1)", "1: key `<b>tower` in message 1 (pass 1)"]);
}
