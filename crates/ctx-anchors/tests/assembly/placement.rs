use crate::case::check;

#[track_caller]
fn check_place(placement: &str, history: &str, expected: &str) {
    let preset = format!(r#"[{{"type": "chat_history"}}, {{"content": "x", {placement}}}]"#);
    check(&preset, history, expected);
}

#[track_caller]
fn check_index(at: i64, history: &str, expected: &str) {
    check_place(&format!(r#""insertionPoint": {at}"#), history, expected);
}

#[track_caller]
fn check_depth(depth: u64, history: &str, expected: &str) {
    check_place(&format!(r#""injectionStrategy": {{"type": "depth", "depth": {depth}}}"#), history, expected);
}

#[track_caller]
fn check_depths(depths: &str, history: &str, expected: &str) {
    let placement =
        format!(r#""injectionStrategy": {{"type": "advanced_depth", "depthConfig": "{depths}"}}"#);
    check_place(&placement, history, expected);
}

#[test]
fn keeps_list_order_without_placement() {
    check(
        r#"[{"role": "system", "content": "A"}, {"content": "B"}, {"type": "chat_history"}, {"content": "C"}]"#,
        "ua",
        "A(s) B u1 a2 C",
    );
}

#[test]
fn counts_index_from_start_of_history() {
    check_index(0, "uauau", "x u1 a2 u3 a4 u5");
    check_index(1, "uauau", "u1 x a2 u3 a4 u5");
    check_index(2, "uauau", "u1 a2 x u3 a4 u5");
}

#[test]
fn clamps_index_to_end_of_history() {
    check_index(4, "uauau", "u1 a2 u3 a4 x u5");
    check_index(5, "uauau", "u1 a2 u3 a4 x u5");
    check_index(99, "uauau", "u1 a2 u3 a4 x u5");
    check_index(i64::MAX, "uauau", "u1 a2 u3 a4 x u5");
}

#[test]
fn counts_negative_index_from_end_of_history() {
    check_index(-1, "uauau", "u1 a2 u3 a4 x u5");
    check_index(-2, "uauau", "u1 a2 u3 x a4 u5");
    check_index(-5, "uauau", "x u1 a2 u3 a4 u5");
}

#[test]
fn clamps_negative_index_to_start_of_history() {
    check_index(-6, "uauau", "x u1 a2 u3 a4 u5");
    check_index(-99, "uauau", "x u1 a2 u3 a4 u5");
    check_index(i64::MIN, "uauau", "x u1 a2 u3 a4 u5");
}

#[test]
fn includes_all_messages_in_history_without_pending_turn() {
    check_index(0, "uaua", "x u1 a2 u3 a4");
    check_index(2, "uaua", "u1 a2 x u3 a4");
    check_index(99, "uaua", "u1 a2 u3 a4 x");
    check_index(-1, "uaua", "u1 a2 u3 a4 x");
    check_index(-2, "uaua", "u1 a2 u3 x a4");
    check_index(-99, "uaua", "x u1 a2 u3 a4");
}

#[test]
fn treats_tool_loop_as_one_pending_turn() {
    check_index(99, "uauctct", "u1 a2 x u3 c4 t5 c6 t7");
    check_index(2, "uauctct", "u1 a2 x u3 c4 t5 c6 t7");
    check_index(-1, "uauctct", "u1 a2 x u3 c4 t5 c6 t7");
    check_index(-2, "uauctct", "u1 x a2 u3 c4 t5 c6 t7");
    check_index(0, "uctct", "x u1 c2 t3 c4 t5");
}

#[test]
fn treats_trailing_user_messages_as_one_turn() {
    check_index(99, "uauu", "u1 a2 x u3 u4");
    check_index(-1, "uauu", "u1 a2 x u3 u4");
    check_index(-2, "uauu", "u1 x a2 u3 u4");
    check_index(-1, "uu", "x u1 u2");
}

#[test]
fn includes_finished_tool_loop_in_history() {
    check_index(-1, "ucta", "u1 c2 t3 a4 x");
    check_index(-1, "uctau", "u1 c2 t3 a4 x u5");
}

#[test]
fn provides_one_slot_in_empty_history() {
    check_index(0, "", "x");
    check_index(-1, "", "x");
    check_depth(0, "", "x");
}

#[test]
fn moves_index_before_message_group() {
    let moved = "moved preset#1: placed before a tool call, which stays with its results";
    check_index(2, "uctau", &format!("u1 x c2 t3 a4 u5\n{moved}"));
    check_index(-3, "ucttau", &format!("u1 x c2 t3 t4 a5 u6\n{moved}"));
    check_index(1, "uctau", "u1 x c2 t3 a4 u5");
    check_index(3, "uctau", "u1 c2 t3 x a4 u5");
}

#[test]
fn counts_depth_from_last_message() {
    check_depth(0, "uauau", "u1 a2 u3 a4 u5 x");
    check_depth(1, "uauau", "u1 a2 u3 a4 x u5");
    check_depth(4, "uauau", "u1 x a2 u3 a4 u5");
    check_depth(5, "uauau", "x u1 a2 u3 a4 u5");
    check_depth(0, "uaua", "u1 a2 u3 a4 x");
}

#[test]
fn places_depth_inside_pending_turn() {
    check_depth(0, "uauct", "u1 a2 u3 c4 t5 x");
    check_depth(2, "uauct", "u1 a2 u3 x c4 t5");
}

#[test]
fn clamps_single_depth_to_front_of_history() {
    check_depth(
        6,
        "uauau",
        "x u1 a2 u3 a4 u5\nmoved preset#1: depth 6 exceeds 5 messages; placed before the oldest",
    );
    check_depths(
        "99",
        "ua",
        "u1 a2\nnot_activated preset#1: depth 99 is beyond the conversation (2 messages)",
    );
}

#[test]
fn moves_depth_before_message_group() {
    let moved = "moved preset#1: placed before a tool call, which stays with its results";
    check_depth(1, "uctt", &format!("u1 x c2 t3 t4\n{moved}"));
    check_depth(2, "uctt", &format!("u1 x c2 t3 t4\n{moved}"));
    check_depth(3, "uctt", "u1 x c2 t3 t4");
}

#[test]
fn repeats_entry_at_several_depths() {
    check_depths("1, 3", "uauau", "u1 a2 x u3 a4 x u5");
    check_depths("0~2", "uauau", "u1 x a2 u3 x a4 u5 x");
    check_depths("1:2", "uauau", "x u1 a2 x u3 a4 x u5");
    check_depths("2~0, 2, 2", "uauau", "u1 a2 u3 x a4 u5");
}

#[test]
fn skips_depths_beyond_history() {
    check_depths(
        "1, 9",
        "uau",
        "u1 a2 x u3\nnot_activated preset#1: depth 9 is beyond the conversation (3 messages)",
    );
    check_depths(
        "7, 9~2",
        "uau",
        "u1 a2 u3\nnot_activated preset#1 and 1 more: depth 7, 9 is beyond the conversation (3 messages)",
    );
}

#[test]
fn truncates_long_list_of_skipped_depths() {
    check_depths(
        "4,5,6,7,8,9,10,11",
        "uau",
        "u1 a2 u3\n        not_activated preset#1 and 7 more: depth 4, 5, 6, 7, 8, 9, 10, 11 is beyond the conversation (3 messages)",
    );
    check_depths(
        "4,5,6,7,8,9,10,11,12,13",
        "uau",
        "u1 a2 u3\n        not_activated preset#1 and 9 more: depth 4, 5, 6, 7, 8, 9, 10, 11, … is beyond the conversation (3 messages)",
    );
}

#[test]
fn merges_depths_moved_before_same_group() {
    check_depths(
        "1~1",
        "uctta",
        "x u1 x c2 t3 t4 x a5\n        moved preset#1: placed before a tool call, which stays with its results\n        dropped preset#1 and 1 more: another of its depths has the same position",
    );
}

#[test]
fn reports_invalid_depth_syntax() {
    check_depths(
        "2, -1, 1x",
        "uau",
        "u1 x a2 x u3\n        warning CTX0111 /1/injectionStrategy/depthConfig: invalid depth `-1`; it is ignored\n        warning CTX0111 /1/injectionStrategy/depthConfig: `1x` is read as `1`",
    );
}

#[test]
fn keeps_leading_system_messages_before_slots() {
    check_index(0, "ssuau", "s1 s2 x u3 a4 u5");
    check_index(-99, "ssuau", "s1 s2 x u3 a4 u5");
    check_depth(3, "ssuau", "s1 s2 x u3 a4 u5");
    check_index(1, "suau", "s1 u2 x a3 u4");
    check_depth(
        4,
        "ssuau",
        "s1 s2 x u3 a4 u5\nmoved preset#1: depth 4 exceeds 3 messages; placed before the oldest",
    );
}

#[test]
fn leaves_later_system_message_unpinned() {
    check_index(0, "uas", "x u1 a2 s3");
    check_depth(0, "uas", "u1 a2 s3 x");
}

#[test]
fn keeps_continuation_prefix_last_without_counting_it() {
    check_depth(0, "uaup", "u1 a2 u3 x p4");
    check_depth(1, "uaup", "u1 a2 x u3 p4");
    check_index(-1, "uaup", "u1 a2 x u3 p4");
    check_index(-1, "p", "x p1");
    check(r#"[{"type": "chat_history"}, {"content": "end"}]"#, "uap", "u1 a2 end p3");
}

#[test]
fn places_history_anchors_outside_slots() {
    check(
        r#"[
            {"content": "depth", "injectionStrategy": {"depth": 0}},
            {"content": "index", "insertionPoint": 0},
            {"content": "after", "anchorTarget": "chat_history", "order": -9},
            {"content": "before", "anchorPoint": "before", "order": 999},
            {"type": "chat_history"}
        ]"#,
        "sup",
        "before s1 index u2 depth after p3",
    );
}

#[test]
fn sorts_slot_by_order_then_list() {
    check(
        r#"[
            {"type": "chat_history"},
            {"content": "late", "insertionPoint": -1, "order": 100.5},
            {"content": "one", "insertionPoint": -1},
            {"content": "two", "injectionStrategy": {"depth": 1}},
            {"content": "early", "injectionStrategy": {"depth": 1, "order": 99}},
            {"content": "first", "insertionPoint": 2, "order": -1}
        ]"#,
        "uau",
        "u1 a2 first early one two late u3",
    );
}

#[test]
fn applies_tie_breaker_before_list_position() {
    check(
        r#"[
            {"type": "chat_history"},
            {"content": "lane", "injectionStrategy": {"depth": 0, "lane": 1}},
            {"content": "plain", "injectionStrategy": {"depth": 0}},
            {"content": "negative", "injectionStrategy": {"depth": 0, "lane": -1}},
            {"content": "order", "injectionStrategy": {"depth": 0, "lane": 9, "order": 1}}
        ]"#,
        "u",
        "u1 order negative plain lane",
    );
}

#[test]
fn moves_unloaded_slots_before_loaded_messages() {
    let moved =
        "moved preset#1: its position is in history that is not loaded; placed before the loaded messages";
    check_index(0, "ua|uau", &format!("x u3 a4 u5\n{moved}"));
    check_index(1, "ua|uau", &format!("x u3 a4 u5\n{moved}"));
    check_index(-4, "ua|uau", &format!("x u3 a4 u5\n{moved}"));
    check_depth(4, "ua|uau", &format!("x u3 a4 u5\n{moved}"));
    let beyond = "moved preset#1: depth 99 exceeds 5 messages; placed before the oldest";
    check_depth(99, "ua|uau", &format!("x u3 a4 u5\n{beyond}"));
}

#[test]
fn keeps_loaded_slots_at_their_positions() {
    check_index(2, "ua|uau", "x u3 a4 u5");
    check_index(3, "ua|uau", "u3 x a4 u5");
    check_index(99, "ua|uau", "u3 a4 x u5");
    check_index(-1, "ua|uau", "u3 a4 x u5");
    check_index(-3, "ua|uau", "x u3 a4 u5");
    check_depth(3, "ua|uau", "x u3 a4 u5");
    check_depth(1, "ua|uau", "u3 a4 x u5");
    check_index(0, "s|uau", "s1 x u2 a3 u4");
    check_index(3, "sua|uau", "s1 u4 x a5 u6");
}

#[test]
fn combines_unloaded_depths_in_one_decision() {
    check_depths(
        "1~1, 9",
        "uau|uau",
        "x u4 x a5 x u6\n        not_activated preset#1: depth 9 is beyond the conversation (6 messages)\n        not_loaded preset#1 and 2 more: its depths are in history that is not loaded",
    );
}

#[test]
fn appends_history_without_placement() {
    check(
        r#"[{"content": "A"}, {"content": "x", "insertionPoint": -1}, {"content": "B"}]"#,
        "uau",
        "A B u1 a2 x u3",
    );
    check("[]", "uau", "u1 a2 u3");
    check(r#"{"historyWhenUnplaced": "append", "presetMessages": [{"content": "A"}]}"#, "su", "A s1 u2");
}

#[test]
fn omits_unplaced_history_if_requested() {
    check(
        r#"{"historyWhenUnplaced": "omit", "presetMessages": [
            {"content": "A"},
            {"content": "x", "insertionPoint": -1},
            {"content": "y", "injectionStrategy": {"depth": 4}}
        ]}"#,
        "suaup",
        "A\n        dropped preset#1: index -1 is a position in the history, and no history is sent\n        dropped preset#2: depth 4 is a position in the history, and no history is sent\n        dropped history:s1 and 4 more: the preset has no `chat_history`, and `historyWhenUnplaced` is `omit`",
    );
}

#[test]
fn ignores_omit_if_history_is_placed() {
    check(
        r#"{"historyWhenUnplaced": "omit", "presetMessages": [{"type": "chat_history"}, {"content": "A"}]}"#,
        "u",
        "u1 A",
    );
}

#[test]
fn reports_invalid_history_setting() {
    check(
        r#"{"historyWhenUnplaced": "drop", "presetMessages": []}"#,
        "u",
        "u1\nwarning CTX0211 /historyWhenUnplaced: invalid `historyWhenUnplaced` value `drop`; `append` is used",
    );
}

#[test]
fn reports_multiple_placements() {
    check_place(
        r#""insertionPoint": 0, "anchorTarget": "chat_history""#,
        "u",
        "x u1\nwarning CTX0110 /1: the entry has 2 placements; `index 0` is used",
    );
    check_place(
        r#""insertionPoint": 0, "injectionStrategy": {"type": "default"}"#,
        "u",
        "u1 x
        warning CTX0110 /1/insertionPoint: `insertionPoint` has no effect: `injectionStrategy.type` is `default`",
    );
}

#[test]
fn inserts_dollar_signs_verbatim() {
    check_place(r#""insertionPoint": 0, "name": "a""#, "u", "x u1");
    check(
        r#"[{"content": "$&"}, {"type": "chat_history"}, {"content": "$$1{{user}}$0", "insertionPoint": 0}]"#,
        "u",
        "$& $$1Ada$0 u1",
    );
}
