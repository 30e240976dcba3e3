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
fn keeps_list_position_without_placement() {
    check("{}", "in order");
    check(r#"{"injectionStrategy": {}}"#, "in order");
    check(r#"{"injectionStrategy": {"order": 5}}"#, "in order");
    check(r#"{"injectionStrategy": {"type": "default"}}"#, "in order");
    check(r#"{"insertionPoint": null, "anchorTarget": null}"#, "in order");
}

#[test]
fn reads_insertion_point_as_index() {
    check(r#"{"insertionPoint": 0}"#, "index 0");
    check(r#"{"insertionPoint": -1, "order": 7}"#, "index -1, order 7");
    check(r#"{"insertionPoint": 2.0}"#, "index 2");
}

#[test]
fn reads_depth_from_injection_strategy() {
    check(r#"{"injectionStrategy": {"type": "depth", "depth": 4}}"#, "depth 4");
    check(r#"{"injectionStrategy": {"depth": 0, "order": 1.5}}"#, "depth 0, order 1.5");
}

#[test]
fn reads_advanced_depth_config() {
    check(r#"{"injectionStrategy": {"type": "advanced_depth", "depthConfig": "3, 10~5"}}"#, "depth 3, 10~5");
    check(r#"{"injectionStrategy": {"depthConfig": "3:2"}}"#, "depth 3~2");
}

#[test]
fn reads_anchor_from_entry_or_strategy() {
    check(r#"{"anchorTarget": "lore", "anchorPoint": "before"}"#, "before `lore`");
    check(
        r#"{"injectionStrategy": {"type": "anchor", "anchorTarget": "lore", "anchorPosition": "before"}}"#,
        "before `lore`",
    );
    check(r#"{"injectionStrategy": {"anchorTarget": "lore"}}"#, "after `lore`");
    check(r#"{"injectionStrategy": {"type": "anchor"}, "anchorTarget": "lore"}"#, "after `lore`");
}

#[test]
fn defaults_to_after_anchor() {
    check(r#"{"anchorTarget": "lore"}"#, "after `lore`");
    check(r#"{"anchorTarget": "lore", "anchorPoint": "after"}"#, "after `lore`");
}

#[test]
fn defaults_to_chat_history_anchor() {
    check(r#"{"anchorPoint": "before"}"#, "before `chat_history`");
    check(r#"{"anchorTarget": "__CHAT_HISTORY__"}"#, "after `chat_history`");
    check(r#"{"anchorTarget": " "}"#, "after `chat_history`");
    check(r#"{"injectionStrategy": {"type": "anchor"}}"#, "after `chat_history`");
}

#[test]
fn reports_unknown_anchor_side_at_its_location() {
    check(
        r#"{"anchorTarget": "lore", "anchorPoint": "above"}"#,
        "after `lore`\nCTX0110 /anchorPoint: unknown side `above` of an anchor; `after` is used",
    );
    check(
        r#"{"injectionStrategy": {"anchorTarget": "lore", "anchorPosition": "above"}}"#,
        "after `lore`\nCTX0110 /injectionStrategy/anchorPosition: unknown side `above` of an anchor; `after` is used",
    );
}

#[test]
fn prefers_explicit_type_and_reports_ignored_fields() {
    check(
        r#"{"injectionStrategy": {"type": "default", "depth": 3}, "insertionPoint": 2}"#,
        "in order\nCTX0110 /insertionPoint: `insertionPoint` has no effect: `injectionStrategy.type` is `default`",
    );
    check(
        r#"{"injectionStrategy": {"type": "depth", "depth": 3}, "anchorTarget": "lore"}"#,
        "depth 3\nCTX0110 /anchorTarget: `anchorTarget` has no effect: `injectionStrategy.type` is `depth`",
    );
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
fn prefers_depth_over_index_over_anchor() {
    check(
        r#"{"injectionStrategy": {"depth": 3}, "insertionPoint": 1, "anchorTarget": "lore"}"#,
        "depth 3\nCTX0110 : the entry has 3 placements; `depth 3` is used",
    );
    check(
        r#"{"insertionPoint": 1, "anchorTarget": "lore"}"#,
        "index 1\nCTX0110 : the entry has 2 placements; `index 1` is used",
    );
}

#[test]
fn reports_unknown_type_and_infers_placement() {
    check(
        r#"{"injectionStrategy": {"type": "deep", "depth": 3}}"#,
        "depth 3\nCTX0110 /injectionStrategy/type: unknown injection strategy type `deep`; it is inferred from the other fields",
    );
}

#[test]
fn keeps_list_position_if_value_is_missing() {
    check(
        r#"{"injectionStrategy": {"type": "depth"}}"#,
        "in order\nCTX0110 /injectionStrategy/type: the injection strategy needs `depth`; the entry stays at its list position",
    );
    check(
        r#"{"injectionStrategy": {"type": "advanced_depth", "depthConfig": " "}}"#,
        "in order\nCTX0110 /injectionStrategy/type: the injection strategy needs `depthConfig`; the entry stays at its list position",
    );
}

#[test]
fn falls_back_to_plain_depth() {
    check(
        r#"{"injectionStrategy": {"type": "advanced_depth", "depthConfig": "x", "depth": 2}}"#,
        "depth 2\nCTX0111 /injectionStrategy/depthConfig: invalid depth `x`; it is ignored\nCTX0110 /injectionStrategy/type: `depthConfig` has no depth; depth 2 is used",
    );
}

#[test]
fn reports_negative_depth_and_uses_zero() {
    check(
        r#"{"injectionStrategy": {"depth": -3}}"#,
        "depth 0\nCTX0111 /injectionStrategy/depth: depth -3 is negative; 0 is used",
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
