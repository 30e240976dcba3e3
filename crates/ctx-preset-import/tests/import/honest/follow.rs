//! Property of the report of any files: each leaf is in one row, a mapped row leads to its values, and kept values are
//! unchanged.

use std::path::{Path, PathBuf};

use ctx_preset_import::{Document, FieldReport, FieldStatus, Import, Importer, Limits, SourceFile};
use ctx_types::Persist;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{check_coverage, files, leaves, matches, others};
use crate::count_values;

/// Returns all that was made, by the places that rows name.
pub(crate) fn made_of(made: &Import) -> Value {
    let mut all = made.agent.as_ref().map_or_else(|| json!({}), Persist::write);
    all["worldbooks"] = made.worldbooks.iter().map(|named| named.book.write()).collect();
    all["conversations"] = made.conversations.iter().map(|named| named.session.write()).collect();
    let others =
        [("profile", made.profile.as_ref().map(Persist::write)), ("template", made.template.clone())];
    for (key, value) in others {
        if let Some(value) = value {
            all[key] = value;
        }
    }
    all
}

/// Describes a wrong row; `None` for a true one. Empty values need not be written.
fn untruth(row: &FieldReport, given: &[&Value], all: &Value) -> Option<String> {
    let to = row.to.as_deref();
    let found = to.map(|to| matches(all, to)).unwrap_or_default();
    let near = to.map(|to| nearest(all, to)).unwrap_or_default();
    let has = |given: &Value| match row.status {
        FieldStatus::Mapped => near.iter().any(|found| is_within(given, found)),
        FieldStatus::Approximated => !near.is_empty(),
        FieldStatus::Kept => found.contains(&given),
        FieldStatus::Unsupported => to.is_none(),
    };
    let true_values = given.iter().filter(|given| has(given)).map(|given| count_values(given)).sum::<usize>();
    (true_values < row.count).then(|| {
        let given: Vec<String> = given.iter().map(ToString::to_string).collect();
        format!("{} {given:?} ×{} is {} at {to:?}, where {found:?} is", row.pointer, row.count, row.status)
    })
}

/// Returns the values at a place, or at the nearest place around it.
fn nearest<'v>(all: &'v Value, mut place: &str) -> Vec<&'v Value> {
    loop {
        let found = matches(all, place);
        match place.rsplit_once('/') {
            Some((around, _)) if found.is_empty() => place = around,
            _ => return found,
        }
    }
}

/// Returns whether a text that is mapped may be in an object: some field of it has the text then.
fn is_within(given: &Value, found: &Value) -> bool {
    match given.as_str().map(str::trim) {
        None | Some("") => true,
        Some(text) => {
            !found.is_object() || found.to_string().contains(json!(text).to_string().trim_matches('"'))
        }
    }
}

/// Returns what is wrong with the rows of files.
fn untruths(documents: &[Value], made: &Import) -> Vec<String> {
    let all = made_of(made);
    let rows = documents.iter().zip(&made.report.files).flat_map(|(document, file)| {
        let format = file.format.map_or("?", |format| format.id());
        file.fields
            .iter()
            .filter_map(|row| {
                let given = matches(document, &row.pointer);
                Some(format!("{format}: {}", untruth(row, &given, &all)?))
            })
            .collect::<Vec<_>>()
    });
    rows.collect()
}

fn import_files(documents: &[Value]) -> Import {
    let texts: Vec<String> = documents.iter().map(Value::to_string).collect();
    let sources: Vec<SourceFile<'_>> =
        texts.iter().map(|text| SourceFile { name: "file.json", bytes: text.as_bytes() }).collect();
    Importer::default().import(&sources)
}

#[track_caller]
fn check(documents: &[Value]) {
    let made = import_files(documents);
    for (document, file) in documents.iter().zip(&made.report.files) {
        check_coverage(document, &file.fields);
    }
    let wrong = untruths(documents, &made);
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), json!(documents));
}

/// A file of any kind, in half of them with one leaf of any other type.
fn any_file() -> BoxedStrategy<Value> {
    let broken = (file_of_a_kind(), any::<prop::sample::Index>(), files::wrong());
    let broken = broken.prop_map(|(mut file, chosen, wrong)| {
        let mut pointers = Vec::new();
        leaves(&file, "", &mut pointers);
        *file.pointer_mut(&pointers[chosen.index(pointers.len())]).unwrap() = wrong;
        file
    });
    prop_oneof![file_of_a_kind(), broken].boxed()
}

fn file_of_a_kind() -> BoxedStrategy<Value> {
    prop_oneof![
        files::card(),
        files::preset(),
        files::scripts(),
        files::aio(),
        others::lorebook(),
        others::chat(),
        others::messages(),
        others::session(),
        others::personas(),
        others::settings(),
        others::profile(),
        others::template(),
        others::risu(),
        others::unknown(),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_row_of_a_file_leads_to_its_place(file in any_file()) {
        check(&[file]);
    }

    #[test]
    fn each_row_of_files_that_meet_leads_to_its_place(files in prop::collection::vec(any_file(), 2..5)) {
        check(&files);
    }
}

/// Returns the files below a folder, the first ones first.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn each_row_of_a_file_that_is_at_hand_leads_to_its_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    for folder in ["fixtures/import", "fixtures/migrate", "../shared/corpus/import"] {
        for path in files_below(&root.join(folder)) {
            let bytes = std::fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy();
            let made = Importer::default().import(&[SourceFile { name: &name, bytes: &bytes }]);
            let Ok(document) = Document::read(&bytes, &name, &Limits::default()) else { continue };
            let wrong = untruths(&[document.value], &made);
            assert!(wrong.is_empty(), "{}\n{}", path.display(), wrong.join("\n"));
        }
    }
}

#[test]
fn a_row_says_what_wins() {
    let profile = json!({ "content": "Tea.", "name": "Kim", "displayName": "Kim" });
    let personas = json!({
        "personas": { "k.png": "Lee" },
        "persona_descriptions": { "k.png": { "description": "Coffee.", "position": 0, "lorebook": "b" } },
    });
    let made = import_files(&[personas, profile]);
    let rows: Vec<String> = made.report.files[0].fields.iter().map(super::show_row).collect();
    assert_eq!(
        rows,
        [
            "/personas/* kept /imported/personas/personas/*",
            "/persona_descriptions/*/description kept /imported/personas/persona_descriptions/*/description",
            "/persona_descriptions/*/position mapped /presetMessages",
            "/persona_descriptions/*/lorebook kept /imported/personas/persona_descriptions/*/lorebook",
        ]
    );
}

/// Checks what a document's rows say: pointer, status and place of each.
#[track_caller]
fn check_rows(document: &Value, expected: &[&str]) {
    let made = import_files(std::slice::from_ref(document));
    let rows: Vec<String> = made.report.files[0].fields.iter().map(super::show_row).collect();
    assert_eq!(rows, expected, "{rows:#?}");
}

#[test]
fn a_row_of_a_chat_a_book_or_a_module_tells_its_place() {
    check_rows(
        &json!([
            { "user_name": "Kim", "chat_metadata": { "note_prompt": "N", "note_depth": 2, "tainted": true } },
            { "name": "Ada", "is_user": false, "mes": "Hi", "extra": { "reasoning": "r" }, "id": 5, "gen": 1 },
        ]),
        &[
            "/*/user_name mapped /conversations/0/user_name",
            "/*/chat_metadata/note_prompt mapped /conversations/0/authorNote/content",
            "/*/chat_metadata/note_depth mapped /conversations/0/authorNote/injectionStrategy/depth",
            "/*/chat_metadata/tainted kept /conversations/0/chat_metadata/tainted",
            "/*/name mapped /conversations/0/nodes/*/name",
            "/*/is_user mapped /conversations/0/nodes/*/role",
            "/*/mes mapped /conversations/0/nodes/*/content",
            "/*/extra/reasoning mapped /conversations/0/nodes/*/metadata/reasoningContent",
            "/*/id kept /conversations/0/nodes/*/imported/id",
            "/*/gen kept /conversations/0/nodes/*/gen",
        ],
    );
    check_rows(
        &json!([
            { "role": "assistant", "id": "a", "tool_calls": [{ "function": { "name": "n" } }, 5], "createdAt": "t" },
            null,
            { "role": "robot", "id": "a", "timestamp": "s", "createdAt": "t", "parentId": "p", "imported": 1 },
        ]),
        &[
            "/*/role mapped /conversations/0/nodes/*/role",
            "/*/id mapped /conversations/0/nodes/*/id",
            "/*/tool_calls/* approximated /conversations/0/nodes/*/toolCalls",
            "/*/tool_calls/* kept /conversations/0/nodes/*/imported/tool_calls/*",
            "/*/createdAt mapped /conversations/0/nodes/*/timestamp",
            "/* kept /conversations/0/nodes/*",
            "/*/role kept /conversations/0/nodes/*/imported/role",
            "/*/id unsupported -",
            "/*/timestamp mapped /conversations/0/nodes/*/timestamp",
            "/*/createdAt kept /conversations/0/nodes/*/createdAt",
            "/*/parentId kept /conversations/0/nodes/*/imported/parentId",
            "/*/imported kept /conversations/0/nodes/*/imported/imported",
        ],
    );
    check_rows(
        &json!({ "kind": "memory", "entries": [{ "keywords": ["k"], "entry": "e", "own": 1 }] }),
        &[
            "/kind kept /worldbooks/0/imported/file/kind",
            "/entries/*/keywords/* mapped /worldbooks/0/entries/*/key",
            "/entries/*/entry mapped /worldbooks/0/entries/*/content",
            "/entries/*/own kept /worldbooks/0/entries/*/imported/own",
        ],
    );
    check_rows(
        &json!({ "entries": { "7": { "key": ["k"], "content": "c", "own": 1, "depth": "x" } }, "name": 5 }),
        &[
            "/entries/*/key mapped /worldbooks/0/entries/*/key",
            "/entries/*/content mapped /worldbooks/0/entries/*/content",
            "/entries/*/own kept /worldbooks/0/entries/*/own",
            "/entries/*/depth kept /worldbooks/0/entries/*/depth",
            "/name kept /worldbooks/0/imported/name",
        ],
    );
    check_rows(
        &json!({
            "type": "risuModule", "lorebook": [{ "key": "k", "content": "c", "mode": "x" }], "regex": [{ "in": "a" }],
        }),
        &[
            "/type kept /imported/risu_module/type",
            "/lorebook/*/key mapped /worldbooks/0/entries/*/key",
            "/lorebook/*/content mapped /worldbooks/0/entries/*/content",
            "/lorebook/*/mode kept /imported/risu_module/lorebook/*/mode",
            "/regex/*/in approximated /regexConfig/presets/0/rules/*/regex",
        ],
    );
}
