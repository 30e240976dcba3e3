//! Which messages a summary stands for.

use ctx_compress::mask::{MaskConfig, MaskLayer, MaskLevel, MaskSelection};
use serde_json::{Value, json};

use crate::{between, conversation, ids, plan};

/// Finds the range and writes its messages, `+` the summaries that it takes in, `after` those that stay.
#[track_caller]
fn check(words: &str, settings: Value, selection: &MaskSelection, expected: &str) {
    let config = MaskConfig::resolve(&[MaskLayer::new(MaskLevel::Call, settings)]).config;
    let found = plan(&conversation(words), &config, selection).map(|plan| {
        let range = plan.range;
        let part = |name: &str, list: &[_]| {
            if list.is_empty() { String::new() } else { format!("{name}{}", ids(list)) }
        };
        let (covered, previous) = (part(" + ", &range.covered), part(" after ", &range.previous));
        format!("{}{covered}{previous}", ids(&range.messages))
    });
    assert_eq!(found.unwrap_or_else(|reason| reason), expected, "{words}");
}

fn few(protect: usize, compress: usize) -> Value {
    json!({ "protectRecentCount": protect, "compressCount": compress })
}

#[test]
fn the_oldest_go_first_and_the_newest_stay() {
    check("u a u a u a u a", few(2, 4), &MaskSelection::Oldest, "n1 n2 n3 n4");
    check("u a u a u a u a", few(6, 4), &MaskSelection::Oldest, "n1 n2");
    check("u a u a u a u a", few(2, 4), &MaskSelection::All, "n1 n2 n3 n4 n5 n6");
}

#[test]
fn nothing_goes_if_all_stay() {
    let all_stay = "all 4 messages are among the newest 4, or in the current turn";
    check("s u a u a", few(4, 4), &MaskSelection::Oldest, all_stay);
    check("s u a u a", few(4, 4), &MaskSelection::All, all_stay);
}

#[test]
fn a_zero_protects_nothing_and_takes_nothing() {
    check("u a u a", few(0, 9), &MaskSelection::Oldest, "n1 n2 n3 n4");
    check("u a u a", few(0, 0), &MaskSelection::Oldest, "`compressCount` is 0");
    check("u a u a", few(0, 0), &MaskSelection::All, "n1 n2 n3 n4");
}

#[test]
fn groups_are_taken_whole_within_the_number() {
    check("u a:x,y t:x t:y a u a", few(0, 3), &MaskSelection::Oldest, "n1");
    check("u a:x,y t:x t:y a u a", few(0, 4), &MaskSelection::Oldest, "n1 n2 n3 n4");
}

#[test]
fn a_first_group_above_the_number_is_taken_whole() {
    check("a:x,y t:x t:y a u a", few(0, 2), &MaskSelection::Oldest, "n1 n2 n3");
}

#[test]
fn a_group_that_reaches_among_the_newest_stays() {
    check(
        "u a:x,y t:x t:y",
        few(1, 9),
        &MaskSelection::Oldest,
        "all 4 messages are among the newest 1, or in the current turn",
    );
    check("u a u a:x t:x a", few(2, 9), &MaskSelection::Oldest, "n1 n2 n3");
}

#[test]
fn the_turn_that_is_answered_stays() {
    check("u a u a:x t:x", few(0, 9), &MaskSelection::Oldest, "n1 n2");
    check("u a u a:x t:x", few(0, 9), &between("n1", "n5"), "n1 n2");
}

#[test]
fn live_greetings_and_instructions_stay() {
    check("s g u a s u a", few(0, 9), &MaskSelection::Oldest, "n3 n4 n6 n7");
    let all_stay = "all 0 messages are among the newest 0, or in the current turn";
    check("s a a", few(0, 9), &MaskSelection::Oldest, all_stay);
    check("a", few(0, 9), &MaskSelection::All, all_stay);
}

#[test]
fn messages_that_are_switched_off_are_passed_over() {
    check("u ~a u a", few(0, 9), &MaskSelection::Oldest, "n1 n3 n4");
}

#[test]
fn late_results_are_not_parted_from_their_calls() {
    check("u a:x u a t:x u a", few(2, 4), &MaskSelection::Oldest, "n1");
    check("u a:x u a t:x u a", few(2, 5), &MaskSelection::Oldest, "n1 n2 n3 n4 n5");
}

#[test]
fn earlier_summaries_stay() {
    check("u a S[n1,n2] u a u a", few(2, 9), &MaskSelection::Oldest, "n4 n5 after n3");
}

#[test]
fn a_summary_within_the_range_is_taken_in() {
    check("u a u a S[n3,n4] u a u a", few(2, 9), &MaskSelection::Oldest, "n1 n2 n6 n7 + n5");
}

#[test]
fn many_summaries_are_joined_with_what_follows() {
    let settings = |mode: &str, percent: u32| json!({ "protectRecentCount": 2, "triggerMode": mode, "countThreshold": 8, "tokenThreshold": 40, "rollUpPercent": percent });
    let words = "u a S[n1,n2] u a S[n4,n5] u a S[n7,n8] u a u a";
    check(words, settings("count", 25), &MaskSelection::Oldest, "n10 n11 + n3 n6 n9");
    check(words, settings("count", 50), &MaskSelection::Oldest, "n10 n11 after n3 n6 n9");
    check(words, settings("token", 25), &MaskSelection::Oldest, "n10 n11 + n3 n6 n9");
    check(words, settings("token", 100), &MaskSelection::Oldest, "n10 n11 after n3 n6 n9");
}

#[test]
fn summaries_are_joined_on_request() {
    check("u a S[n1,n2] u a S[n4,n5] u a", few(2, 9), &MaskSelection::Summaries, " + n3 n6");
    check("u a S[n1,n2] u a", few(2, 9), &MaskSelection::Summaries, "merging needs two summaries");
    check("u a S[n1,n2] u a S[n5] u a", few(0, 9), &MaskSelection::Summaries, "n4 + n3 n6");
}

#[test]
fn a_named_range_may_be_among_the_newest() {
    check("u a u a u a", few(10, 9), &between("n2", "n3"), "n2 n3");
    check("u a u a u a", few(10, 9), &between("n6", "n6"), "n6");
}

#[test]
fn a_named_range_shrinks_to_whole_groups_else_grows() {
    check("u a:x,y t:x t:y a u a", few(0, 9), &between("n1", "n3"), "n1");
    check("u a:x,y t:x t:y a u a", few(0, 9), &between("n3", "n5"), "n5");
    check("u a:x,y t:x t:y a u a", few(0, 9), &between("n3", "n3"), "n2 n3 n4");
}

#[test]
fn a_named_range_takes_summaries_in() {
    check("u a S[n1,n2] u a u a", few(0, 9), &between("n1", "n5"), "n4 n5 + n3");
    check("u a S[n1,n2] u a u a", few(0, 9), &between("n4", "n5"), "n4 n5 after n3");
}

#[test]
fn a_named_range_must_be_one() {
    let nothing =
        "nothing to hide here: instructions, live greetings, pinned messages, and the current turn stay";
    check("s u a u", few(0, 9), &between("n1", "n1"), nothing);
    check("s u a u", few(0, 9), &between("n4", "n4"), nothing);
    check("u a S[n1,n2] u a", few(0, 9), &between("n1", "n3"), nothing);
    check("u a u a", few(0, 9), &between("n3", "n2"), "`n3` comes after `n2`");
    check("u a u a", few(0, 9), &between("n1", "x"), "no node `x`");
}

#[test]
fn everything_that_a_summary_hides_is_listed_flat() {
    let session = conversation("u a S[n1,n2] u a S[n3,n4,n5,x,n6] u a u a");
    let config = MaskConfig { protect_recent_count: 2, roll_up_percent: 0, ..MaskConfig::default() };
    let range = plan(&session, &config, &MaskSelection::All).unwrap().range;
    assert_eq!(ids(&range.listed), "n6 n3 n4 n5 n1 n2 n7 n8");
}

#[test]
fn a_pinned_message_holds_its_group() {
    for (pinned, expected) in
        [("n1", "n2 n3 n4 n5 n6"), ("n2", "n1 n5 n6"), ("n4", "n1 n5 n6"), ("n5", "n1 n2 n3 n4 n6")]
    {
        let mut file = json!(conversation("u a:x,y t:x t:y u a"));
        file["nodes"][pinned]["pinned"] = json!(true);
        let session = serde_json::from_value(file).unwrap();
        for selection in [MaskSelection::All, between("n1", "n6")] {
            let settings = MaskConfig::resolve(&[MaskLayer::new(MaskLevel::Call, few(0, 9))]);
            assert_eq!(
                ids(&plan(&session, &settings.config, &selection).unwrap().range.messages),
                expected,
                "{pinned}"
            );
        }
    }
}
