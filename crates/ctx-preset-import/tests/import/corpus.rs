//! Public files, if they are available: each has its format, a row for each leaf, and no warnings.

use std::path::{Path, PathBuf};

use ctx_preset_import::{
    Document, Format, Import, Importer, SourceFile, export_card, export_preset, read_agent, read_worldbook,
};
use ctx_types::Severity;
use serde_json::Value;

use super::count_values;

/// The kinds of the corpus with the formats of their files, and whether nearly all leaves have a meaning.
const KINDS: [(&str, &[&str], bool); 11] = [
    ("preset_cc", &["preset_cc"], true),
    ("reasoning", &["reasoning"], false),
    ("card_png_chara", &["card_v2", "card_v3"], true),
    ("instruct", &["instruct"], false),
    ("card_png_chara_ccv3", &["card_v3"], false),
    ("card_v3", &["card_v3"], true),
    ("lorebook", &["lorebook", "card_book"], true),
    ("aio_hub_preset", &["agent"], true),
    ("sysprompt", &["sysprompt"], false),
    ("regex", &["regex"], true),
    ("context", &["context"], false),
];

/// Lists the files of a kind in order. The list is empty without the corpus.
fn files(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/import").join(kind);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn import(path: &Path, bytes: &[u8]) -> Import {
    let name = path.file_name().unwrap().to_string_lossy();
    Importer::default().import(&[SourceFile { name: &name, bytes }])
}

#[test]
fn reports_format_and_each_leaf() {
    for (kind, formats, is_meant) in KINDS {
        let (mut good, mut all) = (0, 0);
        for path in files(kind) {
            let bytes = std::fs::read(&path).unwrap();
            let report = import(&path, &bytes).report.files.remove(0);
            let format = report.format.map(Format::id);
            assert!(format.is_some_and(|format| formats.contains(&format)), "{}: {format:?}", path.display());
            let counted: usize = report.fields.iter().map(|field| field.count).sum();
            if let Ok(document) = Document::read(&bytes, &report.path) {
                assert_eq!(counted, count_values(&document.value), "{}", path.display());
            }
            good += report.counts.mapped + report.counts.approximated;
            all += counted;
        }
        assert!(!is_meant || good * 100 >= all * 90, "{kind}: {good} of {all}");
    }
}

#[test]
fn reads_presets_and_books_without_warnings() {
    for path in files("aio_hub_preset") {
        let bytes = std::fs::read(&path).unwrap();
        let agent = read_agent(&bytes, "").unwrap();
        let odd = agent.diagnostics.iter().filter(|found| found.severity != Severity::Info);
        assert_eq!(odd.count(), 0, "{}: {:#?}", path.display(), agent.diagnostics);
        assert!(!agent.value.preset_messages.is_empty(), "{}", path.display());
    }
    for path in files("lorebook") {
        let book = read_worldbook(&std::fs::read(&path).unwrap(), "").unwrap();
        assert!(!book.value.entries.is_empty(), "{}", path.display());
        assert_eq!(book.diagnostics, [], "{}", path.display());
    }
}

#[test]
fn exports_cards_and_presets_unchanged() {
    for kind in ["card_v3", "preset_cc"] {
        for path in files(kind) {
            let bytes = std::fs::read(&path).unwrap();
            let before: Value = serde_json::from_slice(&bytes).unwrap();
            let made = import(&path, &bytes);
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
