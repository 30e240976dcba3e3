use serde_json::{Value, json};

use crate::case::{compile, draws, scan};
use ctx_worldbook::{TimedState, internal::UnplacedReason};

fn output(entries: Value) -> Value {
    let case = json!({ "entries": entries });
    let set = compile(&case);
    let scan = scan(&set, &case, &json!([]), &TimedState::default(), &mut draws(&case));
    let output = set.output(&scan);
    let text = |at: &usize| scan.activations[*at].content.to_string();
    let texts = |list: &[usize]| list.iter().map(text).collect::<Vec<_>>();
    let depths: Vec<Value> =
        output.depths.iter().map(|at| json!([at.depth, at.role.as_str(), texts(&at.entries)])).collect();
    let unplaced = |(at, why): &(usize, UnplacedReason)| json!([scan.activations[*at].member, why.phrase()]);
    let mut all = json!({
        "before": texts(&output.before_character), "after": texts(&output.after_character),
        "top": texts(&output.note_top), "bottom": texts(&output.note_bottom),
        "examples": output.examples.iter().map(|(at, above)| json!([text(at), above])).collect::<Vec<_>>(),
        "depths": depths,
        "outlets": output.outlets.iter().map(|(name, list)| (name.to_string(), json!(texts(list)))).collect::<serde_json::Map<_, _>>(),
        "elsewhere": texts(&output.elsewhere),
        "unplaced": output.unplaced.iter().map(unplaced).collect::<Vec<_>>(),
    });
    let map = all.as_object_mut().unwrap();
    map.retain(|_, value| *value != json!([]) && *value != json!({}));
    all
}

fn at(position: u8, order: u8, content: &str) -> Value {
    json!({ "constant": true, "position": position, "order": order, "content": content })
}

#[test]
fn sorts_by_order_and_reverses_ties() {
    let entries = json!([at(0, 5, "a"), at(0, 9, "b"), at(0, 5, "c"), at(0, 1, "d")]);
    assert_eq!(output(entries), json!({ "before": ["d", "c", "a", "b"] }));
}

#[test]
fn places_entries_at_every_position() {
    let entries = (0..7).map(|position| at(position, 1, &position.to_string())).collect();
    assert_eq!(
        output(entries),
        json!({
            "before": ["0"], "after": ["1"], "top": ["2"], "bottom": ["3"], "depths": [[4, "system", ["4"]]],
            "examples": [["6", false], ["5", true]],
        })
    );
}

#[test]
fn separates_depths_by_role() {
    let entry = |order: u8, depth: u8, role: u8, content: &str| {
        let mut entry = at(4, order, content);
        entry["depth"] = json!(depth);
        entry["role"] = json!(role);
        entry
    };
    let entries = json!([
        entry(1, 2, 0, "low"),
        entry(5, 2, 0, "high"),
        entry(3, 2, 1, "user"),
        entry(4, 0, 2, "answer"),
    ]);
    assert_eq!(
        output(entries),
        json!({ "depths": [[2, "system", ["low", "high"]], [0, "assistant", ["answer"]], [2, "user", ["user"]]] })
    );
}

#[test]
fn leaves_empty_entry_unplaced() {
    assert_eq!(output(json!([at(0, 1, "")])), json!({ "unplaced": [[0, "its content is empty"]] }));
}
