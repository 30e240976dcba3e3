//! Drafts of files of all kinds.

use std::sync::Arc;

use ctx_project::config::{ConfigFile, PageAccess, ValueType};
use ctx_project::drafts::{Draft, Edit};
use serde_json::json;

use super::{Halt, OpenFile};
use crate::api_files::{FileKind, Resolve};

fn open(path: &str, kind: FileKind, bytes: &[u8]) -> OpenFile {
    OpenFile::open(path, kind, Arc::from(bytes))
}

fn set(file: &mut OpenFile, pointer: &str, value: &str, window: &str) {
    let edit = Edit::Set { pointer: pointer.to_owned(), value: json!(value) };
    file.edit(&[edit], Draft::edit_all, Some(window)).unwrap();
}

#[test]
fn a_mark_at_the_beginning_stays() {
    let mut file = open("a.yaml", FileKind::Agent, b"\xEF\xBB\xBFname: Ada\n");
    assert_eq!((file.text().as_str(), file.is_dirty()), ("name: Ada\n", false));
    set(&mut file, "/name", "Eve", "w1");
    assert!(file.is_dirty());
    assert_eq!(&*file.bytes(), b"\xEF\xBB\xBFname: Eve\n");
    assert!(file.undo());
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
    let bytes = format!("\"{}\"", "é".repeat(8 << 20));
    let mut file = open("a.json", FileKind::Other, bytes.as_bytes());
    assert!(file.is_cut && file.is_closed && file.value().is_none());
    assert!(file.text().len() <= 64 << 10);
    assert_eq!(file.bytes().len(), bytes.len());
}

#[test]
fn letters_that_follow_soon_are_one_step_of_their_window() {
    let mut file = open("a.yaml", FileKind::Agent, b"name: Ada\nother: x\n");
    for name in ["A", "Al", "Ali"] {
        set(&mut file, "/name", name, "w1");
    }
    set(&mut file, "/name", "Alice", "w2");
    assert!(file.undo());
    assert_eq!(file.text(), "name: Ali\nother: x\n");
    assert!(file.undo());
    assert_eq!(file.text(), "name: Ada\nother: x\n");
}

#[test]
fn answers_with_the_latest_change_in_utf16_units() {
    let mut file = open("a.yaml", FileKind::Agent, "🌱: é\nname: \"Ada\"\n".as_bytes());
    for name in ["Ada 🌱", "Ada 🌱!"] {
        let before = file.text();
        let edit = Edit::Set { pointer: "/name".to_owned(), value: json!(name) };
        let splice = file.edit(&[edit], Draft::edit_all, Some("w1")).unwrap().unwrap();
        let mut units: Vec<u16> = before.encode_utf16().collect();
        units.splice(splice.from..splice.to, splice.text.encode_utf16());
        assert_eq!(String::from_utf16(&units).unwrap(), file.text());
    }
}

const LIST: &str = "list:\n  - id: a\n    text: one # first\n  - id: b\n    text: two\nname: Ada\n";

/// Follows what another program wrote; the places of clashes.
fn follow(file: &mut OpenFile, text: &str) -> Vec<String> {
    file.follow("a.yaml", FileKind::Agent, Arc::from(text.as_bytes()));
    let clashes = file.outside.iter().flat_map(|outside| &outside.view.clashes);
    clashes.map(|clash| clash.place.clone()).collect()
}

#[test]
fn takes_entries_that_only_one_side_changed() {
    let mut file = open("a.yaml", FileKind::Agent, LIST.as_bytes());
    set(&mut file, "/list/1/text", "mine", "w1");
    assert!(follow(&mut file, &LIST.replace("one # first", "theirs # new")).is_empty());
    assert_eq!(file.text(), LIST.replace("one # first", "theirs # new").replace("two", "mine"));
    assert!(file.undo() && file.is_dirty());
}

#[test]
fn keeps_comments_that_were_written_as_text() {
    let mut file = open("a.yaml", FileKind::Agent, LIST.as_bytes());
    file.set_text(&format!("# mine\n{LIST}")).unwrap();
    assert!(follow(&mut file, &LIST.replace("Ada", "Eve")).is_empty());
    assert_eq!(file.text(), format!("# mine\n{}", LIST.replace("Ada", "Eve")));
    assert_eq!(follow(&mut file, &format!("# theirs\n{LIST}")), [""]);
}

#[test]
fn a_person_chooses_from_entries_that_both_changed() {
    let theirs = LIST.replace("two", "theirs").replace("Ada", "Eve");
    for (chosen, expected) in [(vec!["/list/b".to_owned()], "theirs"), (Vec::new(), "mine")] {
        let mut file = open("a.yaml", FileKind::Agent, LIST.as_bytes());
        set(&mut file, "/list/1/text", "mine", "w1");
        let text = file.text();
        assert_eq!(follow(&mut file, &theirs), ["/list/b"]);
        assert_eq!(file.text(), text);
        let hash = file.outside.as_ref().unwrap().view.hash.clone();
        let asked = Resolve { base: 1, hash: "other".to_owned(), theirs: chosen };
        assert!(matches!(file.resolve("a.yaml", &asked), Err(Halt::Stale)));
        file.resolve("a.yaml", &Resolve { hash, ..asked }).unwrap();
        assert_eq!(file.text(), theirs.replace("text: theirs", &format!("text: {expected}")));
        assert_eq!((file.outside.is_none(), file.is_dirty()), (true, expected == "mine"));
    }
}

#[test]
fn offers_whole_files_if_too_many_entries_differ() {
    let list = |ids: &mut dyn Iterator<Item = usize>| {
        json!({ "list": ids.map(|id| json!({ "id": id })).collect::<Vec<_>>() }).to_string()
    };
    let (base, theirs) = (list(&mut (0..5_000)), list(&mut (0..5_001)));
    let mine = list(&mut (0..5_000).rev());
    let mut file = open("a.json", FileKind::Other, base.as_bytes());
    file.set_text(&mine).unwrap();
    assert!(!file.follow("a.json", FileKind::Other, Arc::from(theirs.as_bytes())));
    let view = file.outside.as_ref().unwrap().view.clone();
    let places: Vec<&str> = view.clashes.iter().map(|clash| &*clash.place).collect();
    assert_eq!(places, [""]);
    let asked = Resolve { base: 1, hash: view.hash, theirs: vec![String::new()] };
    file.resolve("a.json", &asked).unwrap();
    assert_eq!(file.text(), theirs);
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
        assert!(file.set_text(&config.replace(old, new)).is_err(), "{new}");
    }
    file.set_text(&config.replace("gpt-5", "gpt-4o")).unwrap();
    file.set_text("[").unwrap();
    assert!(file.refuse_unreadable_config().is_err());
    file.set_text("model = \"x\"\n").unwrap_err();
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
        file.set_text(&format!("{config}{locked}")).unwrap_err();
        let edit = Edit::Set { pointer: format!("/{}", row.key), value: json!([]) };
        assert!(file.edit(&[edit], Draft::edit_all, None).is_err(), "{}", row.key);
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
    set(&mut file, "/other", "y", "w1");
    set(&mut file, "/name", "A", "w1");
    set(&mut file, "/name", "A", "w1");
    set(&mut file, "/other", "y", "w1");
    set(&mut file, "/name", "Al", "w1");
    file.set_text("name: Al\nother: y\n").unwrap();
    assert!(file.undo());
    assert_eq!(file.text(), "name: Ada\nother: y\n");
}

#[test]
fn letters_after_a_save_are_another_step() {
    let mut file = open("a.yaml", FileKind::Agent, b"name: Ada\n");
    set(&mut file, "/name", "A", "w1");
    let bytes = file.bytes();
    file.saved("a.yaml", bytes);
    set(&mut file, "/name", "Al", "w1");
    assert!(file.undo());
    assert_eq!((file.text().as_str(), file.is_dirty()), ("name: A\n", false));
}
