//! The report is true: each leaf is in one row, mapped and kept values are exported again, mapped values have an effect,
//! and rows lead to their values.

mod files;
mod others;

use std::path::{Path, PathBuf};

use ctx_preset_import::{
    Document, FieldReport, FieldStatus, Format, Import, Importer, SourceFile, detect, export_agent,
    export_card, export_lorebook, export_preset, export_regex_scripts, read_conversation, read_worldbook,
};
use ctx_types::worldbook::Worldbook;
use ctx_types::{Persist, Reader};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::{agent_of, count_values, covers, import_all, strip_kept};

/// Imports a document, with its format named by hand: the report is true even without a certain format.
fn import_named(document: &Value) -> Import {
    let (text, name) = (document.to_string(), "file.json");
    let bytes = text.as_bytes();
    let format = detect(bytes, name);
    let format = format.or_else(|_| read_worldbook(bytes, name).map(|book| book.format));
    let mut importer = Importer::default();
    importer.format = format.or_else(|_| read_conversation(bytes, name).map(|chat| chat.format)).ok();
    importer.import(&[SourceFile { name, bytes }])
}

/// Imports a document, and reads the result from its written form.
fn import_again(document: &Value) -> Import {
    let made = import_named(document);
    let mut made = Import { agent: made.agent.map(|agent| agent_of(agent.write())), ..made };
    for named in &mut made.worldbooks {
        named.book = Worldbook::read(named.book.write(), &mut Reader::new());
    }
    made
}

/// Returns the values at a pointer with `*` for all items of a list or entries of an object.
fn matches<'v>(value: &'v Value, pattern: &str) -> Vec<&'v Value> {
    let step = |around: Vec<&'v Value>, step: &str| -> Vec<&'v Value> {
        let step = step.replace("~1", "/").replace("~0", "~");
        let below = around.into_iter().flat_map(|value| match (value, &*step) {
            (Value::Array(items), "*") => items.iter().collect(),
            (Value::Object(map), "*") => map.values().collect(),
            (Value::Array(items), step) => {
                step.parse().ok().and_then(|at: usize| items.get(at)).into_iter().collect()
            }
            (value, step) => value.get(step).into_iter().collect::<Vec<_>>(),
        });
        below.collect()
    };
    pattern.split('/').skip(1).fold(vec![value], step)
}

/// Returns the pointers of all leaves of a document.
fn leaves(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    add_leaves(document, "", &mut found);
    found
}

fn add_leaves(value: &Value, pointer: &str, found: &mut Vec<String>) {
    let step = |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| add_leaves(value, &step(key), found));
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| add_leaves(value, &step(&index.to_string()), found));
        }
        _ => found.push(pointer.to_owned()),
    }
}

/// Checks that each leaf of a document is in one row.
#[track_caller]
fn check_coverage(document: &Value, rows: &[FieldReport]) {
    let counted: usize = rows.iter().map(|row| row.count).sum();
    assert_eq!(counted, count_values(document), "{document}\n{rows:#?}");
    for pointer in leaves(document) {
        assert!(rows.iter().any(|row| covers(&row.pointer, &pointer)), "{pointer} has no row in {document}");
    }
}

/// Writes the file of another application.
type Export = fn(&Import) -> Value;

fn to_card(made: &Import) -> Value {
    export_card(made.agent.as_ref().unwrap(), made.worldbooks.first().map(|named| &named.book))
}

fn to_preset(made: &Import) -> Value {
    export_preset(made.agent.as_ref().unwrap()).0
}

fn to_book(made: &Import) -> Value {
    export_lorebook(&made.worldbooks.first().unwrap().book)
}

fn to_scripts(made: &Import) -> Value {
    let config = made.agent.as_ref().unwrap().regex_config.as_ref();
    config.and_then(|config| config.presets.first()).map_or_else(|| json!([]), export_regex_scripts)
}

fn to_aio(made: &Import) -> Value {
    let books: Vec<_> = made.worldbooks.iter().map(|named| (&*named.name, &named.book)).collect();
    export_agent(made.agent.as_ref().unwrap(), &books)
}

fn rows_of(made: &Import) -> &[FieldReport] {
    &made.report.files[0].fields
}

/// Checks the rows of a document, and that it comes back. A script that is not in a list comes back as a list of one.
#[track_caller]
fn check(document: &Value, formats: &[&str], export: Export) {
    let made = import_again(document);
    let format = made.report.files[0].format.map(Format::id).unwrap_or_default();
    assert!(formats.contains(&format), "{format} {document}");
    check_coverage(document, rows_of(&made));
    let back = export(&made);
    let back = match document {
        Value::Object(script) if script.contains_key("findRegex") => back[0].clone(),
        _ => back,
    };
    let is_back = |row: &FieldReport| matches!(row.status, FieldStatus::Mapped | FieldStatus::Kept);
    let pointers = leaves(document);
    for row in rows_of(&made).iter().filter(|row| is_back(row)) {
        let same_rows = rows_of(&made).iter().filter(|other| other.pointer == row.pointer && is_back(other));
        let expected: usize = same_rows.map(|row| row.count).sum();
        let is_same = |pointer: &&String| {
            covers(&row.pointer, pointer) && document.pointer(pointer) == back.pointer(pointer)
        };
        let found = pointers.iter().filter(is_same).count();
        assert!(found >= expected, "{} is {} in {document} and {back}", row.pointer, row.status);
    }
    // From then on nothing changes.
    let once = export(&made);
    assert_eq!(export(&import_again(&once)), once);
}

/// Returns the result without values that are only kept.
fn outcome(document: &Value) -> Value {
    let mut outcome = made_of(&import_named(document));
    strip_kept(&mut outcome);
    outcome
}

/// Returns other values that a leaf could have.
fn others(leaf: &Value) -> Vec<Value> {
    match leaf {
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Number(number) => {
            let next = number.as_f64().unwrap_or_default() + 1.0;
            vec![json!(next), json!(0), json!(1), json!(2), json!(3)]
        }
        Value::String(text) => {
            let words = ["x", "1", "2", "user", "assistant", "main", "after_char", "before_char"];
            std::iter::once(json!(format!("{text}x"))).chain(words.map(Value::from)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns whether the result is the same without a step of a list: a prompt listed twice, or a marker that has its
/// place without the list too. The pointer is that of its identifier.
fn is_redundant_step(document: &Value, pointer: &str) -> bool {
    const MARKERS: [&str; 7] = [
        "chatHistory",
        "worldInfoBefore",
        "worldInfoAfter",
        "charDescription",
        "charPersonality",
        "scenario",
        "personaDescription",
    ];
    let Some((list, number)) = pointer.strip_suffix("/identifier").and_then(|step| step.rsplit_once('/'))
    else {
        return false;
    };
    let identifier = document.pointer(pointer);
    let steps = document.pointer(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if steps.iter().filter(|step| step.get("identifier") == identifier).count() > 1 {
        return true;
    }
    let is_marker = identifier.and_then(Value::as_str).is_some_and(|id| MARKERS.contains(&id));
    if !is_marker || !pointer.starts_with("/prompt_order/") {
        return false;
    }
    let mut without = document.clone();
    without.pointer_mut(list).and_then(Value::as_array_mut).unwrap().remove(number.parse().unwrap());
    outcome(&without) == outcome(document)
}

/// Checks that other values of a mapped leaf have another result.
#[track_caller]
fn check_effect(document: &Value, chosen: Index) {
    let made = import_named(document);
    let mut mapped = leaves(document);
    mapped.retain(|pointer| {
        let mut rows = rows_of(&made).iter().filter(|row| covers(&row.pointer, pointer));
        rows.all(|row| row.status == FieldStatus::Mapped)
            && !others(document.pointer(pointer).unwrap()).is_empty()
            && !is_redundant_step(document, pointer)
    });
    if mapped.is_empty() {
        return;
    }
    let pointer = &mapped[chosen.index(mapped.len())];
    let before = outcome(document);
    let has_effect = others(document.pointer(pointer).unwrap()).into_iter().any(|other| {
        let mut changed = document.clone();
        *changed.pointer_mut(pointer).unwrap() = other;
        outcome(&changed) != before
    });
    assert!(has_effect, "{pointer} is mapped without effect in {document}");
}

const CARDS: [&str; 4] = ["card_v1", "card_v2", "card_v3", "card_pygmalion"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reports_cards_truly(card in files::card(), chosen in any::<Index>()) {
        check(&card, &CARDS, to_card);
        check_effect(&card, chosen);
    }

    #[test]
    fn reports_presets_truly(preset in files::preset(), chosen in any::<Index>()) {
        check(&preset, &["preset_cc"], to_preset);
        check_effect(&preset, chosen);
    }

    #[test]
    fn reports_books_truly(book in files::book(), chosen in any::<Index>()) {
        check(&book, &["lorebook", "card_book", "other_lorebook"], to_book);
        check_effect(&book, chosen);
    }

    #[test]
    fn reports_scripts_truly(scripts in files::scripts(), chosen in any::<Index>()) {
        check(&scripts, &["regex"], to_scripts);
        check_effect(&scripts, chosen);
    }
}

/// Returns the results of an import by the places in rows.
fn made_of(made: &Import) -> Value {
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

/// Returns whether a mapped text may be in an object: some field of it has the text then.
fn is_within(given: &Value, found: &Value) -> bool {
    match given.as_str().map(str::trim) {
        None | Some("") => true,
        Some(text) => {
            !found.is_object() || found.to_string().contains(json!(text).to_string().trim_matches('"'))
        }
    }
}

/// Describes the wrong rows of files.
fn untruths(documents: &[Value], made: &Import) -> Vec<String> {
    let all = made_of(made);
    let mut wrong = Vec::new();
    for (document, file) in documents.iter().zip(&made.report.files) {
        let format = file.format.map_or("?", Format::id);
        let untruths =
            file.fields.iter().filter_map(|row| untruth(row, &matches(document, &row.pointer), &all));
        wrong.extend(untruths.map(|untruth| format!("{format}: {untruth}")));
    }
    wrong
}

#[track_caller]
fn check_rows(documents: &[Value]) {
    let made = import_all(&documents.iter().map(|value| ("file.json", value.clone())).collect::<Vec<_>>());
    for (document, file) in documents.iter().zip(&made.report.files) {
        check_coverage(document, &file.fields);
    }
    let wrong = untruths(documents, &made);
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), json!(documents));
}

/// A file of any kind, in half of them with one leaf of any other type.
fn any_file() -> BoxedStrategy<Value> {
    let broken = (file_of_a_kind(), any::<Index>(), files::wrong());
    let broken = broken.prop_map(|(mut file, chosen, wrong)| {
        let pointers = leaves(&file);
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
    fn leads_each_row_of_a_file_to_its_place(file in any_file()) {
        check_rows(&[file]);
    }

    #[test]
    fn leads_each_row_of_several_files_to_its_place(files in prop::collection::vec(any_file(), 2..5)) {
        check_rows(&files);
    }

    #[test]
    fn exports_agents_the_same_again(file in files::aio()) {
        let once = to_aio(&import_again(&file));
        prop_assert_eq!(to_aio(&import_again(&once)).to_string(), once.to_string());
    }
}

/// Returns the files below a folder in order.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn leads_each_row_of_known_files_to_its_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    for folder in ["fixtures/import", "fixtures/migrate", "../shared/corpus/import"] {
        for path in files_below(&root.join(folder)) {
            let bytes = std::fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy();
            let made = Importer::default().import(&[SourceFile { name: &name, bytes: &bytes }]);
            let Ok(document) = Document::read(&bytes, &name) else { continue };
            let wrong = untruths(&[document.value], &made);
            assert!(wrong.is_empty(), "{}\n{}", path.display(), wrong.join("\n"));
        }
    }
}
