//! What it costs to import a large card and a folder of files, beside reading their JSON and nothing else.

use std::hint::black_box;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctx_preset_import::{Importer, SourceFile, export_card_picture};
use serde_json::{Value, json};

criterion_group!(benches, card, folder);
criterion_main!(benches);

/// The entries of the large book.
const ENTRIES: usize = 1_000;

/// The size of the picture, in bytes.
const PICTURE: usize = 5 << 20;

/// The files of the folder.
const FILES: usize = 500;

/// Has the process keep the memory of one round for the next: the system's allocator gives back what is free once it is
/// more than twice the largest block that was ever given back, and each round would pay for getting it again.
fn keep_memory() {
    drop(black_box(vec![1_u8; 30 << 20]));
}

fn entry(number: usize, words: usize) -> Value {
    json!({
        "id": number, "keys": [format!("key {number}"), format!("name {number}")], "secondary_keys": [], "comment": format!("Entry {number}"),
        "content": "It is told of the tower that nobody has counted its stairs. ".repeat(words), "constant": false, "selective": true,
        "insertion_order": number % 200, "enabled": true, "position": "before_char", "use_regex": true,
        "extensions": {
            "position": 0, "exclude_recursion": false, "display_index": number, "probability": 100, "useProbability": true, "depth": 4,
            "selectiveLogic": 0, "group": "", "group_override": false, "group_weight": 100, "prevent_recursion": false,
            "delay_until_recursion": false, "scan_depth": null, "match_whole_words": null, "use_group_scoring": false,
            "case_sensitive": null, "automation_id": "", "role": 0, "vectorized": false, "sticky": 0, "cooldown": 0, "delay": 0,
        },
    })
}

fn card_of(entries: usize, words: usize) -> Value {
    let entries: Vec<Value> = (0..entries).map(|number| entry(number, words)).collect();
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": {
        "name": "Ada", "description": "D".repeat(2_000), "first_mes": "Hi", "alternate_greetings": ["Ho"], "tags": ["a"],
        "creator_notes": "", "system_prompt": "", "post_history_instructions": "", "mes_example": "", "extensions": {},
        "character_book": { "name": "Tower", "entries": entries },
    } })
}

/// A picture of 5 MB whose card has a book of 1,000 entries, and the text of the card.
fn picture() -> (Vec<u8>, Vec<u8>) {
    // Base64 of one chunk; the other one is only walked over.
    let one = card_of(ENTRIES, 1).to_string().len();
    let each = card_of(ENTRIES, 2).to_string().len() - one;
    let words = 1 + (PICTURE * 3 / 4 - one).div_ceil(each);
    let card = card_of(ENTRIES, words);
    let text = card.to_string();
    let plain = export_card_picture(&json!({ "spec": "chara_card_v2", "data": { "name": "Ada" } }), None)
        .unwrap_or_default();
    let data = [b"ccv3\0".as_slice(), STANDARD.encode(&text).as_bytes()].concat();
    let length = u32::try_from(data.len()).unwrap_or_default().to_be_bytes();
    let (head, rest) = plain.split_at(33);
    ([head, &length, b"tEXt", &data, &[0; 4], rest].concat(), text.into_bytes())
}

fn card(criterion: &mut Criterion) {
    keep_memory();
    let (picture, text) = picture();
    let importer = Importer::default();
    let made = importer.import(&[SourceFile { name: "card.png", bytes: &picture }]);
    assert_eq!(made.worldbooks.first().map(|named| named.book.entries.len()), Some(ENTRIES));
    let mut group = criterion.benchmark_group("card of 5 MB");
    group.sample_size(20).throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("import", |bencher| {
        bencher.iter_with_large_drop(|| {
            importer.import(black_box(&[SourceFile { name: "card.png", bytes: &picture }]))
        });
    });
    group.bench_function("serde_json", |bencher| {
        bencher.iter_with_large_drop(|| serde_json::from_slice::<Value>(black_box(&text)));
    });
}

fn folder(criterion: &mut Criterion) {
    keep_memory();
    let text = |number: usize| {
        match number {
        0 => card_of(20, 4).to_string(),
        1 => json!({ "prompts": [{ "identifier": "main", "content": "M" }], "prompt_order": [], "temperature": 1 }).to_string(),
        number if number % 5 == 0 => {
            let script = json!({ "scriptName": format!("s{number}"), "findRegex": "/a+/g", "replaceString": "b", "placement": [1, 2], "trimStrings": [] });
            Value::from(vec![script; 20]).to_string()
        }
        number => {
            let entries: Vec<Value> = (0..20).map(|index| entry(index, 4)).collect();
            json!({ "spec": "lorebook_v3", "data": { "name": format!("Book {number}"), "entries": entries } }).to_string()
        }
    }
    };
    let texts: Vec<String> = (0..FILES).map(text).collect();
    let files: Vec<SourceFile<'_>> =
        texts.iter().map(|text| SourceFile { name: "file.json", bytes: text.as_bytes() }).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let importer = Importer::default();
    let mut group = criterion.benchmark_group("folder of 500 files");
    group.sample_size(20).throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("import", |bencher| {
        bencher.iter_with_large_drop(|| importer.import(black_box(&files)));
    });
    group.bench_function("serde_json", |bencher| {
        bencher.iter_with_large_drop(|| {
            texts
                .iter()
                .map(|text| serde_json::from_slice::<Value>(black_box(text.as_bytes())))
                .collect::<Vec<_>>()
        });
    });
}
