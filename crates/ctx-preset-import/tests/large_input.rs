//! Small files that hold much: what would take too much memory is refused, and to find that out takes little.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "import/packed.rs"]
mod packed;

use ctx_preset_import::FileReport;
use serde_json::json;

use packed::{archive, import_bytes, picture, zero_archive, zero_blocks};

#[global_allocator]
static MEMORY: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

/// Checks that the last document of a file is refused, with the code and the message.
#[track_caller]
fn refuse(bytes: &[u8], code: &str, message: &str) {
    let made = import_bytes(bytes);
    let found = &made.report.files.last().unwrap().diagnostics[0];
    assert_eq!((found.code.to_string().as_str(), found.message.to_string().as_str()), (code, message));
}

fn book(entries: usize) -> String {
    format!("{{\"entries\":[{}]}}", vec![r#"{"keys":["a"],"content":"x"}"#; entries].join(","))
}

const HEAVY: &str = "the file has more than 250000 values (objects count as ten)";

fn refuse_many_small_objects() {
    refuse(book(20_000).as_bytes(), "CTX0605", HEAVY);
    let scripts = vec![r#"{"findRegex":"a"}"#; 30_000].join(",");
    refuse(format!("[{scripts}]").as_bytes(), "CTX0605", HEAVY);
    let chat = format!("{}\n", r#"{"mes":"a","is_user":true}"#).repeat(100_000);
    refuse(chat.as_bytes(), "CTX0605", &HEAVY.replace("250000", "1000000"));
    let numbers = "0,".repeat(3_900_000);
    let wide = format!("{{\"spec\":\"chara_card_v2\",\"data\":{{\"own\":[{numbers}0]}}}}");
    refuse(wide.as_bytes(), "CTX0605", "the document has more than 500000 values");
}

fn refuse_texts_and_files_that_inflate() {
    let body = [b"\x78\xda".as_slice(), &zero_blocks(1_024)].concat();
    let large = "cannot unpack the file: a text chunk of the image exceeds 67108864 bytes";
    for (kind, start) in
        [("zTXt", b"chara\0\0".as_slice()), ("iTXt", b"ccv3\0\x01\0\0\0"), ("zTXt", b"chara-ext-asset_a\0\0")]
    {
        refuse(&picture(&[(kind, &[start, &body].concat())]), "CTX0608", large);
    }
    let large =
        |limit: usize| format!("cannot unpack the file: the files in the archive exceed {limit} bytes");
    refuse(&zero_archive(&[100]), "CTX0608", &large(64 << 20));
    refuse(&zero_archive(&[60, 60, 60]), "CTX0608", &large((128 << 20) - (120 << 20)));
}

fn refuse_more_than_a_file_may_hold_in_all() {
    let many = format!("{{\"entries\":{{}},\"name\":\"n\",\"x\":[{}0]}}", "0,".repeat(300_000));
    let made =
        import_bytes(&archive(&["a.json", "b.json", "c.json", "d.json"].map(|name| (name, many.as_bytes()))));
    let count = |file: &FileReport| file.fields.iter().map(|field| field.count).sum();
    let told: Vec<usize> = made.report.files.iter().map(count).collect();
    assert_eq!(told, [300_003, 300_003, 300_003, 0]);
    assert_eq!(made.report.files[3].diagnostics[0].code.to_string(), "CTX0605");
    let large = json!({ "entries": {}, "name": "n", "x": "x".repeat(13 << 20) }).to_string();
    let made = import_bytes(&archive(&["a.json", "b.json"].map(|name| (name, large.as_bytes()))));
    assert_eq!(made.report.files[1].diagnostics[0].code.to_string(), "CTX0600");
}

fn import_a_long_name_over_many_fields() {
    let card = json!({ "spec": "chara_card_v2", "data": { "k".repeat(1 << 20): vec![0; 100_000] } });
    let made = import_bytes(card.to_string().as_bytes());
    assert_eq!(made.report.files[0].fields.len(), 2);
}

fn import_many_unknown_fields() {
    let fields: serde_json::Map<_, _> = (0..200_000).map(|n| (format!("x{n}"), json!(n))).collect();
    let made = import_bytes(json!({ "spec": "chara_card_v2", "data": fields }).to_string().as_bytes());
    assert!(made.report.files[0].fields.len() < 10_010, "{}", made.report.files[0].fields.len());
}

fn refuse_texts_that_become_objects() {
    let card = json!({ "spec": "chara_card_v2", "data": { "alternate_greetings": vec!["a"; 230_000] } });
    refuse(card.to_string().as_bytes(), "CTX0605", HEAVY);
}

fn divide_no_endless_texts() {
    let keys = "a,".repeat(5 << 20);
    for book in [
        json!({ "entries": { "0": { "uid": 0, "key": keys, "content": "x" } } }),
        json!({ "type": "risu", "data": [{ "key": keys, "content": "x" }] }),
    ] {
        let made = import_bytes(book.to_string().as_bytes());
        let found = &made.worldbooks[0].book.entries.in_order().next().unwrap().1.key;
        assert!(found.is_empty(), "{}", found.len());
        assert_eq!(made.diagnostics().next().unwrap().code.to_string(), "CTX0100");
    }
    for part in ["{{description}}{{#if x}}", "{{#if persona}}", "{{", "a {{scenario}} "] {
        let story = json!({ "story_string": part.repeat(1 << 19), "chat_start": "" });
        let made = import_bytes(story.to_string().as_bytes());
        let entries = made.agent.unwrap().preset_messages.len();
        assert!(entries < 1_100, "{part}: {entries}");
    }
}

fn refuse_a_bundle_without_an_archive() {
    let text = format!("{{\"type\":\"AIO_Agent_Bundle\",\"x\":[{}0]}}", "0,".repeat(4_000_000));
    let many = "the document has more than 500000 values";
    refuse(&picture(&[("tEXt", &[b"aiob\0".as_slice(), text.as_bytes()].concat())]), "CTX0605", many);
    refuse(text.as_bytes(), "CTX0605", many);
    let yaml = format!("type: AIO_Agent_Bundle\nx:\n{}", "- 0\n".repeat(2_200_000));
    let made = import_bytes(yaml.as_bytes());
    assert_eq!(made.report.files[0].diagnostics[0].code.to_string(), "CTX0600");
}

fn import_many_messages_with_calls() {
    let messages = vec![r#"{"role":"assistant","tool_calls":[]}"#; 80_000].join(",");
    let made = import_bytes(format!("[{messages}]").as_bytes());
    assert_eq!(made.conversations[0].session.nodes().count(), 80_001);
}

/// What is small after what is large keeps no room that it has no use for.
fn import_small_objects_after_large_ones() {
    let large = (0..57).map(|number| format!("\"{number}\":0")).collect::<Vec<_>>().join(",");
    let pair = format!(
        "{{\"is_user\":true,\"mes\":\"a\",\"extra\":{{{large}}}}}\n{{\"mes\":\"b\",\"extra\":{{}}}}\n"
    );
    let made = import_bytes(pair.repeat(7_800).as_bytes());
    assert_eq!(made.conversations[0].session.nodes().count(), 15_601);
}

fn import_an_agent_with_many_books() {
    let item = r#"{"id":"b","content":{"entries":{"0":{"uid":0,"key":["a"]}}}}"#;
    let items = vec![item; 5_000].join(",");
    let agent = format!(r#"{{"name":"A","presetMessages":[],"bundledWorldbooks":[{items}]}}"#);
    let made = import_bytes(agent.as_bytes());
    assert_eq!((made.worldbooks.len(), made.report.files[0].format.is_some()), (1, true));
}

/// Each entry says another part of its fields twice.
fn import_entries_of_many_kinds() {
    let fields = ["probability", "depth", "group", "role", "sticky", "cooldown", "delay", "vectorized"];
    let renamed =
        [("scan_depth", "scanDepth"), ("group_weight", "groupWeight"), ("outlet_name", "outletName")];
    let names: Vec<(&str, &str)> = fields.iter().map(|name| (*name, *name)).chain(renamed).collect();
    let entry = |number: usize| {
        let mut entry = json!({ "uid": number, "key": ["a"], "content": "x", "extensions": {} });
        for (_, (theirs, ours)) in names.iter().enumerate().filter(|(bit, _)| number >> bit & 1 == 1) {
            entry["extensions"][*theirs] = 1.into();
            entry[*ours] = 1.into();
        }
        (number.to_string(), entry)
    };
    let entries: serde_json::Map<_, _> = (0..2_000).map(entry).collect();
    let made = import_bytes(json!({ "entries": entries }).to_string().as_bytes());
    let mut rows = made.report.files[0].fields.iter();
    let row = rows.find(|row| row.pointer == "/entries/*/extensions/probability").unwrap();
    assert_eq!((row.status.to_string().as_str(), row.count), ("approximated", 1_000));
}

fn import_a_book_of_many_entries() {
    assert_eq!(import_bytes(book(10_000).as_bytes()).worldbooks[0].book.entries.len(), 10_000);
}

/// One test, so that nothing else of the process counts.
#[test]
fn reads_or_refuses_small_files_in_little_memory() {
    for (name, case) in [
        ("many small objects", refuse_many_small_objects as fn()),
        ("inflating texts and files", refuse_texts_and_files_that_inflate),
        ("more than a file may hold", refuse_more_than_a_file_may_hold_in_all),
        ("long name", import_a_long_name_over_many_fields),
        ("unknown fields", import_many_unknown_fields),
        ("bundle without an archive", refuse_a_bundle_without_an_archive),
        ("texts that become objects", refuse_texts_that_become_objects),
        ("endless texts", divide_no_endless_texts),
        ("small objects after large ones", import_small_objects_after_large_ones),
        ("messages with calls", import_many_messages_with_calls),
        ("entries of many kinds", import_entries_of_many_kinds),
        ("agent with many books", import_an_agent_with_many_books),
        ("book of many entries", import_a_book_of_many_entries),
    ] {
        MEMORY.reset_peak_usage();
        case();
        let peak = MEMORY.peak_usage() >> 20;
        assert!(peak < 250, "{name}: {peak} MiB");
    }
}
