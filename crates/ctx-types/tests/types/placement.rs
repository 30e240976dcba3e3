use ctx_types::{Diagnostic, Order, Persist as _, Placement, PresetMessage, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

/// `expected` is the placement, its order unless 100, and a line per diagnostic.
#[track_caller]
fn check(entry: &str, expected: &str) {
    let value: Value = serde_json::from_str(entry).unwrap();
    let entry = PresetMessage::read(value.clone(), &mut Reader::new());
    let (placement, diagnostics) = Placement::read(&entry);
    let order = placement.order();
    let mut lines = if order == Order::DEFAULT {
        vec![placement.to_string()]
    } else {
        vec![format!("{placement}, order {}", order.0)]
    };
    for diagnostic in &diagnostics {
        let pointer = diagnostic.location.pointer.as_deref().unwrap();
        assert!(value.pointer(pointer).is_some(), "`{pointer}` is not in the entry");
        lines.push(line(diagnostic));
    }
    assert_eq!(lines.join("\n"), expected);
}

fn line(diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, message, location, .. } = diagnostic;
    format!("{code} {}: {message}", location.pointer.as_deref().unwrap_or_default())
}

#[test]
fn reads_placement_of_any_spelling() {
    check(r#"{"injectionStrategy": {"order": 5}}"#, "in order");
    check(r#"{"insertionPoint": null, "anchorTarget": null}"#, "in order");
    check(r#"{"insertionPoint": 2.0, "order": 7}"#, "index 2, order 7");
    check(r#"{"injectionStrategy": {"depth": 0, "order": 1.5}}"#, "depth 0, order 1.5");
    check(r#"{"injectionStrategy": {"depthConfig": "3:2, 9"}}"#, "depth 3~2, 9");
    check(r#"{"injectionStrategy": {"type": "anchor"}, "anchorTarget": "lore"}"#, "after `lore`");
    check(r#"{"anchorTarget": " "}"#, "after `chat_history`");
}

#[test]
fn ignores_unused_strategy_fields_silently() {
    check(
        r#"{"injectionStrategy": {"type": "anchor", "depth": 3, "depthConfig": "1", "anchorTarget": "lore"}}"#,
        "after `lore`",
    );
    check(r#"{"injectionStrategy": {"type": "depth", "depth": 3, "anchorTarget": "lore"}}"#, "depth 3");
}

#[test]
fn falls_back_to_plain_depth() {
    check(
        r#"{"injectionStrategy": {"type": "advanced_depth", "depthConfig": "x", "depth": 2}}"#,
        "depth 2\nCTX0111 /injectionStrategy/depthConfig: invalid depth `x`; it is ignored\nCTX0110 /injectionStrategy/type: `depthConfig` has no depth; depth 2 is used",
    );
}

#[test]
fn sorts_orders_and_equates_signed_zeros() {
    assert!(Order(-1.0) < Order(0.0) && Order(2.0) < Order(10.0) && Order(10.0) < Order::DEFAULT);
    assert_eq!(Order(-0.0), Order(0.0));
    assert_eq!(Order(-0.0).cmp(&Order(0.0)), std::cmp::Ordering::Equal);
}

#[track_caller]
fn check_written(from: Value, into: Value, expected: &Value) {
    let (placement, _) = Placement::read(&PresetMessage::read(from, &mut Reader::new()));
    let mut entry = PresetMessage::read(into, &mut Reader::new());
    placement.write_to(&mut entry);
    assert_eq!(entry.write(), *expected);
}

#[test]
fn writes_index_flat_and_others_as_strategy() {
    let index = json!({ "insertionPoint": -2, "order": 5 });
    check_written(index.clone(), json!({ "injectionStrategy": { "type": "depth", "depth": 1 } }), &index);
    check_written(
        json!({ "anchorTarget": "lore", "anchorPoint": "before" }),
        json!({ "insertionPoint": 3 }),
        &json!({ "injectionStrategy": { "type": "anchor", "anchorTarget": "lore", "anchorPosition": "before" } }),
    );
    check_written(
        json!({ "injectionStrategy": { "depthConfig": "1, 2~3" } }),
        json!({}),
        &json!({ "injectionStrategy": { "type": "advanced_depth", "depthConfig": "1, 2~3" } }),
    );
}

#[test]
fn keeps_tie_breaker_and_unknown_keys_when_writing() {
    check_written(
        json!({ "insertionPoint": 1 }),
        json!({ "injectionStrategy": { "type": "depth", "depth": 1, "lane": 3, "x": null } }),
        &json!({ "injectionStrategy": { "lane": 3, "x": null }, "insertionPoint": 1 }),
    );
}

#[test]
fn keeps_entry_if_placement_is_unchanged() {
    let flat = json!({ "anchorTarget": "lore", "order": 100 });
    check_written(json!({ "injectionStrategy": { "anchorTarget": "lore" } }), flat.clone(), &flat);
}

const WORDS: [&str; 10] =
    ["default", "depth", "advanced_depth", "anchor", "before", "after", "", "lore", "2, 4~3", "x~"];

fn field() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => proptest::sample::select(&WORDS[..]).prop_map(Value::from),
        2 => (-5_i64..20).prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!([{ "type": "depth" }])),
        1 => ".*".prop_map(Value::from),
    ]
}

prop_compose! {
    fn entry()(fields in proptest::collection::vec((0..10_usize, field()), 0..8)) -> Value {
        let mut entry = json!({});
        for (key, value) in fields {
            match key {
                0 => entry["insertionPoint"] = value,
                1 => entry["anchorTarget"] = value,
                2 => entry["anchorPoint"] = value,
                3 => entry["order"] = value,
                key => {
                    let keys = ["type", "type", "depth", "depthConfig", "anchorTarget", "anchorPosition"];
                    entry["injectionStrategy"][keys[key - 4]] = value;
                }
            }
        }
        entry
    }
}

proptest! {
    #[test]
    fn points_diagnostics_into_any_entry(value in entry()) {
        let entry = PresetMessage::read(value.clone(), &mut Reader::new());
        let (_, diagnostics) = Placement::read(&entry);
        for diagnostic in diagnostics {
            let pointer = diagnostic.location.pointer.clone().unwrap_or_default();
            prop_assert!(value.pointer(&pointer).is_some(), "{}", diagnostic);
        }
    }

    #[test]
    fn reads_back_written_placement(from in entry(), into in entry()) {
        let (placement, _) = Placement::read(&PresetMessage::read(from, &mut Reader::new()));
        let mut entry = PresetMessage::read(into, &mut Reader::new());
        placement.write_to(&mut entry);
        let again = PresetMessage::read(entry.write(), &mut Reader::new());
        prop_assert_eq!(Placement::read(&again).0, placement);
    }
}
