//! Temporary: writes what became of many documents, to compare.
use std::fmt::Write as _;

use ctx_preset_import::{Format, ImportOptions, SourceFile, import};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

fn put(out: &mut String, files: &[Value], format: Option<Format>) {
    let texts: Vec<String> = files.iter().map(Value::to_string).collect();
    let named: Vec<String> = (0..files.len()).map(|index| format!("f{index}.json")).collect();
    let given: Vec<SourceFile<'_>> =
        texts.iter().zip(&named).map(|(text, name)| SourceFile { name, bytes: text.as_bytes() }).collect();
    let mut options = ImportOptions::default();
    options.format = format;
    let made = import(&given, &options);
    writeln!(out, "#### {texts:?}").unwrap();
    for file in &made.report.files {
        writeln!(out, "## {} {:?}", file.path, file.format).unwrap();
        for row in file.fields.iter() {
            writeln!(out, "{} {} {:?} {:?}", row.pointer, row.status, row.to, row.note).unwrap();
        }
        writeln!(out, "{:?}", file.diagnostics).unwrap();
    }
    writeln!(out, "{:?}\n{:?}\n{:?}", made.agent, made.worldbooks, made.profile).unwrap();
}

#[test]
fn dump() {
    let Ok(path) = std::env::var("DUMP") else { return };
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let mut out = String::new();
    let preset = json!({ "prompts": [], "prompt_order": [], "temperature": 1 });
    let card = json!({ "spec": "chara_card_v2", "data": { "name": "Ada", "description": "D" } });
    let agent = json!({ "presetMessages": [{ "type": "chat_history" }] });
    let hand = [
        json!({ "lorebookVersion": 5, "entries": [1, "x", null, {}, { "keys": "a, b", "text": 5, "enabled": "no" }] }),
        json!({ "lorebookVersion": 5, "entries": { "a": { "keys": ["k"], "text": "t" } } }),
        json!({ "lorebookVersion": 5, "entries": [], "name": 5 }),
        json!({ "kind": "memory", "name": "N", "entries": [{ "keywords": ["k", 1, null], "entry": "t", "weight": "7", "imported": { "a": 1 }, "content": "own" }], "imported": 1 }),
        json!({ "kind": "memory", "entries": 5 }),
        json!({ "type": "risu", "data": [[], { "key": "a,b", "secondkey": 5, "content": null, "key2": [], "insertorder": {"a": 1}, "enabled": false }], "data2": 1, "name": null }),
        json!({ "type": "risu", "data": [{ "key": "a,".repeat(5000), "content": "x" }] }),
        json!({ "type": "risu", "data": {} , "entries": [{ "key": ["k"], "content": "c" }] }),
        json!({ "type": "risuModule", "lorebook": [5, { "key": "a", "imported": 1 }, { "key": ["x"] }], "regex": [{ "in": "" }, 5, { "in": 5, "flag": "gi", "ableFlag": true }], "name": " " }),
        json!({ "type": "risuModule", "module": { "lorebook": [], "regex": {}, "name": "M" }, "beside": 1 }),
        json!({ "type": "risuModule", "module": 5, "lorebook": { "a": 1 }, "name": 5 }),
        json!({ "promptTemplate": [{ "type": "plain", "text": "a", "type2": "main" }, { "type": "plain", "text": 5, "type2": "main" }, 5, { "type": "plain", "type2": "globalNote", "text": "x", "name": 1, "role": 5 }, { "type": "chat" }, { "type": "chat" }, { "type": "persona", "innerFormat": "{{slot}}" }], "mainPrompt": "m", "temperature": "80", "top_p": -1 }),
        json!({ "promptTemplate": {}, "mainPrompt": "m", "globalNote": " ", "PresensePenalty": 50.5, "maxResponse": null, "maxContext": 5000 }),
        json!({ "promptTemplate": [{ "type": "unknown" }], "mainPrompt": 5, "globalNote": "g", "temperature": [] }),
        json!([{ "promptTemplate": 1 }]),
    ];
    let forms =
        [None, Format::parse("other_lorebook"), Format::parse("risu_preset"), Format::parse("risu_module")];
    let mut cases: Vec<Value> = hand.to_vec();
    for _ in 0..400 {
        cases.push(super::others::risu().new_tree(&mut runner).unwrap().current());
        cases.push(super::others::lorebook().new_tree(&mut runner).unwrap().current());
    }
    for (index, case) in cases.iter().enumerate() {
        forms.iter().for_each(|format| put(&mut out, std::slice::from_ref(case), *format));
        put(&mut out, &[case.clone(), case.clone(), card.clone()], None);
        put(&mut out, &[card.clone(), case.clone(), cases[(index + 1) % cases.len()].clone()], None);
        put(&mut out, &[preset.clone(), case.clone()], None);
        put(&mut out, &[agent.clone(), case.clone()], None);
        for extra in
            [json!({}), json!({ "id": "b" }), json!({ "id": "b", "name": "B", "fileName": "f1.json" })]
        {
            let mut item = extra;
            item["content"] = case.clone();
            let bundled = json!({ "presetMessages": [{ "type": "chat_history" }], "worldbookIds": ["b"], "bundledWorldbooks": [item] });
            put(&mut out, std::slice::from_ref(&bundled), None);
            let export = json!({ "version": 1, "type": "AIO_Agent_Export", "agents": [bundled], "x": 1 });
            put(&mut out, &[export], None);
        }
    }
    std::fs::write(path, out).unwrap();
}
