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
