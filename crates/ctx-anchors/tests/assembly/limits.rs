//! Large untrusted files. Uses no timer, because a quadratic step would be noticeable.

use crate::case;
use ctx_anchors::{AnchorRegistry, AssembledPreset, Preset, Target, assemble};
use ctx_types::session::Window;
use ctx_types::{
    Agent, Diagnostic, Injection, Message, Order, Persist as _, Placement, Reader, Role, Side, Source,
    SourceKind, ToolCall, Trust, groups,
};
use serde_json::{Value, json};

const ENTRIES: usize = 10_000;

fn run(entries: &[Value], history: usize, injections: Vec<Injection>) -> (AssembledPreset, Vec<Diagnostic>) {
    let agent = Agent::read(json!({ "presetMessages": entries }), &mut Reader::new());
    let (preset, diagnostics) = Preset::compile(&agent, &AnchorRegistry::system());
    let message = |index: usize| {
        let role = if index.is_multiple_of(2) { Role::User } else { Role::Assistant };
        Message::new(role, "m", Source::history(index.to_string(), role))
    };
    let window = Window::from_messages((0..history).map(message).collect());
    (assemble(&preset, window, injections, Target::default(), &mut case::render), diagnostics)
}

fn entries(entry: impl Fn(usize) -> Value) -> Vec<Value> {
    (0..ENTRIES).map(entry).collect()
}

#[track_caller]
fn check_decisions(assembled: &AssembledPreset, expected: &[&str]) {
    let found: Vec<String> = assembled.decisions.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn places_many_entries_at_last_anchor() {
    let anchor = |index| json!({ "type": "placeholder", "id": format!("anchor {index}") });
    let placed = |_| json!({ "content": "x", "anchorTarget": format!("anchor {}", ENTRIES - 1) });
    let (assembled, diagnostics) = run(&[entries(anchor), entries(placed)].concat(), 0, Vec::new());
    assert_eq!((assembled.messages.len(), diagnostics.len()), (ENTRIES, 0));
}

#[test]
fn reports_many_mistyped_targets() {
    let anchor =
        |index| json!({ "type": "placeholder", "id": format!("the very long name of anchor {index}") });
    let placed =
        |index| json!({ "content": "x", "anchorTarget": format!("the very long nema of anchor {index}") });
    let (assembled, diagnostics) = run(&[entries(anchor), entries(placed)].concat(), 0, Vec::new());
    assert_eq!((assembled.messages.len(), diagnostics.len()), (ENTRIES, ENTRIES));
}

#[test]
fn reports_many_unknown_groups_and_types() {
    let entry = |index| {
        json!({
            "content": "x", "type": format!("user_profil{index}"), "groupId": format!("group {index}"),
            "modelMatch": { "enabled": true, "exclude": true, "patterns": ["gpt"] },
        })
    };
    let (assembled, diagnostics) = run(&entries(entry), 0, Vec::new());
    assert_eq!((assembled.messages.len(), diagnostics.len()), (ENTRIES, 2 * ENTRIES));
}

#[test]
fn places_many_entries_in_long_history() {
    let index = |index| json!({ "content": "x", "insertionPoint": index });
    let depth = |index| json!({ "content": "x", "injectionStrategy": { "depth": 3 * index } });
    let (assembled, _) = run(&[entries(index), entries(depth)].concat(), 100_000, Vec::new());
    assert_eq!(assembled.messages.len(), 120_000);
    assert!(assembled.decisions.is_empty());
}

#[test]
fn keeps_nearest_depths_within_limit() {
    let entry = json!({ "content": "x", "injectionStrategy": { "depthConfig": "50000~1, 0~2" } });
    let (assembled, _) = run(&[entry], 100_000, Vec::new());
    assert_eq!(assembled.messages.len(), 110_000);
    assert_eq!(assembled.messages.last().unwrap().text(), "x");
    check_decisions(&assembled, &["cut preset#0: the limit allows 10000 depths; only the nearest are used"]);
}

#[test]
fn limits_depths_across_all_entries() {
    let entry = json!({ "content": "x", "injectionStrategy": { "depthConfig": "0~1" } });
    let (assembled, _) = run(&vec![entry; 12], 9_999, Vec::new());
    assert_eq!(assembled.messages.len(), 9_999 + 100_000);
    check_decisions(
        &assembled,
        &[
            "dropped preset#10: the limit for entries with several depths is reached",
            "dropped preset#11: the limit for entries with several depths is reached",
        ],
    );
}

/// Also checks whether the next entry fits.
#[track_caller]
fn check_points(content: &Value, points: usize, left: &[&str]) {
    let config = json!({ "depthConfig": "0~1" });
    let entry = json!({ "content": content, "injectionStrategy": config });
    let (assembled, _) =
        run(&[entry, json!({ "content": "y", "injectionStrategy": config })], 9_999, Vec::new());
    let cut = format!("cut preset#0: the limit allows {points} depths; only the nearest are used");
    check_decisions(&assembled, &[&[&*cut], left].concat());
    let others = if left.is_empty() { 10_000 } else { 0 };
    assert_eq!(assembled.messages.len(), 9_999 + points + others);
}

/// Without a limit, 1 MB at every depth would be 10 GB.
#[test]
fn limits_depths_of_long_entries() {
    let full = ["dropped preset#1: the limit for entries with several depths is reached"];
    let half = "x".repeat(1 << 19);
    check_points(&json!(half.repeat(2)), 64, &full);
    let text = json!({ "type": "text", "text": half });
    // Segments of each part use memory too.
    check_points(&json!([text, text]), 63, &[]);
    let url = format!("data:image/png;base64,{}", "A".repeat((1 << 20) - 65));
    check_points(&json!([{ "type": "image_url", "image_url": { "url": url } }]), 64, &full);
}

#[test]
fn places_many_injections_without_anchors() {
    let source = Source::new(SourceKind::Worldbook, Trust::Import);
    let anchors = ["world_info_before", "world_info_after", "author_note", "dialogue_examples"];
    let injection = |index: usize| {
        let target = anchors[index % anchors.len()].into();
        let placement = Placement::Anchor { target, side: Side::After, order: Order::DEFAULT };
        Injection::plugin("x", placement, source.clone())
    };
    let entry =
        |index| json!({ "content": "x", "role": if index < ENTRIES / 2 { "user" } else { "system" } });
    let (assembled, _) = run(&entries(entry), 10, (0..ENTRIES).map(injection).collect());
    assert_eq!(assembled.messages.len(), 2 * ENTRIES + 10);
    assert_eq!(assembled.decisions.len(), ENTRIES);
}

#[test]
fn groups_many_tool_calls() {
    let mut call = Message::new(Role::Assistant, "", Source::history("c", Role::Assistant));
    let mut messages = Vec::new();
    for index in 0..20_000 {
        let id: std::sync::Arc<str> = index.to_string().into();
        call.tool_calls.push(ToolCall { id: id.clone(), name: "f".into(), arguments: "{}".into() });
        let mut result = Message::new(Role::Tool, "r", Source::history("t", Role::Tool));
        result.tool_call_id = Some(id);
        messages.push(result);
    }
    messages.insert(0, call);
    assert_eq!(groups(&messages).len(), 1);
}
