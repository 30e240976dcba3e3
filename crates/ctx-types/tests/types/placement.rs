use ctx_types::{Diagnostic, Order, Persist as _, Placement, PresetMessage, Reader};
use proptest::prelude::*;
use serde_json::{Value, json};

/// `expected` is the placement, its order unless 100, and a line per diagnostic.
#[track_caller]
fn check(entry: &str, expected: &str) {
    let value: Value = serde_json::from_str(entry).unwrap();
    let entry = PresetMessage::read(value.clone(), &mut Reader::new());
    let (placement, diagnostics) = Placement::of(&entry);
    let order = placement.order();
    let mut lines = match order == Order::DEFAULT {
        true => vec![placement.to_string()],
        false => vec![format!("{placement}, order {}", order.0)],
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
fn an_entry_that_names_no_place_stays_in_order() {
    check("{}", "in order");
    check(r#"{"injectionStrategy": {}}"#, "in order");
    check(r#"{"injectionStrategy": {"order": 5}}"#, "in order");
    check(r#"{"injectionStrategy": {"type": "default"}}"#, "in order");
    check(r#"{"insertionPoint": null, "anchorTarget": null}"#, "in order");
}

#[test]
fn an_insertion_point_is_an_index() {
    check(r#"{"insertionPoint": 0}"#, "index 0");
    check(r#"{"insertionPoint": -1, "order": 7}"#, "index -1, order 7");
    check(r#"{"insertionPoint": 2.0}"#, "index 2");
}

#[test]
fn a_depth_is_counted_from_the_end() {
    check(r#"{"injectionStrategy": {"type": "depth", "depth": 4}}"#, "depth 4");
    check(r#"{"injectionStrategy": {"depth": 0, "order": 1.5}}"#, "depth 0, order 1.5");
}

#[test]
fn an_advanced_depth_has_several_points() {
    check(r#"{"injectionStrategy": {"type": "advanced_depth", "depthConfig": "3, 10~5"}}"#, "depth 3, 10~5");
    check(r#"{"injectionStrategy": {"depthConfig": "3:2"}}"#, "depth 3~2");
}

#[test]
fn an_anchor_is_named_flat_or_in_the_strategy() {
    check(r#"{"anchorTarget": "lore", "anchorPoint": "before"}"#, "before `lore`");
    check(
        r#"{"injectionStrategy": {"type": "anchor", "anchorTarget": "lore", "anchorPosition": "before"}}"#,
        "before `lore`",
    );
    check(r#"{"injectionStrategy": {"anchorTarget": "lore"}}"#, "after `lore`");
    check(r#"{"injectionStrategy": {"type": "anchor"}, "anchorTarget": "lore"}"#, "after `lore`");
}

#[test]
fn the_side_of_an_anchor_is_after_unless_said_otherwise() {
    check(r#"{"anchorTarget": "lore"}"#, "after `lore`");
    check(r#"{"anchorTarget": "lore", "anchorPoint": "after"}"#, "after `lore`");
}

#[test]
fn without_a_target_the_anchor_is_the_history() {
    check(r#"{"anchorPoint": "before"}"#, "before `chat_history`");
    check(r#"{"anchorTarget": "__CHAT_HISTORY__"}"#, "after `chat_history`");
    check(r#"{"anchorTarget": " "}"#, "after `chat_history`");
    check(r#"{"injectionStrategy": {"type": "anchor"}}"#, "after `chat_history`");
}

#[test]
fn an_unknown_side_is_after_and_reported_where_it_is_written() {
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
fn an_explicit_type_decides_and_flat_fields_without_effect_are_reported() {
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
fn leftovers_of_another_type_in_the_strategy_are_not_reported() {
    check(
        r#"{"injectionStrategy": {"type": "anchor", "depth": 3, "depthConfig": "1", "anchorTarget": "lore"}}"#,
        "after `lore`",
    );
    check(r#"{"injectionStrategy": {"type": "depth", "depth": 3, "anchorTarget": "lore"}}"#, "depth 3");
}

#[test]
fn of_several_places_a_depth_comes_before_an_index_and_an_index_before_an_anchor() {
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
fn an_unknown_type_is_reported_and_the_place_inferred() {
    check(
        r#"{"injectionStrategy": {"type": "deep", "depth": 3}}"#,
        "depth 3\nCTX0110 /injectionStrategy/type: unknown injection strategy type `deep`; it is inferred from the other fields",
    );
}

#[test]
fn a_type_without_its_value_leaves_the_entry_in_order() {
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
fn an_advanced_depth_without_points_falls_back_to_the_plain_one() {
    check(
        r#"{"injectionStrategy": {"type": "advanced_depth", "depthConfig": "x", "depth": 2}}"#,
        "depth 2\nCTX0111 /injectionStrategy/depthConfig: invalid depth `x`; it is ignored\nCTX0110 /injectionStrategy/type: `depthConfig` has no depth; depth 2 is used",
    );
}

#[test]
fn a_negative_depth_is_zero_and_reported() {
    check(
        r#"{"injectionStrategy": {"depth": -3}}"#,
        "depth 0\nCTX0111 /injectionStrategy/depth: depth -3 is negative; 0 is used",
    );
}

#[test]
fn orders_ascend_and_minus_zero_is_zero() {
    assert!(Order(-1.0) < Order(0.0) && Order(2.0) < Order(10.0) && Order(10.0) < Order::DEFAULT);
    assert_eq!(Order(-0.0), Order(0.0));
    assert_eq!(Order(-0.0).cmp(&Order(0.0)), std::cmp::Ordering::Equal);
}

#[track_caller]
fn check_written(from: Value, into: Value, expected: &Value) {
    let (placement, _) = Placement::of(&PresetMessage::read(from, &mut Reader::new()));
    let mut entry = PresetMessage::read(into, &mut Reader::new());
    placement.write_to(&mut entry);
    assert_eq!(entry.write(), *expected);
}

#[test]
fn an_index_is_written_flat_and_the_others_as_a_strategy() {
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
fn writing_keeps_the_lane_and_unknown_keys() {
    check_written(
        json!({ "insertionPoint": 1 }),
        json!({ "injectionStrategy": { "type": "depth", "depth": 1, "lane": 3, "x": null } }),
        &json!({ "injectionStrategy": { "lane": 3, "x": null }, "insertionPoint": 1 }),
    );
}

#[test]
fn the_same_placement_leaves_the_entry_as_it_is() {
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
    fn any_entry_has_a_placement_and_findings_point_into_it(value in entry()) {
        let entry = PresetMessage::read(value.clone(), &mut Reader::new());
        let (_, diagnostics) = Placement::of(&entry);
        for diagnostic in diagnostics {
            let pointer = diagnostic.location.pointer.clone().unwrap_or_default();
            prop_assert!(value.pointer(&pointer).is_some(), "{}", diagnostic);
        }
    }

    #[test]
    fn a_placement_that_is_written_is_read_back(from in entry(), into in entry()) {
        let (placement, _) = Placement::of(&PresetMessage::read(from, &mut Reader::new()));
        let mut entry = PresetMessage::read(into, &mut Reader::new());
        placement.write_to(&mut entry);
        let again = PresetMessage::read(entry.write(), &mut Reader::new());
        prop_assert_eq!(Placement::of(&again).0, placement);
    }
}
