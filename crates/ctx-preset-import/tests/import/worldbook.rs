//! Worldbooks in every form that people have them in.

use ctx_preset_import::{Format, read_worldbook};
use ctx_types::Persist as _;
use serde_json::{Value, json};

use super::strip_kept;

/// Checks in which form a file is read, what of the unified form is written, and what is found, with its place.
#[track_caller]
fn check(file: Value, format: Format, expected: Value, findings: &[&str]) {
    let read = read_worldbook(file.to_string().as_bytes(), "").unwrap();
    assert_eq!(read.format, format);
    let mut written = read.value.write();
    strip_kept(&mut written);
    assert_eq!(written, expected);
    let found: Vec<String> = read.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(found, findings);
}

#[test]
fn world_info_is_our_own_form() {
    let file = json!({ "entries": { "0": { "uid": 0, "key": ["moon"], "content": "x", "order": "5" } }, "name": "Sky" });
    let found =
        "warning[CTX0102]: expected a number, found the string `5`, which is converted (at /entries/0/order)";
    check(file.clone(), Format::Worldbook, file, &[found]);
}

#[test]
fn a_bare_list_of_entries_is_a_book() {
    let entry = json!({ "key": ["moon"], "content": "x", "order": [] });
    let found = "error[CTX0100]: expected a number, found a list of 0 (at /0/order)";
    check(json!([entry]), Format::Worldbook, json!({ "entries": [entry] }), &[found]);
}

#[test]
fn the_book_of_a_card_gets_our_names() {
    let entry = json!({
        "id": 3, "keys": ["moon"], "secondary_keys": ["sun"], "comment": "Moon", "content": "x", "constant": false,
        "selective": true, "insertion_order": 7, "enabled": false, "position": "before_char", "case_sensitive": true,
        "extensions": { "depth": 2, "exclude_recursion": true, "match_whole_words": null, "position": 4 },
    });
    let expected = json!({
        "uid": 3, "key": ["moon"], "keysecondary": ["sun"], "comment": "Moon", "content": "x", "constant": false,
        "selective": true, "order": 7, "disable": true, "position": 4, "depth": 2, "excludeRecursion": true,
        "matchWholeWords": null,
    });
    let card = json!({
        "spec": "chara_card_v2", "data": { "name": "Ada", "character_book": { "name": "Sky", "entries": [entry] } },
    });
    check(card, Format::CardBook, json!({ "name": "Sky", "entries": { "3": expected } }), &[]);
}

#[test]
fn what_a_card_does_not_say_is_as_sillytavern_takes_it() {
    let entry = json!({ "keys": ["moon"], "content": "x", "name": "Moon", "extensions": null });
    let expected =
        json!({ "key": ["moon"], "content": "x", "comment": "Moon", "selective": false, "position": 1 });
    check(json!({ "entries": [entry] }), Format::CardBook, json!({ "entries": { "0": expected } }), &[]);
}

#[test]
fn books_of_version_3_follow_its_rules() {
    let entry = json!({ "keys": [5], "content": "x", "case_sensitive": true, "position": "before_char" });
    let expected =
        json!({ "key": [5], "content": "x", "selective": false, "caseSensitive": true, "position": 0 });
    let found = "error[CTX0100]: expected a string, found the number `5` (at /data/entries/0/keys/0)";
    let book = |entry: &Value| json!({ "scan_depth": 9, "entries": entry });
    check(
        json!({ "spec": "lorebook_v3", "data": book(&json!([entry])) }),
        Format::CardBook,
        json!({ "scan_depth": 9, "entries": { "0": expected }, "dialect": "ccv3" }),
        &[found],
    );
}

#[test]
fn entries_that_share_an_id_stay_apart() {
    let entry = |content: &str| json!({ "id": 1, "keys": [], "content": content });
    let expected =
        |content: &str| json!({ "uid": 1, "key": [], "content": content, "selective": false, "position": 1 });
    check(
        json!({ "entries": [entry("a"), entry("b")] }),
        Format::CardBook,
        json!({ "entries": [expected("a"), expected("b")] }),
        &[],
    );
}

#[test]
fn a_file_of_both_forms_is_read_as_ours() {
    let entry = json!({ "uid": 1, "key": ["a"], "keys": ["b"], "content": "x" });
    check(json!({ "entries": { "1": entry } }), Format::Worldbook, json!({ "entries": { "1": entry } }), &[]);
}

#[test]
fn lorebooks_of_other_applications_are_read() {
    check(
        json!({ "lorebookVersion": 4, "entries": [{
            "keys": ["moon"], "text": "x", "displayName": "Moon", "contextConfig": { "budgetPriority": 400 }, "enabled": false,
        }] }),
        Format::OtherLorebook,
        json!({ "entries": [{ "key": ["moon"], "content": "x", "comment": "Moon", "order": 400, "disable": true }] }),
        &[],
    );
    check(
        json!({ "kind": "memory", "name": "Sky", "entries": [{ "keywords": ["moon"], "entry": "x", "name": "Moon", "weight": 3 }] }),
        Format::OtherLorebook,
        json!({ "name": "Sky", "entries": [{ "key": ["moon"], "content": "x", "comment": "Moon", "order": 3 }] }),
        &[],
    );
    check(
        json!({ "type": "risu", "ver": 1, "data": [{
            "key": "moon, luna", "secondkey": "", "content": "x", "comment": "Moon", "alwaysActive": true,
            "insertorder": 2, "activationPercent": 50,
        }] }),
        Format::OtherLorebook,
        json!({ "dialect": "risuai", "entries": [{
            "key": ["moon", "luna"], "keysecondary": [], "content": "x", "comment": "Moon", "constant": true, "order": 2,
            "probability": 50,
        }] }),
        &[],
    );
}

#[test]
fn keys_of_risuai_are_regexes_only_with_their_switch() {
    let entry = |keys: &str, switch: Option<bool>| json!({ "key": keys, "content": "x", "useRegex": switch });
    check(
        json!({ "type": "risu", "data": [
            entry("moon, /fo+/i", Some(false)), entry("/fo+/i", None), entry("moon, /fo+/i", Some(true)),
        ] }),
        Format::OtherLorebook,
        json!({ "dialect": "risuai", "entries": [
            { "key": ["moon", r"/\/fo\+\/i/i"], "content": "x" },
            { "key": [r"/\/fo\+\/i/i"], "content": "x" },
            { "key": ["/fo+/i"], "content": "x" },
        ] }),
        &[],
    );
}

#[test]
fn applies_use_regex_to_all_keys() {
    let entry = |switch: bool| {
        json!({
            "key": "/a/", "secondkey": "/b/", "useRegex": switch,
            "content": "@@additional_keys /c{1,2}/i, d\n@@exclude_keys e\n@@depth 3\n/x/",
        })
    };
    check(
        json!({ "type": "risu", "data": [entry(true), entry(false)] }),
        Format::OtherLorebook,
        json!({ "dialect": "risuai", "entries": [
            { "content": "@@additional_keys /c{1,2}/i\n@@exclude_keys /(?!)/\n@@depth 3\n/x/",
              "key": ["/a/"], "keysecondary": ["/b/"] },
            { "content": "@@additional_keys /\\/c\\{1/i, 2}/i, d\n@@exclude_keys e\n@@depth 3\n/x/",
              "key": [r"/\/a\//i"], "keysecondary": [r"/\/b\//i"] },
        ] }),
        &[],
    );
}

#[test]
fn child_entries_repeat_a_limited_size_of_text() {
    let mut entries =
        vec![json!({ "key": "k", "content": "x".repeat(1 << 20), "mode": "normal", "id": "a" })];
    entries.resize(50, json!({ "key": "k", "content": "", "mode": "child", "id": "a" }));
    let file = json!({ "type": "risu", "data": entries }).to_string();
    let read = read_worldbook(file.as_bytes(), "").unwrap();
    assert!(read.value.write().to_string().len() < 16 << 20);
    assert!(
        read.diagnostics
            .iter()
            .any(|found| found.to_string().contains("41 linked entries of RisuAI are disabled"))
    );
}

#[test]
fn nothing_of_a_foreign_book_is_lost() {
    let entry = json!({ "keys": ["moon"], "content": "x", "priority": 5, "extensions": { "mine": [1] } });
    let file =
        json!({ "spec": "lorebook_v3", "data": { "entries": [entry], "extensions": { "yours": {} } } });
    let read = read_worldbook(file.to_string().as_bytes(), "").unwrap().value.write();
    assert_eq!(read["entries"]["0"]["content"], "x");
    let beside = json!({ "keys": ["moon"], "content": null, "priority": 5, "extensions": { "mine": [1] } });
    assert_eq!(read["entries"]["0"]["imported"], beside, "the text stands once");
    assert_eq!(read["extensions"], json!({ "yours": {} }));
}

#[test]
fn what_is_no_book_is_refused() {
    for file in ["{}", "[]", "[1]", "{\"presetMessages\": []}", "{\"entries\": 5}", "text"] {
        let refused = read_worldbook(file.as_bytes(), "").unwrap_err();
        assert!(refused.to_string().contains("a worldbook (an object with `entries`)"), "{refused}");
    }
}
