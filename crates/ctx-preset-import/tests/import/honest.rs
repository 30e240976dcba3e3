//! The report is true: each leaf is in one row, mapped and kept fields are exported again, and mapped fields have an
//! effect.

mod aio;
mod files;
mod follow;
mod others;

use ctx_preset_import::{
    FieldReport, FieldStatus, Import, Importer, Limits, SourceFile, detect, export_card, export_lorebook,
    export_preset, export_regex_scripts, read_conversation, read_worldbook,
};
use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, Persist as _, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::count_values;

fn import_one(document: &Value) -> Import {
    let text = document.to_string();
    named(&text).import(&[SourceFile { name: "file.json", bytes: text.as_bytes() }])
}

/// Says by hand what a document may be: the report is true of those too that nothing tells.
fn named(text: &str) -> Importer {
    let mut options = Importer::default();
    let (bytes, name, limits) = (text.as_bytes(), "file.json", &Limits::default());
    let format = detect(bytes, name, limits);
    let format = format.or_else(|_| read_worldbook(bytes, name, limits).map(|book| book.format));
    options.format = format.or_else(|_| read_conversation(bytes, name, limits).map(|chat| chat.format)).ok();
    options
}

/// Returns what was made as it is after it was written and read.
fn again(made: Import) -> Import {
    let agent = made.agent.map(|agent| Agent::read(agent.write(), &mut Reader::new()));
    let mut made = Import { agent, ..made };
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

/// Returns whether a pointer is at a pattern or below it.
fn covers(pattern: &str, pointer: &str) -> bool {
    let mut steps = pointer.split('/');
    pattern.split('/').all(|wanted| steps.next().is_some_and(|step| wanted == "*" || wanted == step))
}

/// Checks that each leaf of a document is in one row.
#[track_caller]
fn check_coverage(document: &Value, rows: &[FieldReport]) {
    let mut pointers = Vec::new();
    leaves(document, "", &mut pointers);
    let counted: usize = rows.iter().map(|row| row.count).sum();
    assert_eq!(counted, count_values(document), "{document}\n{rows:#?}");
    for pointer in pointers {
        assert!(rows.iter().any(|row| covers(&row.pointer, &pointer)), "{pointer} has no row in {document}");
    }
}

fn leaves(value: &Value, pointer: &str, found: &mut Vec<String>) {
    let step = |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| leaves(value, &step(key), found));
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| leaves(value, &step(&index.to_string()), found));
        }
        _ => found.push(pointer.to_owned()),
    }
}

/// The files of other applications that come back from what was made of one.
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

fn rows(made: &Import) -> &[FieldReport] {
    &made.report.files[0].fields
}

/// Shows pointer, status, and place of a row.
fn show_row(row: &FieldReport) -> String {
    format!("{} {} {}", row.pointer, row.status, row.to.as_deref().unwrap_or("-"))
}

/// Checks the rows of a document, and that it comes back; a script that is no list comes back as a list of one.
#[track_caller]
fn check(document: &Value, format: &[&str], export: Export) {
    let made = again(import_one(document));
    let report = &made.report.files[0];
    let told = report.format.map(ctx_preset_import::Format::id).unwrap_or_default();
    assert!(format.contains(&told), "{told} {document}");
    check_coverage(document, rows(&made));
    let back = export(&made);
    let back = match document {
        Value::Object(script) if script.contains_key("findRegex") => back[0].clone(),
        _ => back,
    };
    let is_back = |row: &FieldReport| matches!(row.status, FieldStatus::Mapped | FieldStatus::Kept);
    let mut pointers = Vec::new();
    leaves(document, "", &mut pointers);
    for row in rows(&made).iter().filter(|row| is_back(row)) {
        let same_rows = rows(&made).iter().filter(|other| other.pointer == row.pointer && is_back(other));
        let expected: usize = same_rows.map(|row| row.count).sum();
        let is_same = |pointer: &&String| {
            covers(&row.pointer, pointer) && document.pointer(pointer) == back.pointer(pointer)
        };
        let found = pointers.iter().filter(is_same).count();
        assert!(found >= expected, "{} is {} in {document} and {back}", row.pointer, row.status);
    }
    // From then on nothing changes.
    let twice = export(&again(import_one(&export(&made))));
    assert_eq!(twice, export(&made));
}

/// Returns what was made, without what is only kept.
fn outcome(document: &Value) -> Value {
    let made = import_one(document);
    let books: Vec<Value> = made.worldbooks.iter().map(|named| named.book.write()).collect();
    let mut outcome = json!({
        "agent": made.agent.map(|agent| agent.write()), "books": books, "profile": made.profile.map(|profile| profile.write()),
    });
    forget_kept(&mut outcome);
    outcome
}

fn forget_kept(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("imported");
            map.values_mut().for_each(forget_kept);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_kept),
        _ => {}
    }
}

/// Other values that a leaf could have; none for one that says nothing.
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

/// Returns whether a leaf names a prompt that stands twice in its order: without the first, the second one counts.
fn is_repeated(document: &Value, pointer: &str) -> bool {
    let Some((list, _)) = pointer.strip_suffix("/identifier").and_then(|step| step.rsplit_once('/')) else {
        return false;
    };
    let steps = document.pointer(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    steps.iter().filter(|step| step.get("identifier") == document.pointer(pointer)).count() > 1
}

/// Returns whether a leaf names a marker in an order that stands there without it too, as those do that are not named, or
/// the conversation, which is sent neither switched off nor without a name.
fn stands_anyway(document: &Value, pointer: &str) -> bool {
    const MARKERS: [&str; 7] = [
        "chatHistory",
        "worldInfoBefore",
        "worldInfoAfter",
        "charDescription",
        "charPersonality",
        "scenario",
        "personaDescription",
    ];
    let is_marker = document.pointer(pointer).and_then(Value::as_str).is_some_and(|id| MARKERS.contains(&id));
    let step = pointer.strip_suffix("/identifier").and_then(|step| step.rsplit_once('/'));
    let Some((list, number)) = step.filter(|_| is_marker && pointer.starts_with("/prompt_order/")) else {
        return false;
    };
    let mut without = document.clone();
    let steps = without.pointer_mut(list).and_then(Value::as_array_mut).unwrap();
    steps.remove(number.parse().unwrap());
    outcome(&without) == outcome(document)
}

/// Checks that other values of a leaf that is mapped have another result.
#[track_caller]
fn check_effect(document: &Value, chosen: prop::sample::Index) {
    let made = import_one(document);
    let mut mapped = Vec::new();
    leaves(document, "", &mut mapped);
    mapped.retain(|pointer| {
        let mut rows = rows(&made).iter().filter(|row| covers(&row.pointer, pointer));
        rows.all(|row| row.status == FieldStatus::Mapped)
            && !others(document.pointer(pointer).unwrap()).is_empty()
            && !is_repeated(document, pointer)
            && !stands_anyway(document, pointer)
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
    fn cards_are_told_truly(card in files::card(), chosen in any::<prop::sample::Index>()) {
        check(&card, &CARDS, to_card);
        check_effect(&card, chosen);
    }

    #[test]
    fn presets_are_told_truly(preset in files::preset(), chosen in any::<prop::sample::Index>()) {
        check(&preset, &["preset_cc"], to_preset);
        check_effect(&preset, chosen);
    }

    #[test]
    fn books_are_told_truly(book in files::book(), chosen in any::<prop::sample::Index>()) {
        check(&book, &["lorebook", "card_book", "other_lorebook"], to_book);
        check_effect(&book, chosen);
    }

    #[test]
    fn scripts_are_told_truly(scripts in files::scripts(), chosen in any::<prop::sample::Index>()) {
        check(&scripts, &["regex"], to_scripts);
        check_effect(&scripts, chosen);
    }
}
