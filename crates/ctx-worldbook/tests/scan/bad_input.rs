//! Books that are odd, huge or hostile.

use ctx_types::{Persist as _, Reader, Worldbook};
use ctx_worldbook::{
    Book, BookSet, Entry, Level, Limits, ListedDraws, NoMacros, Ports, Scan, ScanInput, ScanMessage,
    Settings, codes,
};
use serde_json::{Value, json};

/// Reads, compiles and scans a book; returns the codes of all findings and how many entries are active.
fn run(file: Value, text: &str, settings: Settings, limits: Limits) -> (Vec<String>, usize) {
    let mut reader = Reader::new();
    let noun = Worldbook::read(file.clone(), &mut reader);
    assert_eq!(noun.write(), file, "nothing is lost");
    let mut findings = reader.finish();
    let (book, found) = Book::of("B", Level::Global, &noun);
    findings.extend(found);
    let (set, found) = BookSet::compile([book], settings, limits);
    findings.extend(found);
    let scan = scan(&set, text);
    findings.extend(scan.diagnostics);
    (findings.iter().map(|finding| finding.code.to_string()).collect(), scan.activations.len())
}

fn scan(set: &BookSet, text: &str) -> Scan {
    let messages = [ScanMessage { name: None, text: text.into() }];
    let input = ScanInput { messages: &messages, ..ScanInput::default() };
    set.scan(&input, Ports { draws: &mut ListedDraws::default(), expand: &mut NoMacros, counter: None })
}

#[track_caller]
fn check(file: Value, codes: &[&str], active: usize) {
    let (found, count) = run(file, "moon", Settings::default(), Limits::default());
    assert_eq!((found.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), count), (codes, active));
}

#[test]
fn entries_may_be_an_object_or_a_list() {
    check(json!({ "entries": { "3": { "key": ["moon"] } } }), &[], 1);
    check(json!({ "entries": [{ "key": ["moon"] }, { "key": ["sun"] }] }), &[], 1);
    check(json!({ "entries": "none" }), &["CTX0100"], 0);
    check(json!({}), &[], 0);
    check(json!([]), &["CTX0100"], 0);
}

#[test]
fn nulls_and_numbers_in_quotes_are_understood() {
    let nulls = json!({
        "uid": null, "key": ["moon"], "keysecondary": null, "content": null, "constant": null, "order": null,
        "position": null, "role": null, "scanDepth": null, "caseSensitive": null, "sticky": null, "group": null,
        "characterFilter": null, "triggers": null, "probability": null, "delayUntilRecursion": null,
    });
    check(json!({ "entries": [nulls] }), &[], 1);
    let quoted = json!({ "uid": "5", "key": ["moon"], "order": "7", "scanDepth": "2", "probability": "100" });
    check(json!({ "entries": [quoted] }), &["CTX0102", "CTX0102", "CTX0102"], 1);
}

#[test]
fn what_is_no_entry_is_told() {
    check(
        json!({ "entries": [null, 5, { "key": ["moon"] }] }),
        &["CTX0100", "CTX0100", "CTX0953", "CTX0953"],
        1,
    );
}

#[test]
fn equal_uids_are_told_and_both_count() {
    let entries = json!([{ "uid": 1, "key": ["moon"] }, { "uid": 1, "key": ["moon"] }]);
    check(json!({ "entries": entries }), &["CTX0952"], 2);
}

#[test]
fn patterns_that_cannot_run_are_told() {
    check(
        json!({ "entries": [{ "key": ["/(/", "moon"] }, { "key": ["/[/g"] }] }),
        &["CTX0950", "CTX0950"],
        1,
    );
}

#[test]
fn other_dialects_are_told() {
    let (_, found) =
        Book::of("B", Level::Global, &Worldbook::read(json!({ "dialect": "ccv4" }), &mut Reader::new()));
    assert_eq!(
        found[0].to_string(),
        "warning[CTX0955]: no dialect `ccv4`; the book is read as SillyTavern reads it (at B /dialect)"
    );
    assert_eq!(found[0].help.as_deref(), Some("did you mean `ccv3`?"));
}

#[test]
fn expressions_that_take_too_long_are_given_up() {
    let text = "a".repeat(10_000);
    let entries = json!([{ "key": ["/(a+)+\\1[b-z]/"] }, { "key": ["aaa"] }]);
    let (found, active) = run(json!({ "entries": entries }), &text, Settings::default(), Limits::default());
    assert_eq!((found, active), (vec!["CTX0960".to_owned()], 1));
}

#[test]
fn all_expressions_together_have_a_limit() {
    let entries: Vec<Value> =
        (0..40).map(|n| json!({ "key": [format!("/(a+)+\\1[b-z]{{1,{}}}/", n + 1)] })).collect();
    let limits = Limits { regex_steps: 5_000_000, ..Limits::default() };
    let (found, _) = run(json!({ "entries": entries }), &"a".repeat(5_000), Settings::default(), limits);
    assert_eq!(found, ["CTX0960", "CTX0960", "CTX0961"]);
}

#[test]
fn a_chain_of_entries_ends() {
    let entries: Vec<Value> =
        (0..2_000).map(|n| json!({ "key": [format!("k{n}.")], "content": format!("k{}.", n + 1) })).collect();
    let settings = Settings { recursive: true, ..Settings::default() };
    let (found, active) = run(json!({ "entries": entries }), "k0.", settings, Limits::default());
    assert_eq!((found, active), (vec!["CTX0962".to_owned()], 1_000));
}

#[test]
fn entries_that_bring_in_each_other_come_in_once() {
    let entries = json!([
        { "key": ["moon"], "content": "the sun" },
        { "key": ["sun"], "content": "the moon, and the sun" },
        { "key": ["/the (sun|moon)/"], "content": "the moon" },
    ]);
    let settings = Settings { recursive: true, ..Settings::default() };
    let (found, active) = run(json!({ "entries": entries }), "moon", settings, Limits::default());
    assert_eq!((found, active), (vec![], 3));
}

#[test]
fn a_file_of_many_entries_comes_back_as_it_was() {
    let entry = |n: usize| (n.to_string(), json!({ "uid": n, "key": [format!("key{n}.")], "mine": [n] }));
    let entries: serde_json::Map<String, Value> = (0..100_000).map(entry).collect();
    let settings = Settings { recursive: true, ..Settings::default() };
    let (found, active) = run(json!({ "entries": entries }), "key77. key99999.", settings, Limits::default());
    assert_eq!((found, active), (vec![], 2));
}

#[test]
fn many_entries_are_no_trouble() {
    let entry = |n: usize| Entry { keys: vec![format!("key{n}").into()], ..Entry::default() };
    let book = Book { name: "B".into(), entries: (0..100_000).map(entry).collect(), ..Book::default() };
    let settings = Settings { recursive: true, match_whole_words: true, ..Settings::default() };
    let (set, found) = BookSet::compile([book], settings, Limits::default());
    assert_eq!(found, []);
    assert_eq!(scan(&set, "key5 key77 key99999").activations.len(), 3);
}

#[test]
fn a_long_text_is_no_trouble() {
    let settings = Settings { recursive: true, ..Settings::default() };
    let long = json!([{ "key": ["go"], "content": "moon ".repeat(2_000_000) }, { "key": ["moon"] }]);
    let (found, active) = run(json!({ "entries": long }), "go", settings, Limits::default());
    assert_eq!((found, active), (vec![], 2));
}

#[test]
fn what_is_beyond_the_limits_is_told() {
    let entries: Vec<Value> =
        (0..4).map(|_| json!({ "key": ["moon", "a moon"], "content": "moon" })).collect();
    let file = json!({ "entries": entries });
    let with = |limits: Limits| {
        let settings = Settings { recursive: true, ..Settings::default() };
        run(file.clone(), "a moon", settings, limits).0
    };
    let too_many = codes::TOO_MANY_ENTRIES.to_string();
    let uids = Vec::<String>::new();
    assert_eq!(with(Limits::default()), uids);
    assert_eq!(with(Limits { entries: 3, ..Limits::default() }), std::slice::from_ref(&too_many));
    assert_eq!(with(Limits { key_bytes: 7, ..Limits::default() }), [too_many]);
    assert_eq!(with(Limits { text_bytes: 10, ..Limits::default() }), [codes::TEXT_LIMIT.to_string()]);
    assert_eq!(with(Limits { text_bytes: 3, ..Limits::default() }), [codes::TEXT_LIMIT.to_string()]);
}
