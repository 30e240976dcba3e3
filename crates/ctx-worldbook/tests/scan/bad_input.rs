//! Invalid, huge, and hostile books.

use ctx_types::worldbook::Worldbook;
use ctx_types::{Persist as _, Reader};
use ctx_worldbook::{
    Book, BookSet, Level, Limits, NoMacros, Ports, Scan, ScanInput, ScanMessage, Settings, codes,
    internal::ListedDraws,
};
use serde_json::{Value, json};

/// Returns the codes of all diagnostics and the number of active entries.
fn run(file: Value, text: &str, settings: Settings, limits: Limits) -> (Vec<String>, usize) {
    let mut reader = Reader::new();
    let noun = Worldbook::read(file.clone(), &mut reader);
    assert_eq!(noun.write(), file, "nothing is lost");
    let mut findings = reader.finish();
    let (book, found) = Book::read("B", Level::Global, &noun);
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
fn reads_entries_from_object_or_list() {
    check(json!({ "entries": { "3": { "key": ["moon"] } } }), &[], 1);
    check(json!({ "entries": [{ "key": ["moon"] }, { "key": ["sun"] }] }), &[], 1);
    check(json!({ "entries": "none" }), &["CTX0100"], 0);
    check(json!({}), &[], 0);
    check(json!([]), &["CTX0100"], 0);
}

#[test]
fn reads_nulls_and_quoted_numbers() {
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
fn limits_reported_idle_decorators() {
    let entries = vec![json!({ "content": "@@foo\n@@priority 1\nx" }); 501];
    let book = Worldbook::read(json!({ "dialect": "risuai", "entries": entries }), &mut Reader::new());
    let (_, found) = Book::read("worldbook", Level::Global, &book);
    assert_eq!(found.len(), 1_001);
    let last = "info[CTX0954]: more than 1000 diagnostics in `worldbook`; the rest is not shown";
    assert_eq!(found[1_000].to_string(), last);
}

#[test]
fn limits_chain_of_entries() {
    let entries: Vec<Value> =
        (0..2_000).map(|n| json!({ "key": [format!("k{n}.")], "content": format!("k{}.", n + 1) })).collect();
    let settings = Settings { recursive: true, ..Settings::default() };
    let (found, active) = run(json!({ "entries": entries }), "k0.", settings, Limits::default());
    assert_eq!((found, active), (vec!["CTX0962".to_owned()], 1_000));
}

#[test]
fn limits_considered_entries() {
    let entries: Vec<Value> =
        (0..20).map(|n| json!({ "key": [format!("k{n}.")], "content": format!("k{}.", n + 1) })).collect();
    let active = |considered: usize| {
        let limits = Limits { considered, ..Limits::default() };
        let settings = Settings { recursive: true, ..Settings::default() };
        run(json!({ "entries": entries }), "k0.", settings, limits)
    };
    assert_eq!(active(100), (vec!["CTX0962".to_owned()], 5));
    assert_eq!(active(0), (vec!["CTX0962".to_owned()], 1));
    assert_eq!(active(1_000), (vec![], 20));
}

#[test]
fn keeps_file_with_many_entries() {
    let entry = |n: usize| (n.to_string(), json!({ "uid": n, "key": [format!("key{n}.")], "mine": [n] }));
    let entries: serde_json::Map<String, Value> = (0..100_000).map(entry).collect();
    let settings = Settings { recursive: true, ..Settings::default() };
    let (found, active) = run(json!({ "entries": entries }), "key77. key99999.", settings, Limits::default());
    assert_eq!((found, active), (vec![], 2));
}

#[test]
fn scans_long_text() {
    let settings = Settings { recursive: true, ..Settings::default() };
    let long = json!([{ "key": ["go"], "content": "moon ".repeat(2_000_000) }, { "key": ["moon"] }]);
    let (found, active) = run(json!({ "entries": long }), "go", settings, Limits::default());
    assert_eq!((found, active), (vec![], 2));
}

#[test]
fn reports_exceeded_limits() {
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

/// Returns all diagnostics and the status of each entry.
fn scan_diagnostics(entries: Value, text: &str) -> (Vec<String>, Vec<String>) {
    let noun = Worldbook::read(json!({ "entries": entries }), &mut Reader::new());
    let (book, mut findings) = Book::read("B", Level::Global, &noun);
    let (set, found) = BookSet::compile([book], Settings::default(), Limits::default());
    let scan = scan(&set, text);
    findings.extend(found.into_iter().chain(scan.diagnostics));
    let findings = findings.iter().map(ToString::to_string).collect();
    (findings, scan.statuses.iter().map(ToString::to_string).collect())
}

#[test]
fn reports_invalid_pattern_with_macros_once() {
    let entries =
        json!([{ "key": ["/(?<=the castle/"] }, { "key": ["/{{char}}(/"] }, { "key": ["moon", "/<b(/"] }]);
    let (found, _) = scan_diagnostics(entries, "moon");
    let places: Vec<&str> = found.iter().filter_map(|finding| finding.split(" (at ").nth(1)).collect();
    assert_eq!(places, ["B /entries/0/key/0)", "B /entries/1/key/0)", "B /entries/2/key/1)"], "{found:?}");
}

#[test]
fn preserves_steps_after_stopped_expression() {
    let evil = |_: usize| json!({ "key": ["/(a+)+\\1[b-z]/"] });
    let mut entries: Vec<Value> = (0..100).map(evil).collect();
    entries.push(json!({ "key": ["/aa[a]/"] }));
    let (found, statuses) = scan_diagnostics(json!(entries), &"a".repeat(10_000));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("CTX0960") && found[0].ends_with("(at B /entries/0/key/0)"), "{found:?}");
    let given_up = "it is unknown whether key `/(a+)+\\1[b-z]/` matches: the search was stopped";
    assert_eq!((statuses[0].as_str(), statuses[99].as_str()), (given_up, given_up));
    assert_eq!(statuses[100], "it is active");
}

/// Keys that exceed their step limit.
fn evil(count: usize) -> Vec<Value> {
    let key = |n: usize| json!({ "key": [format!("/(a+)+\\1[b-z]{{1,{}}}/", n + 1)], "order": 100 });
    (0..count).map(key).collect()
}

#[test]
fn reserves_steps_for_other_keys() {
    let harmless = |order: i64| {
        [json!({ "key": ["/(a)\\1/"], "order": order }), json!({ "key": ["/aa+z/"], "order": order })]
    };
    for order in [0, 200] {
        let entries: Vec<Value> = evil(200).into_iter().chain(harmless(order)).collect();
        let (found, mut statuses) = scan_diagnostics(json!(entries), &"a".repeat(10_000));
        if order == 200 {
            statuses.rotate_left(2);
        }
        assert_eq!(statuses[200..], ["it is active", "no key matches"]);
        let is_given_up = |status: &String| {
            status.starts_with("it is unknown whether key")
                || status.ends_with("was not searched: the step limit of all keys is reached")
        };
        assert!(statuses[..200].iter().all(is_given_up), "{statuses:?}");
        assert_eq!(found.len(), 101);
        assert!(found[..100].iter().all(|finding| finding.contains(" (at B /entries/")), "{found:?}");
        assert_eq!(found[100], "warning[CTX0960]: 100 more diagnostics about keys, not listed");
    }
}

#[test]
fn searches_key_of_many_entries() {
    let entries: Vec<Value> = (0..2_000).map(|_| json!({ "key": ["/(a)+\\1b/"] })).collect();
    let text = format!("{}b", "a".repeat(2_000));
    let (found, statuses) = scan_diagnostics(json!(entries), &text);
    assert_eq!(found, [""; 0]);
    assert!(statuses.iter().all(|status| status == "it is active"));
}

#[test]
fn reports_invalid_values_at_their_location() {
    let entry = json!({
        "key": ["moon"], "position": 4, "depth": -3, "scanDepth": -1, "sticky": 1.5, "cooldown": -2, "delay": -1,
        "delayUntilRecursionLevel": -1, "probability": 120, "groupWeight": -5, "order": -7, "triggers": ["normal", "swip"],
    });
    let (found, _) = scan_diagnostics(json!([entry]), "moon");
    let value = |field: &str, value: &str, counts_as: &str| {
        let message = format!("invalid `{field}` {value} of `B.0`; {counts_as} is used");
        format!("warning[CTX0957]: {message} (at B /entries/0/{field})")
    };
    assert_eq!(
        found,
        [
            value("depth", "-3", "0"),
            value("scanDepth", "-1", "0"),
            value("sticky", "1.5", "1"),
            value("cooldown", "-2", "0"),
            value("delay", "-1", "0"),
            value("delayUntilRecursionLevel", "-1", "0"),
            value("probability", "120", "100"),
            value("groupWeight", "-5", "0"),
            "warning[CTX0957]: unknown generation type `swip` in `B.0` (at B /entries/0/triggers/1)"
                .to_owned(),
        ]
    );
}

#[test]
fn reports_and_keeps_values_of_wrong_type() {
    let entry =
        json!({ "key": ["moon"], "selectiveLogic": 4, "position": 8, "role": "narrator", "depth": [] });
    check(json!({ "entries": [entry] }), &["CTX0100"; 4], 1);
    let entries = json!([{ "key": ["moon"] }]);
    let book = json!({ "dialect": "ccv3", "scan_depth": -1, "token_budget": -1, "entries": entries });
    check(book, &["CTX0957", "CTX0957"], 1);
}

#[test]
fn reports_mistyped_expressions() {
    let entries =
        json!([{ "key": ["moon", "/mo+n/x"] }, { "key": ["/<b>sun</b>/"], "keysecondary": ["/a/gg"] }]);
    let (found, statuses) = scan_diagnostics(entries, "moon");
    let told = "warning[CTX0950]: invalid key";
    assert_eq!(
        found,
        [
            format!("{told} `/mo+n/x` of `B.0`: unknown flag `x` (at B /entries/0/key/1)"),
            format!("{told} `/a/gg` of `B.1`: duplicate flag `g` (at B /entries/1/keysecondary/0)"),
        ]
    );
    assert_eq!(statuses[0], "it is active");
}

#[test]
fn counts_unlisted_invalid_keys() {
    let entries: Vec<Value> = (0..3_000).map(|n| json!({ "key": [format!("/({n}/")] })).collect();
    let (found, _) = scan_diagnostics(json!(entries), "moon");
    assert_eq!(found.len(), 1_001);
    assert_eq!(found[1_000], "warning[CTX0950]: 2000 more invalid keys are not listed");
}

#[test]
fn reports_unsearched_messages_within_scan_depth() {
    let noun =
        Worldbook::read(json!({ "entries": [{ "key": ["moon"], "scanDepth": 1450 }] }), &mut Reader::new());
    let (book, _) = Book::read("B", Level::Global, &noun);
    let (set, _) = BookSet::compile([book], Settings::default(), Limits::default());
    let diagnostics = |length: usize| {
        let messages = vec![ScanMessage { name: None, text: "sun".into() }; length];
        let input = ScanInput { messages: &messages, ..ScanInput::default() };
        let ports = Ports { draws: &mut ListedDraws::default(), expand: &mut NoMacros, counter: None };
        set.scan(&input, ports).diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(diagnostics(1_000), [""; 0]);
    let expected = "warning[CTX0963]: only the newest 1000 messages were searched for keys; 400 more are within the scan depth";
    assert_eq!(diagnostics(1_400), [expected]);
}

#[test]
fn reports_each_kind_of_uid_conflict() {
    let entries =
        json!([{ "uid": 1, "key": ["moon"] }, { "key": ["moon"] }, { "uid": "1", "key": ["moon"] }]);
    let (found, _) = scan_diagnostics(entries, "moon");
    assert_eq!(
        found,
        [
            "warning[CTX0952]: the entry has no uid, and its key `1` is another entry's uid (at B /entries/1)",
            "warning[CTX0952]: uid `1` is used 3 times in this worldbook (at B /entries/2/uid)",
        ]
    );
}

#[test]
fn matches_same_keys_beyond_build_limit() {
    let entry = |index: usize| {
        let keys = [format!("/[^x]{{3}}a{index}\\b/"), format!("/b{index}\\b/i")];
        (
            index.to_string(),
            json!({ "uid": index, "key": keys, "content": format!("Moon {index}"), "order": index }),
        )
    };
    let entries: serde_json::Map<String, Value> = (0..40).map(entry).collect();
    let book = json!({ "entries": entries });
    let text = "xyz...a7 and B12, b3";
    let with = |key_building: usize| {
        run(book.clone(), text, Settings::default(), Limits { key_building, ..Limits::default() })
    };
    assert_eq!(with(0), with(Limits::default().key_building));
    assert_eq!(with(500), with(0));
    assert_eq!(with(0).1, 3);
}

#[test]
fn limits_steps_of_all_expressions() {
    let entries: Vec<Value> =
        (0..40).map(|n| json!({ "key": [format!("/(a+)+\\1[b-z]{{1,{}}}/", n + 1)] })).collect();
    let limits = Limits { regex_steps: 2_500_000, ..Limits::default() };
    let (found, _) = run(json!({ "entries": entries }), &"a".repeat(5_000), Settings::default(), limits);
    assert_eq!(found, ["CTX0961"; 40]);
}

#[test]
fn reports_decorators_without_effect() {
    let entries = json!([
        { "key": ["moon"], "content": "@@dept 3\n@@depth deep\nx" },
        { "key": ["moon"], "content": "@@foo\n@@@depth 3\nx" },
    ]);
    let found = |book: Value| {
        let (_, found) = Book::read("B", Level::Global, &Worldbook::read(book, &mut Reader::new()));
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        found(json!({ "dialect": "ccv3", "entries": entries })),
        [
            "warning[CTX0954]: unknown decorator `dept 3`; it is ignored and not sent (at B /entries/0/content)",
            "warning[CTX0954]: invalid value of decorator `depth deep` (at B /entries/0/content)",
        ]
    );
    assert_eq!(
        found(json!({ "entries": entries })),
        [
            "warning[CTX0954]: unknown decorator `dept 3`; it is ignored and not sent (at B /entries/0/content)",
            "info[CTX0954]: decorator `depth deep` has no effect in this worldbook and is not sent (at B /entries/0/content)",
            "warning[CTX0954]: unknown decorator `foo`; it is ignored and not sent (at B /entries/1/content)",
        ]
    );
}
