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
