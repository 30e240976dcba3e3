use crate::case;
use crate::case::Case;
use ctx_anchors::{AnchorRegistry, Preset, Target};
use ctx_types::DepthPoints;
use ctx_types::{Injection, Order, Place, Placement, Source, SourceKind, Trust};

#[track_caller]
fn check(preset: &str, injections: &str, expected: &str) {
    Case { injections, ..Case::new(preset, "uau") }.check(expected);
}

#[test]
fn sorts_presets_before_worldbooks_before_plugins_in_slot() {
    check(
        r#"[{"content": "preset", "insertionPoint": -1}]"#,
        r#"[
            {"content": "plugin", "insertionPoint": -1},
            {"content": "book", "rank": "worldbook", "insertionPoint": -1},
            {"content": "book2", "rank": "worldbook", "injectionStrategy": {"depth": 1}},
            {"content": "lane", "rank": "plugin", "lane": -1, "insertionPoint": -1},
            {"content": "order", "rank": "plugin", "lane": 5, "insertionPoint": -1, "order": 99}
        ]"#,
        "u1 a2 order lane preset book book2 plugin u3",
    );
}

#[test]
fn sorts_anchor_side_like_slot() {
    check(
        r#"[{"type": "code"}, {"content": "preset", "anchorTarget": "code"}]"#,
        r#"[
            {"content": "plugin", "anchorTarget": "code"},
            {"content": "book", "rank": "worldbook", "anchorTarget": "code"},
            {"content": "lane", "rank": "plugin", "lane": -1, "anchorTarget": "code"},
            {"content": "order", "rank": "plugin", "anchorTarget": "code", "order": 1}
        ]"#,
        "order lane preset book plugin u1 a2 u3",
    );
}

#[test]
fn places_world_info_before_description() {
    check(
        r#"[{"role": "system", "content": "A"}, {"type": "char_description", "role": "system", "content": "D"}]"#,
        r#"[{"content": "w", "anchorTarget": "world_info_before", "order": 7}]"#,
        "A(s) w D(s) u1 a2 u3\n        moved plugin:w: the preset has no anchor `world_info_before`; placed before `char_description`",
    );
}

#[test]
fn places_world_info_before_first_system_entry() {
    check(
        r#"[{"content": "U"}, {"role": "system", "content": "A"}, {"role": "system", "content": "B"}]"#,
        r#"[{"content": "w", "anchorTarget": "world_info_before"}]"#,
        "U w A(s) B(s) u1 a2 u3\n        moved plugin:w: the preset has no anchor `world_info_before`; placed before the first system entry",
    );
}

#[test]
fn falls_back_to_top_for_world_info_before() {
    check(
        r#"[{"type": "code"}, {"content": "U"}, {"content": "x", "anchorTarget": "code", "anchorPoint": "before"}]"#,
        r#"[
            {"role": "system", "content": "w1", "anchorTarget": "world_info_before"},
            {"role": "system", "content": "w2", "anchorTarget": "world_info_before"}
        ]"#,
        "w1(s) w2(s) x U u1 a2 u3\n        moved plugin:w1: the preset has no anchor `world_info_before`; placed at the top\n        moved plugin:w2: the preset has no anchor `world_info_before`; placed at the top",
    );
}

#[test]
fn places_world_info_after_description() {
    check(
        r#"[{"type": "char_description", "content": ""}, {"role": "system", "content": "A"}]"#,
        r#"[{"content": "w", "anchorTarget": "world_info_after"}]"#,
        "w A(s) u1 a2 u3\n        dropped preset#0: blank content\n        moved plugin:w: the preset has no anchor `world_info_after`; placed after `char_description`",
    );
}

#[test]
fn falls_back_to_history_for_world_info_after() {
    check(
        r#"[{"content": "U"}, {"type": "chat_history"}, {"role": "system", "content": "C"}]"#,
        r#"[{"content": "w", "anchorTarget": "world_info_after"}]"#,
        "U w u1 a2 u3 C(s)\n        moved plugin:w: the preset has no anchor `world_info_after`; placed before the history",
    );
}

#[test]
fn places_author_note_at_depth_four_as_system() {
    let preset = r#"[{"type": "chat_history"}]"#;
    let injections = r#"[{"role": "user", "content": "n", "anchorTarget": "author_note"}]"#;
    Case { injections, ..Case::new(preset, "uauau") }.check(
        "u1 n(s) a2 u3 a4 u5\n        moved plugin:n: the preset has no anchor `author_note`; placed at depth 4 as a system message",
    );
    Case { injections, ..Case::new(preset, "uau") }.check(
        "n(s) u1 a2 u3\n        moved plugin:n: the preset has no anchor `author_note`; placed at depth 4 as a system message\n        moved plugin:n: depth 4 exceeds 3 messages; placed before the oldest",
    );
}

#[test]
fn places_unanchored_injection_before_history() {
    check(
        r#"[{"content": "U"}, {"type": "chat_history"}, {"type": "code", "isEnabled": false}]"#,
        r#"[
            {"content": "x", "anchorTarget": "lore"},
            {"content": "y", "anchorTarget": "code", "order": 1},
            {"content": "z"}
        ]"#,
        "U y x z u1 a2 u3\n        moved plugin:x: the preset has no anchor `lore`; placed before the history\n        moved plugin:y: the preset has no anchor `code`; placed before the history\n        moved plugin:z: no target position; placed before the history",
    );
}

#[test]
fn appends_injections_if_history_is_omitted() {
    check(
        r#"{"historyWhenUnplaced": "omit", "presetMessages": [{"content": "U"}]}"#,
        r#"[
            {"content": "b", "role": "system", "anchorTarget": "lore"},
            {"content": "a", "role": "system", "anchorTarget": "author_note", "order": 1},
            {"content": "t", "anchorTarget": "world_info_before"},
            {"content": "d", "injectionStrategy": {"depth": 0}}
        ]"#,
        "t U a(s) b(s)\n        moved plugin:b: the preset has no anchor `lore`; placed at the end of the list\n        moved plugin:a: the preset has no anchor `author_note`; placed at the end of the list\n        moved plugin:t: the preset has no anchor `world_info_before`; placed at the top\n        dropped plugin:d: depth 0 is a position in the history, and no history is sent\n        dropped history:u1 and 2 more: the preset has no `chat_history`, and `historyWhenUnplaced` is `omit`",
    );
}

#[test]
fn drops_blank_injection() {
    check("[]", r#"[{"content": " ", "insertionPoint": 0}]"#, "u1 a2 u3\ndropped plugin: : blank content");
}

#[test]
fn places_injections_before_loaded_messages() {
    let injections = r#"[
        {"content": "i", "insertionPoint": 0},
        {"content": "n", "anchorTarget": "author_note"},
        {"content": "m", "injectionStrategy": {"depthConfig": "1, 5"}}
    ]"#;
    Case { injections, ..Case::new("[]", "uau|au") }.check(
        "i n(s) a4 m u5\n        moved plugin:i: its position is in history that is not loaded; placed before the loaded messages\n        moved plugin:n: the preset has no anchor `author_note`; placed at depth 4 as a system message\n        moved plugin:n: its position is in history that is not loaded; placed before the loaded messages\n        not_loaded plugin:m: its depths are in history that is not loaded",
    );
}

fn places(preset: &str, placements: Vec<Placement>) -> Vec<Place> {
    let (preset, _) = Preset::compile(&case::agent(preset), &AnchorRegistry::system());
    let source = Source::new(SourceKind::Plugin, Trust::Preset);
    let injection = |placement| Injection::plugin("x", placement, source.clone());
    let injections = placements.into_iter().map(injection).collect();
    let target = Target::default();
    let assembled = ctx_anchors::assemble(&preset, case::window("s"), injections, target, &mut case::render);
    assembled.messages.iter().map(|message| message.place).collect()
}

fn at(target: &str) -> Placement {
    Placement::Anchor { target: target.into(), side: ctx_types::Side::Before, order: Order::DEFAULT }
}

#[test]
fn records_place_of_every_message() {
    let points = DepthPoints::parse("0, 0~1").0;
    let placements = vec![
        at("chat_history"),
        at("scenario"),
        Placement::Index { at: 0, order: Order::DEFAULT },
        Placement::Depth { points, order: Order::DEFAULT },
        at("world_info_before"),
    ];
    let found = places(r#"[{"content": "A"}, {"type": "scenario", "content": "S"}]"#, placements);
    let (once, many) = (Place::Gap { multiple: false }, Place::Gap { multiple: true });
    let (listed, anchored) = (Place::Skeleton, Place::Anchored);
    assert_eq!(found, [anchored, listed, anchored, listed, Place::AroundHistory, Place::Pinned, once, many]);
    let omitted = r#"{"historyWhenUnplaced": "omit"}"#;
    assert_eq!(places(omitted, vec![at("lore")]), [anchored]);
}

#[test]
fn drops_injection_without_depth() {
    let (preset, _) = Preset::compile(&case::agent("[]"), &AnchorRegistry::system());
    let placement = Placement::Depth { points: DepthPoints::parse("").0, order: Order::DEFAULT };
    let source = Source::new(SourceKind::Plugin, Trust::Preset);
    let injections = vec![Injection::plugin("x", placement, source)];
    let target = Target::default();
    let assembled = ctx_anchors::assemble(&preset, case::window("u"), injections, target, &mut case::render);
    assert_eq!(case::texts(&assembled), "u1");
    assert_eq!(assembled.decisions[0].to_string(), "dropped plugin: no depth is set");
}

#[test]
fn drops_injection_at_disabled_anchor_if_requested() {
    let preset = r#"[
        {"type": "code", "isEnabled": false}, {"type": "weather", "content": "sun", "isEnabled": false},
        {"type": "weather", "content": "rain"}, {"type": "chat_history"}
    ]"#;
    let injections = r#"[
        {"content": "off", "anchorTarget": "code"}, {"content": "on", "anchorTarget": "weather"},
        {"content": "none", "anchorTarget": "lore"}, {"content": "all", "anchorTarget": "chat_history"}
    ]"#;
    let setting = |preset: Preset| preset.omit_at_disabled_anchors(true);
    Case { injections, setting, ..Case::new(preset, "u") }.check(
        "rain on none u1 all\n        hidden preset#1: disabled\n        dropped plugin:off: anchor `code` is disabled\n        moved plugin:none: the preset has no anchor `lore`; placed before the history",
    );
    Case { injections, ..Case::new(preset, "u") }.check(
        "rain on off none u1 all\n        hidden preset#1: disabled\n        moved plugin:off: the preset has no anchor `code`; placed before the history\n        moved plugin:none: the preset has no anchor `lore`; placed before the history",
    );
}
