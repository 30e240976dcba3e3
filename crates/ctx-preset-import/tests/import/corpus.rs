//! Public files of the specification, where they are at hand: each is told for what it is, and each leaf has a row.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ctx_preset_import::{
    Document, FieldStatus, FileReport, Importer, Limits, SourceFile, export_card, export_preset,
};
use serde_json::Value;

use super::count_values;

/// The kinds of the corpus with the formats that their files may have.
const FORMATS: [(&str, &[&str]); 11] = [
    ("preset_cc", &["preset_cc"]),
    ("reasoning", &["reasoning"]),
    ("card_png_chara", &["card_v2", "card_v3"]),
    ("instruct", &["instruct"]),
    ("card_png_chara_ccv3", &["card_v3"]),
    ("card_v3", &["card_v3"]),
    ("lorebook", &["lorebook", "card_book"]),
    ("aio_hub_preset", &["agent"]),
    ("sysprompt", &["sysprompt"]),
    ("regex", &["regex"]),
    ("context", &["context"]),
];

/// The kinds of which nearly all leaves have a meaning here.
const MEANT: [&str; 6] = ["card_png_chara", "card_v3", "lorebook", "preset_cc", "regex", "aio_hub_preset"];

fn corpus() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let folder = root.join("../shared/corpus/import");
    folder.is_dir().then_some(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

#[test]
fn every_file_is_told_for_what_it_is_and_each_leaf_has_a_row() {
    let Some(folder) = corpus() else { return };
    let mut shares: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (kind, formats) in FORMATS {
        for path in files(&folder.join(kind)) {
            let report = report(&path);
            let format = report.format.map(ctx_preset_import::Format::id);
            assert!(format.is_some_and(|format| formats.contains(&format)), "{}: {format:?}", path.display());
            let bytes = std::fs::read(&path).unwrap();
            if let Ok(document) = Document::read(&bytes, &report.path, &Limits::default()) {
                let counted: usize = report.fields.iter().map(|field| field.count).sum();
                assert_eq!(counted, count_values(&document.value), "{}", path.display());
            }
            let good = report.count(FieldStatus::Mapped) + report.count(FieldStatus::Approximated);
            let share = shares.entry(kind).or_default();
            *share = (share.0 + good, share.1 + report.fields.iter().map(|field| field.count).sum::<usize>());
        }
    }
    println!("{shares:#?}");
    for kind in MEANT {
        let (good, all) = shares[kind];
        assert!(good * 100 >= all * 90, "{kind}: {good} of {all}");
    }
}

fn report(path: &Path) -> FileReport {
    let bytes = std::fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy();
    let made = Importer::default().import(&[SourceFile { name: &name, bytes: &bytes }]);
    made.report.files.into_iter().next().unwrap()
}

#[test]
fn cards_and_presets_come_back_as_they_were() {
    let Some(folder) = corpus() else { return };
    for kind in ["card_v3", "preset_cc"] {
        for path in files(&folder.join(kind)) {
            let bytes = std::fs::read(&path).unwrap();
            let before: Value = serde_json::from_slice(&bytes).unwrap();
            let made = Importer::default().import(&[SourceFile { name: "file", bytes: &bytes }]);
            let agent = made.agent.unwrap();
            let book = made.worldbooks.first().map(|named| &named.book);
            let after = if kind == "card_v3" { export_card(&agent, book) } else { export_preset(&agent).0 };
            assert_eq!(without_book_names(after), without_book_names(before), "{}", path.display());
        }
    }
}

/// A book without a name has one after it was imported.
fn without_book_names(mut card: Value) -> Value {
    if let Some(book) = card.pointer_mut("/data/character_book").and_then(Value::as_object_mut) {
        book.remove("name");
    }
    card
}
