//! Whatever a file looks like: what is fixed is gone, nothing else comes, and a second time changes nothing.

use std::path::Path;

use proptest::prelude::*;

use super::super::{Checker, Origin, findings};
use super::*;

/// Fixes a document as `ctx check --fix` does.
fn fixed(bytes: &[u8], name: &str) -> (Vec<u8>, FixedDocument) {
    let checker = Checker::new(&[]).unwrap();
    let document =
        fix(bytes, name, &|bytes| findings(bytes, Path::new(name), &checker, Origin::Named)).unwrap();
    (document.bytes.clone().unwrap_or_else(|| bytes.to_vec()), document)
}

/// Checks what holds for each document, and that only lines with one of the words have changed.
#[track_caller]
fn check(text: &str, name: &str) {
    let checker = Checker::new(&[]).unwrap();
    let look = |bytes: &[u8]| findings(bytes, Path::new(name), &checker, Origin::Named).unwrap();
    let (after, document) = self::fixed(text.as_bytes(), name);
    let (before, left) = (look(text.as_bytes()), look(&after));
    assert!(before.len() >= left.len() + document.fixed.len(), "{text}\n{left:#?}");
    for finding in &left {
        assert!(before.iter().any(|known| kind(known) == kind(finding)), "{finding} is new in {text}");
    }
    let again = self::fixed(&after, name).1;
    assert_eq!(again.bytes, None, "{text}");
    let after = String::from_utf8(after).unwrap();
    let lines = || text.split('\n').zip(after.split('\n'));
    assert_eq!(lines().filter(|(old, new)| old != new).count() > 0, document.bytes.is_some(), "{text}");
    assert_eq!(text.matches('#').count(), after.matches('#').count());
    assert_eq!(text.matches('\r').count(), after.matches('\r').count());
    for (old, new) in lines().filter(|(old, new)| old != new) {
        assert!(old.len().abs_diff(new.len()) <= 4, "{old} became {new}");
    }
}

fn entry() -> impl Strategy<Value = String> {
    let target = prop::sample::select(vec!["chat_histroy", "lorre", "lore", "elsewhere", "Chat_History"]);
    let content = prop::sample::select(vec!["Hi {{usr}}", "{{chr}} is {{user}}", "Be kind", "{{tmie}}", "é"]);
    let quote = prop::sample::select(vec!["", "'", "\""]);
    let comment = prop::sample::select(vec!["", " # why", "   # {{usr}} lorre"]);
    let form = prop::bool::ANY;
    (target, content, quote, comment, form).prop_map(|(target, content, quote, comment, is_flow)| {
        // Braces begin an object unless they are quoted.
        let text_quote = if quote.is_empty() { "'" } else { quote };
        let (target, content) =
            (format!("{quote}{target}{quote}"), format!("{text_quote}{content}{text_quote}"));
        if is_flow {
            format!("  - {{ content: {content}, anchorTarget: {target} }}{comment}\n")
        } else {
            format!("  - anchorTarget: {target}{comment}\n    content: {content}\n")
        }
    })
}

fn processor() -> impl Strategy<Value = String> {
    let id = prop::sample::select(vec!["token-limitr", "token-limiter", "regex-procesor"]);
    let rest = prop::sample::select(vec![
        "enable: true",
        "enabled: 'true'",
        "enabled: \"yes\"",
        "priority: '450'",
        "enabled: true",
    ]);
    (id, rest).prop_map(|(id, rest)| format!("    - {{ id: {id}, {rest} }}\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_fixed_is_gone_and_nothing_else_changes(
        entries in prop::collection::vec(entry(), 1..5),
        processors in prop::collection::vec(processor(), 0..3),
        is_crlf in prop::bool::ANY,
        has_mark in prop::bool::ANY,
    ) {
        let mut text = "presetMessages:\n  - { type: placeholder, id: lore }\n  - type: chat_history\n".to_owned();
        text += &entries.concat();
        if !processors.is_empty() {
            text += "parameters:\n  processors:\n";
            text += &processors.concat();
        }
        let text = if is_crlf { text.replace('\n', "\r\n") } else { text };
        check(&if has_mark { format!("\u{feff}{text}") } else { text }, "a.yaml");
    }
}

#[test]
fn a_value_that_two_places_share_is_left() {
    let text = "x: &t lorre\npresetMessages:\n  - { type: placeholder, id: lore }\n  - { anchorTarget: *t, content: a }\n";
    let (after, document) = fixed(text.as_bytes(), "a.yaml");
    assert_eq!(after, text.as_bytes());
    let reasons: Vec<String> = document.declined.iter().map(|(_, reason)| reason.to_string()).collect();
    assert_eq!(reasons, ["the value is a YAML alias or block"]);
}

#[test]
fn an_entry_that_two_places_share_is_left() {
    let text = "presetMessages:\n  - { type: placeholder, id: lore }\n  - &e { anchorTarget: lorre, content: a }\n  - *e\n";
    let (after, document) = fixed(text.as_bytes(), "a.yaml");
    assert_eq!(after, text.as_bytes());
    assert_eq!(document.declined.len(), 2);
}

#[test]
fn a_changed_number_of_another_finding_is_no_new_finding() {
    let text = "presetMessages:\n  - content: \"{{time}}\"\n  - contnet: Answer in one sentence.\n  - type: chat_history\n";
    let (after, document) = fixed(text.as_bytes(), "a.yaml");
    let expected = text.replace("contnet", "content") + "prefix: auto\n";
    assert_eq!(String::from_utf8(after).unwrap(), expected);
    assert!(document.declined.is_empty(), "{:?}", document.declined);
}

/// Checks the text of a fixed file, and that another run changes nothing.
#[track_caller]
fn check_fixed(name: &str, before: &str, after: &str) {
    let (fixed, _) = fixed(before.as_bytes(), name);
    assert_eq!(String::from_utf8(fixed).unwrap(), after);
    assert_eq!(self::fixed(after.as_bytes(), name).1.bytes, None);
}

#[test]
fn keeps_moving_text_in_place() {
    check_fixed(
        "a.yaml",
        "# Mine\nname: Ada # who\npresetMessages:\n  - type: chat_histroy\n  - { role: user, content: x, injectionStrategy: { type: depth, depth: 4 } }\nown: 5\n# end\n",
        "# Mine\nname: Ada # who\npresetMessages:\n  - type: chat_history\n  - { role: user, content: x, injectionStrategy: { type: depth, depth: 4 } }\nown: 5\n# end\nprefix: auto\n",
    );
    check_fixed(
        "a.json",
        "{\n  \"own\": 5,\n  \"presetMessages\": [{ \"content\": \"x\", \"injectionStrategy\": { \"type\": \"depth\", \"depth\": 4 } }]\n}\n",
        "{\n  \"own\": 5,\n  \"presetMessages\": [{ \"content\": \"x\", \"injectionStrategy\": { \"type\": \"depth\", \"depth\": 4 } }],\n  \"prefix\": \"auto\"\n}\n",
    );
    // A list of entries has no place for it.
    let list = "[{ \"content\": \"x\", \"injectionStrategy\": { \"type\": \"depth\", \"depth\": 4 } }]\n";
    check_fixed("list.json", list, list);
}

#[test]
fn corrects_names_and_keys_of_all_files() {
    check_fixed(
        "a.yaml",
        "dialect: silytavern\npresetMessages: [{ role: SYSTEM, content: a }, { role: usr, content: b }]\n",
        "dialect: sillytavern\npresetMessages: [{ role: system, content: a }, { role: user, content: b }]\n",
    );
    check_fixed(
        "book.json",
        "{\n  \"dialect\": \"CCV3\",\n  \"entries\": {\"0\": {\"uid\": 0, \"key\": \"moon\", \"content\": \"Blue.\"}}\n}\n",
        "{\n  \"dialect\": \"ccv3\",\n  \"entries\": {\"0\": {\"uid\": 0, \"key\": [\"moon\"], \"content\": \"Blue.\"}}\n}\n",
    );
    check_fixed(
        "chat.jsonl",
        "{\"role\":\"user\",\"content\":\"Hi\"}\r\n{\"role\": \"asistant\", \"content\":\"Ho\"}\r\n",
        "{\"role\":\"user\",\"content\":\"Hi\"}\r\n{\"role\": \"assistant\", \"content\":\"Ho\"}\r\n",
    );
    check_fixed(
        "request.json",
        "{\"model\": \"m\", \"messages\": [{\"role\": \"User\", \"content\": \"Hi\"}]}",
        "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}",
    );
    check_fixed(
        "a.json",
        "{\"presetMessages\": [{\"content\": \"a\", \"isEnabled\": \"true\", \"injectionStrategy\": {\"type\": \"depht\", \"depth\": -1}}]}",
        "{\"presetMessages\": [{\"content\": \"a\", \"isEnabled\": true, \"injectionStrategy\": {\"type\": \"depth\", \"depth\": 0}}]}",
    );
}

#[test]
fn corrects_types() {
    check_fixed(
        "a.yaml",
        "id: 5\nworldbookIds: book # mine\npresetMessages: []\nagentVersion: 1.10\n",
        "id: \"5\"\nworldbookIds: [\"book\"] # mine\npresetMessages: []\nagentVersion: 1.10\n",
    );
    check_fixed(
        "b.yaml",
        "worldbookSettings: {scanDepht: 4}\npresetMessages: []\n",
        "worldbookSettings: {defaultScanDepth: 4}\npresetMessages: []\n",
    );
}

#[test]
fn corrects_misspelled_keys() {
    check_fixed(
        "a.yaml",
        "presetMessages:\n  - { rol: system, contnt: x, content: y, anchorTaget: chat_history, enabled: false }\nparamters: {} # none\n",
        "presetMessages:\n  - { role: system, contnt: x, content: y, anchorTarget: chat_history, isEnabled: false }\nparameters: {} # none\n",
    );
    check_fixed(
        "b.yaml",
        "presetMessages: []\nparamters: { contextManagment: { enabled: true, maxContextToken: 5 } }\n",
        "presetMessages: []\nparameters: { contextManagement: { enabled: true, maxContextTokens: 5 } }\n",
    );
    check_fixed("robin.yaml", "name: Robin\npresetMesages: []\n", "name: Robin\npresetMessages: []\n");
}

#[test]
fn leaves_names_with_several_meanings() {
    check_fixed(
        "a.yaml",
        "presetMessages:\n  - { type: placeholder, id: lore1 }\n  - { content: a, anchorTarget: lore2 }\n",
        "presetMessages:\n  - { type: placeholder, id: lore1 }\n  - { content: a, anchorTarget: lore2 }\n",
    );
}

#[test]
fn gives_the_reason_for_each_diagnostic_that_is_left() {
    let text = "presetMessages:\n  - { content: 'Roll {{randm::a,b}}, {{getvarr::x}} and so on until the line is long' }\n";
    let (_, document) = fixed(text.as_bytes(), "a.yaml");
    let reasons: Vec<String> = document.declined.iter().map(|(_, reason)| reason.to_string()).collect();
    assert_eq!(
        reasons,
        [
            "the fix would cause CTX0706: `random` changes every turn: about 13 tokens of the preset and the whole conversation miss the prompt cache",
            "the intent is unclear; fix it by hand",
        ]
    );
}
