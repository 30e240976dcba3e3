//! The report is true: each leaf has one row, what a row calls mapped or kept comes back, and what it calls mapped
//! has an effect.

mod aio;
mod files;
mod follow;
mod others;

use ctx_preset_import::{
    FieldReport, FieldReports, FieldStatus, Import, ImportOptions, Limits, SourceFile, detect, export_card,
    export_lorebook, export_preset, export_regex_scripts, import, read_conversation, read_worldbook,
};
use ctx_types::worldbook::Worldbook;
use ctx_types::{Agent, Persist as _, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

fn import_one(document: &Value) -> Import {
    let text = document.to_string();
    import(&[SourceFile { name: "file.json", bytes: text.as_bytes() }], &named(&text))
}

/// Says by hand what a document may be: the report is true of those too that nothing tells.
fn named(text: &str) -> ImportOptions {
    let mut options = ImportOptions::default();
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

fn rows(made: &Import) -> &FieldReports {
    &made.report.files[0].fields
}

/// Checks the rows of a document, and that it comes back; a script that is no list comes back as a list of one.
#[track_caller]
fn check(document: &Value, format: &[&str], export: Export) {
    let made = again(import_one(document));
    let report = &made.report.files[0];
    let told = report.format.map(ctx_preset_import::Format::id).unwrap_or_default();
    assert!(format.contains(&told), "{told} {document}");
    let mut expected = Vec::new();
    leaves(document, "", &mut expected);
    let pointers: Vec<&str> = rows(&made).iter().map(|row| row.pointer).collect();
    assert_eq!(pointers, expected);
    let back = export(&made);
    let back = match document {
        Value::Object(script) if script.contains_key("findRegex") => back[0].clone(),
        _ => back,
    };
    for row in rows(&made).iter() {
        if matches!(row.status, FieldStatus::Mapped | FieldStatus::Kept) {
            let (given, found) = (document.pointer(row.pointer), back.pointer(row.pointer));
            assert_eq!(given, found, "{} is {} in {document} and {back}", row.pointer, row.status);
        }
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
    let mapped: Vec<FieldReport<'_>> = rows(&made)
        .iter()
        .filter(|row| {
            row.status == FieldStatus::Mapped
                && !others(document.pointer(row.pointer).unwrap()).is_empty()
                && !is_repeated(document, row.pointer)
                && !stands_anyway(document, row.pointer)
        })
        .collect();
    if mapped.is_empty() {
        return;
    }
    let row = mapped[chosen.index(mapped.len())];
    let before = outcome(document);
    let has_effect = others(document.pointer(row.pointer).unwrap()).into_iter().any(|other| {
        let mut changed = document.clone();
        *changed.pointer_mut(row.pointer).unwrap() = other;
        outcome(&changed) != before
    });
    assert!(has_effect, "{} is mapped to {:?} without effect in {document}", row.pointer, row.to);
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
