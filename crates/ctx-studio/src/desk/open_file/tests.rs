//! Drafts of files of all kinds.

use std::sync::Arc;

use ctx_project::config::{ConfigFile, PageAccess, ValueType};
use ctx_project::drafts::{Draft, Edit};
use serde_json::json;

use super::{Halt, OpenFile};
use crate::api_files::FileKind;

fn open(path: &str, kind: FileKind, bytes: &[u8]) -> OpenFile {
    OpenFile::open(path, kind, Arc::from(bytes))
}

fn set(pointer: &str, value: &str) -> Edit {
    Edit::Set { pointer: pointer.to_owned(), value: json!(value) }
}

#[test]
fn a_mark_at_the_beginning_stays() {
    let mut file = open("a.yaml", FileKind::Agent, b"\xEF\xBB\xBFname: Ada\n");
    assert_eq!((file.text().as_str(), file.is_dirty()), ("name: Ada\n", false));
    file.edit((0, 0), (vec![set("/name", "Eve")], Draft::edit_all), None).unwrap();
    assert!(file.is_dirty());
    assert_eq!(&*file.bytes(), b"\xEF\xBB\xBFname: Eve\n");
    assert!(file.undo(1));
    assert!(!file.is_dirty());
}

#[test]
fn what_is_no_text_is_shown_and_not_edited() {
    for bytes in [&b"name: \xFF\n"[..], b"\xFF\xFEn\0a\0", b"name: \0\n"] {
        let mut file = open("a.yaml", FileKind::Agent, bytes);
        assert!(file.is_closed && !file.is_dirty());
        assert_eq!(&*file.bytes(), bytes);
    }
}

#[test]
fn a_large_file_is_shown_in_part() {
    let bytes = format!("\"{}\"", "é".repeat(2 << 20));
    let mut file = open("a.json", FileKind::Other, bytes.as_bytes());
    assert!(file.is_cut && file.is_closed && file.value().is_none());
    assert!(file.text().len() <= 64 << 10);
    assert_eq!(file.bytes().len(), bytes.len());
}

#[test]
fn letters_that_follow_soon_are_one_step_of_their_window() {
    let mut file = open("a.yaml", FileKind::Agent, b"name: Ada\nother: x\n");
    for (revision, name) in ["A", "Al", "Ali"].into_iter().enumerate() {
        file.edit(
            (revision as u64, revision as u64),
            (vec![set("/name", name)], Draft::edit_all),
            Some("w1"),
        )
        .unwrap();
    }
    file.edit((3, 3), (vec![set("/name", "Alice")], Draft::edit_all), Some("w2")).unwrap();
    assert!(file.undo(4));
    assert_eq!(file.text(), "name: Ali\nother: x\n");
    assert!(file.undo(5));
    assert_eq!(file.text(), "name: Ada\nother: x\n");
}

#[test]
fn older_edits_are_carried_over_or_stale() {
    let mut file = open("a.yaml", FileKind::Agent, b"list: [a, b]\nname: Ada\n");
    file.edit((0, 0), (vec![set("/name", "Eve")], Draft::edit_all), None).unwrap();
    file.edit((1, 0), (vec![set("/list/1", "c")], Draft::edit_all), None).unwrap();
    assert_eq!(file.text(), "list: [a, c]\nname: Eve\n");
    assert!(matches!(
        file.edit((2, 0), (vec![set("/name", "Zoe")], Draft::edit_all), None),
        Err(Halt::Stale)
    ));
    assert!(matches!(
        file.edit((2, 9), (vec![set("/name", "Zoe")], Draft::edit_all), None),
        Err(Halt::Stale)
    ));
    assert!(matches!(file.set_text(2, 1, "name: Zoe\n"), Err(Halt::Stale)));
}

#[test]
fn what_the_page_may_not_set_is_refused() {
    let config = "model = \"gpt-5\"\nstore = \"a.db\"\n[endpoint]\nbase-url = \"https://a.example\"\n";
    let mut file = open("ctx.toml", FileKind::Config, config.as_bytes());
    assert!(!file.is_closed);
    assert_eq!(file.value(), Some(json!({ "model": "gpt-5" })));
    for (old, new) in [
        ("a.db", "b.db"),
        ("a.example", "b.example"),
        ("[endpoint]", "[tools]\nfolder = \"/\"\n[endpoint]"),
        ("[endpoint]", "[transcription]\nkey-env = \"A\"\n[endpoint]"),
    ] {
        assert!(file.set_text(0, 0, &config.replace(old, new)).is_err(), "{new}");
    }
    file.set_text(0, 0, &config.replace("gpt-5", "gpt-4o")).unwrap();
    file.set_text(1, 1, "[").unwrap();
    assert!(file.refuse_unreadable_config().is_err());
    file.set_text(2, 2, "model = \"x\"\n").unwrap_err();
}

#[test]
fn locks_each_key_that_reaches_outside() {
    let config = "model = \"gpt-5\"\n";
    for row in ConfigFile::ROWS.iter().filter(|row| row.rule.page == PageAccess::Locked) {
        let mut file = open("ctx.toml", FileKind::Config, config.as_bytes());
        let locked = match row.rule.value_type {
            ValueType::Endpoints(_) => format!("[[{}]]\nbase-url = \"https://a.example\"\n", row.key),
            ValueType::Endpoint(_) | ValueType::Table(_) => format!("[{}]\nmodel = \"m\"\n", row.key),
            ValueType::Value | ValueType::Path => format!("{} = \"a.db\"\n", row.key),
        };
        file.set_text(0, 0, &format!("{config}{locked}")).unwrap_err();
        let edit = Edit::Set { pointer: format!("/{}", row.key), value: json!([]) };
        assert!(file.edit((0, 0), (vec![edit], Draft::edit_all), None).is_err(), "{}", row.key);
        let file = open("ctx.toml", FileKind::Config, format!("{config}{locked}").as_bytes());
        assert_eq!(file.value(), Some(json!({ "model": "gpt-5" })));
    }
}

#[test]
fn secrets_are_not_shown() {
    for config in [
        "[endpoint]\nheaders = { x-key = \"canary\" }\n",
        "[[fallbacks]]\nheaders = { x-key = \"canary\" }\n",
        "[[fallbacks]]\nkey = \"canary\"\n",
        "[[fallbacks]]\nbase-url = \"https://u:canary@a.example?k=canary\"\n",
    ] {
        let mut file = open("ctx.toml", FileKind::Config, config.as_bytes());
        assert!(file.is_closed && !file.text().contains("canary"), "{config}");
        assert_eq!(&*file.bytes(), config.as_bytes());
    }
}

#[test]
fn an_edit_that_changes_nothing_is_no_step() {
    let mut file = open("a.yaml", FileKind::Agent, b"name: Ada\nother: x\n");
    file.edit((0, 0), (vec![set("/other", "y")], Draft::edit_all), Some("w1")).unwrap();
    file.edit((1, 1), (vec![set("/name", "A")], Draft::edit_all), Some("w1")).unwrap();
    file.edit((2, 2), (vec![set("/name", "A")], Draft::edit_all), Some("w1")).unwrap();
    file.edit((2, 2), (vec![set("/other", "y")], Draft::edit_all), Some("w1")).unwrap();
    file.edit((2, 2), (vec![set("/name", "Al")], Draft::edit_all), Some("w1")).unwrap();
    file.set_text(3, 3, "name: Al\nother: y\n").unwrap();
    assert!(file.undo(3));
    assert_eq!(file.text(), "name: Ada\nother: y\n");
}

#[test]
fn letters_after_a_save_are_another_step() {
    let mut file = open("a.yaml", FileKind::Agent, b"name: Ada\n");
    file.edit((0, 0), (vec![set("/name", "A")], Draft::edit_all), Some("w1")).unwrap();
    let bytes = file.bytes();
    file.saved("a.yaml", bytes);
    file.edit((1, 1), (vec![set("/name", "Al")], Draft::edit_all), Some("w1")).unwrap();
    assert!(file.undo(2));
    assert_eq!((file.text().as_str(), file.is_dirty()), ("name: A\n", false));
}
