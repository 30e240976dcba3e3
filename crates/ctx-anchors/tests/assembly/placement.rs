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
fn entries_without_a_place_stay_in_order() {
    check(
        r#"[{"role": "system", "content": "A"}, {"content": "B"}, {"type": "chat_history"}, {"content": "C"}]"#,
        "ua",
        "A(s) B u1 a2 C",
    );
}

#[test]
fn an_index_counts_the_settled_history_from_its_start() {
    check_index(0, "uauau", "x u1 a2 u3 a4 u5");
    check_index(1, "uauau", "u1 x a2 u3 a4 u5");
    check_index(2, "uauau", "u1 a2 x u3 a4 u5");
}

#[test]
fn an_index_beyond_the_settled_history_is_its_end() {
    check_index(4, "uauau", "u1 a2 u3 a4 x u5");
    check_index(5, "uauau", "u1 a2 u3 a4 x u5");
    check_index(99, "uauau", "u1 a2 u3 a4 x u5");
    check_index(i64::MAX, "uauau", "u1 a2 u3 a4 x u5");
}

#[test]
fn a_negative_index_counts_from_the_end_of_the_settled_history() {
    check_index(-1, "uauau", "u1 a2 u3 a4 x u5");
    check_index(-2, "uauau", "u1 a2 u3 x a4 u5");
    check_index(-5, "uauau", "x u1 a2 u3 a4 u5");
}

#[test]
fn a_negative_index_beyond_the_start_is_the_start() {
    check_index(-6, "uauau", "x u1 a2 u3 a4 u5");
    check_index(-99, "uauau", "x u1 a2 u3 a4 u5");
    check_index(i64::MIN, "uauau", "x u1 a2 u3 a4 u5");
}

#[test]
fn without_a_pending_turn_all_history_is_settled() {
    check_index(0, "uaua", "x u1 a2 u3 a4");
    check_index(2, "uaua", "u1 a2 x u3 a4");
    check_index(99, "uaua", "u1 a2 u3 a4 x");
    check_index(-1, "uaua", "u1 a2 u3 a4 x");
    check_index(-2, "uaua", "u1 a2 u3 x a4");
    check_index(-99, "uaua", "x u1 a2 u3 a4");
}

#[test]
fn a_tool_loop_is_pending_as_a_whole() {
    check_index(99, "uauctct", "u1 a2 x u3 c4 t5 c6 t7");
    check_index(2, "uauctct", "u1 a2 x u3 c4 t5 c6 t7");
    check_index(-1, "uauctct", "u1 a2 x u3 c4 t5 c6 t7");
    check_index(-2, "uauctct", "u1 x a2 u3 c4 t5 c6 t7");
    check_index(0, "uctct", "x u1 c2 t3 c4 t5");
}

#[test]
fn two_trailing_user_messages_are_pending_together() {
    check_index(99, "uauu", "u1 a2 x u3 u4");
    check_index(-1, "uauu", "u1 a2 x u3 u4");
    check_index(-2, "uauu", "u1 x a2 u3 u4");
    check_index(-1, "uu", "x u1 u2");
}

#[test]
fn a_finished_tool_loop_is_settled() {
    check_index(-1, "ucta", "u1 c2 t3 a4 x");
    check_index(-1, "uctau", "u1 c2 t3 a4 x u5");
}

#[test]
fn an_empty_history_has_one_gap() {
    check_index(0, "", "x");
    check_index(-1, "", "x");
    check_depth(0, "", "x");
}

#[test]
fn an_index_inside_a_group_moves_to_just_before_it() {
    let moved = "moved preset#1: placed before a tool call, which stays with its results";
    check_index(2, "uctau", &format!("u1 x c2 t3 a4 u5\n{moved}"));
    check_index(-3, "ucttau", &format!("u1 x c2 t3 t4 a5 u6\n{moved}"));
    check_index(1, "uctau", "u1 x c2 t3 a4 u5");
    check_index(3, "uctau", "u1 c2 t3 x a4 u5");
}

#[test]
fn a_depth_counts_all_history_from_its_end() {
    check_depth(0, "uauau", "u1 a2 u3 a4 u5 x");
    check_depth(1, "uauau", "u1 a2 u3 a4 x u5");
    check_depth(4, "uauau", "u1 x a2 u3 a4 u5");
    check_depth(5, "uauau", "x u1 a2 u3 a4 u5");
    check_depth(0, "uaua", "u1 a2 u3 a4 x");
}

#[test]
fn a_depth_may_fall_into_the_pending_turn() {
    check_depth(0, "uauct", "u1 a2 u3 c4 t5 x");
    check_depth(2, "uauct", "u1 a2 u3 x c4 t5");
}

#[test]
fn a_single_depth_beyond_the_history_goes_to_the_front() {
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
fn a_depth_inside_a_group_moves_to_just_before_it() {
    let moved = "moved preset#1: placed before a tool call, which stays with its results";
    check_depth(1, "uctt", &format!("u1 x c2 t3 t4\n{moved}"));
    check_depth(2, "uctt", &format!("u1 x c2 t3 t4\n{moved}"));
    check_depth(3, "uctt", "u1 x c2 t3 t4");
}

#[test]
fn several_depths_place_the_entry_several_times() {
    check_depths("1, 3", "uauau", "u1 a2 x u3 a4 x u5");
    check_depths("0~2", "uauau", "u1 x a2 u3 x a4 u5 x");
    check_depths("1:2", "uauau", "x u1 a2 x u3 a4 x u5");
    check_depths("2~0, 2, 2", "uauau", "u1 a2 u3 x a4 u5");
}

#[test]
fn points_of_several_depths_beyond_the_history_are_not_placed() {
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
fn a_long_list_of_points_that_are_not_placed_is_cut_short() {
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
fn points_that_give_way_to_one_group_become_one() {
    check_depths(
        "1~1",
        "uctta",
        "x u1 x c2 t3 t4 x a5\n        moved preset#1: placed before a tool call, which stays with its results\n        dropped preset#1 and 1 more: another of its depths has the same position",
    );
}

#[test]
fn a_depth_syntax_that_is_not_understood_is_reported() {
    check_depths(
        "2, -1, 1x",
        "uau",
        "u1 x a2 x u3\n        warning CTX0111 /1/injectionStrategy/depthConfig: invalid depth `-1`; it is ignored\n        warning CTX0111 /1/injectionStrategy/depthConfig: `1x` is read as `1`",
    );
}

#[test]
fn leading_instructions_are_pinned_before_every_index_and_depth() {
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
fn a_later_instruction_is_not_pinned() {
    check_index(0, "uas", "x u1 a2 s3");
    check_depth(0, "uas", "u1 a2 s3 x");
}

#[test]
fn a_continuation_prefix_is_neither_counted_nor_passed() {
    check_depth(0, "uaup", "u1 a2 u3 x p4");
    check_depth(1, "uaup", "u1 a2 x u3 p4");
    check_index(-1, "uaup", "u1 a2 x u3 p4");
    check_index(-1, "p", "x p1");
    check(r#"[{"type": "chat_history"}, {"content": "end"}]"#, "uap", "u1 a2 end p3");
}

#[test]
fn before_and_after_the_history_lie_outside_its_gaps() {
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
fn at_one_gap_a_lower_order_comes_first_and_ties_keep_the_list() {
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
fn at_equal_order_the_lane_decides_before_the_list() {
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
fn a_gap_in_history_that_is_not_loaded_becomes_the_front_of_what_is() {
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
fn a_gap_in_history_that_is_loaded_is_where_it_would_be_in_the_whole() {
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
fn points_of_several_depths_that_are_not_loaded_are_one_decision() {
    check_depths(
        "1~1, 9",
        "uau|uau",
        "x u4 x a5 x u6\n        not_activated preset#1: depth 9 is beyond the conversation (6 messages)\n        not_loaded preset#1 and 2 more: its depths are in history that is not loaded",
    );
}

#[test]
fn without_a_place_for_it_the_history_follows_the_skeleton() {
    check(
        r#"[{"content": "A"}, {"content": "x", "insertionPoint": -1}, {"content": "B"}]"#,
        "uau",
        "A B u1 a2 x u3",
    );
    check("[]", "uau", "u1 a2 u3");
    check(r#"{"historyWhenUnplaced": "append", "presetMessages": [{"content": "A"}]}"#, "su", "A s1 u2");
}

#[test]
fn a_preset_may_omit_the_history_it_does_not_place() {
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
fn omit_has_no_effect_on_a_history_that_is_placed() {
    check(
        r#"{"historyWhenUnplaced": "omit", "presetMessages": [{"type": "chat_history"}, {"content": "A"}]}"#,
        "u",
        "u1 A",
    );
}

#[test]
fn an_unknown_way_to_treat_history_is_reported() {
    check(
        r#"{"historyWhenUnplaced": "drop", "presetMessages": []}"#,
        "u",
        "u1\nwarning CTX0211 /historyWhenUnplaced: invalid `historyWhenUnplaced` value `drop`; `append` is used",
    );
}

#[test]
fn of_several_places_one_is_used_and_that_is_reported() {
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
fn texts_are_inserted_as_they_are() {
    check_place(r#""insertionPoint": 0, "name": "a""#, "u", "x u1");
    check(
        r#"[{"content": "$&"}, {"type": "chat_history"}, {"content": "$$1{{user}}$0", "insertionPoint": 0}]"#,
        "u",
        "$& $$1Ada$0 u1",
    );
}
