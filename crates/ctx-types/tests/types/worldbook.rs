use ctx_types::worldbook::{
    EntryPosition, EntryRole, Flag, Numeric, RecursionDelay, SelectiveLogic, Worldbook, WorldbookEntry,
};
use ctx_types::{Persist, Reader, Role};
use serde_json::{Value, json};

fn read(entry: Value) -> (WorldbookEntry, Vec<String>) {
    let mut reader = Reader::new();
    let entry = WorldbookEntry::read(entry, &mut reader);
    (entry, reader.finish().iter().map(|found| found.code.to_string()).collect())
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "call sites are easier to read")]
fn check<T: PartialEq + std::fmt::Debug>(
    key: &str,
    value: Value,
    field: fn(&WorldbookEntry) -> T,
    expected: T,
    found: &[&str],
) {
    let file = json!({ key: value });
    let (entry, findings) = read(file.clone());
    assert_eq!(field(&entry), expected, "{file}");
    assert_eq!(findings, found, "{file}");
    assert_eq!(entry.write(), file);
}

#[test]
fn reads_quoted_numbers() {
    let order = |entry: &WorldbookEntry| entry.order;
    check("order", json!(5), order, Some(Numeric(5.0)), &[]);
    check("order", json!(" 5.5 "), order, Some(Numeric(5.5)), &["CTX0102"]);
    check("order", json!("five"), order, None, &["CTX0100"]);
    check("order", json!(null), order, None, &[]);
    check("order", json!("NaN"), order, None, &["CTX0100"]);
}

#[test]
fn reads_booleans_from_numbers_and_text() {
    let constant = |entry: &WorldbookEntry| entry.constant;
    for (value, flag) in [(json!(1), true), (json!(0), false), (json!("TRUE"), true), (json!(""), false)] {
        check("constant", value, constant, Some(Flag(flag)), &["CTX0102"]);
    }
    check("constant", json!("yes"), constant, None, &["CTX0100"]);
}

#[test]
fn splits_keys_in_one_text() {
    let keys = |entry: &WorldbookEntry| entry.key.iter().map(ToString::to_string).collect::<Vec<_>>();
    let strings = |keys: &[&str]| keys.iter().map(ToString::to_string).collect::<Vec<_>>();
    check("key", json!(["a, b", ""]), keys, strings(&["a, b", ""]), &[]);
    check("key", json!("a, b,, c"), keys, strings(&["a", "b", "c"]), &["CTX0102"]);
    check("key", json!(["a", 5]), keys, strings(&["a"]), &["CTX0100"]);
    check("key", json!(""), keys, strings(&[]), &[]);
}

#[test]
fn reads_positions_roles_and_logics_by_name() {
    let position = |entry: &WorldbookEntry| entry.position;
    check("position", json!(4), position, Some(EntryPosition::AtDepth), &[]);
    check("position", json!("after_char"), position, Some(EntryPosition::AfterCharacter), &["CTX0102"]);
    check("position", json!("7"), position, Some(EntryPosition::Outlet), &["CTX0102"]);
    check("position", json!(8), position, None, &["CTX0100"]);
    check("role", json!("User"), |entry| entry.role, Some(EntryRole(Role::User)), &["CTX0102"]);
    check("role", json!(2), |entry| entry.role, Some(EntryRole(Role::Assistant)), &[]);
    let logic = |entry: &WorldbookEntry| entry.selective_logic;
    check("selectiveLogic", json!("NOT_ANY"), logic, Some(SelectiveLogic::NotAny), &["CTX0102"]);
}

#[test]
fn reads_recursion_delay_as_boolean_or_level() {
    let delay = |entry: &WorldbookEntry| entry.delay_until_recursion;
    check("delayUntilRecursion", json!(true), delay, Some(RecursionDelay(1)), &[]);
    check("delayUntilRecursion", json!(false), delay, Some(RecursionDelay(0)), &[]);
    check("delayUntilRecursion", json!(3), delay, Some(RecursionDelay(3)), &[]);
    check("delayUntilRecursion", json!("2"), delay, Some(RecursionDelay(2)), &["CTX0102"]);
}

#[test]
fn sorts_numeric_keys_first() {
    let file = json!({ "entries": { "b": {}, "10": {}, "2": {}, "01": {}, "4294967295": {} } });
    let book = Worldbook::read(file.clone(), &mut Reader::new());
    let order: Vec<&str> = book.entries.in_order().map(|(key, _)| &**key).collect();
    assert_eq!(order, ["2", "10", "b", "01", "4294967295"]);
    assert_eq!(book.write().to_string(), file.to_string());
}

#[test]
fn keeps_list_of_entries_as_list() {
    let file = json!({ "entries": [{ "uid": 9 }, { "uid": 3 }] });
    let mut book = Worldbook::read(file.clone(), &mut Reader::new());
    let uids = book.entries.in_order().map(|(key, entry)| format!("{key}={}", entry.uid.as_ref().unwrap().0));
    assert_eq!(uids.collect::<Vec<_>>(), ["0=9", "1=3"]);
    book.entries.iter_mut().next().unwrap().order = Some(Numeric(7.0));
    assert_eq!(book.write(), json!({ "entries": [{ "uid": 9, "order": 7 }, { "uid": 3 }] }));
}
