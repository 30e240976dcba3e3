use serde_json::{Value, json};

use crate::formatters::case::{check, check_decisions};

fn scope(scope: &str) -> Value {
    json!([["merge-system-to-head", { "separator": " + ", "scope": scope }]])
}

#[test]
fn system_messages_of_the_preset_become_one_at_the_head() {
    check(
        scope("preset"),
        "skeleton system: A
         skeleton user: q
         skeleton system: B
         history user: hello
         skeleton system: C",
        "system: A + B + C
         user: q
         user: hello",
    );
}

#[test]
fn a_single_one_moves_too() {
    let messages = "history user: hello
                    history assistant: hi
                    skeleton system: A";
    let expected = "system: A
                    user: hello
                    assistant: hi";
    check(scope("preset"), messages, expected);
    check_decisions(scope("preset"), messages, &["moved preset:2: system messages go to the front"]);
}

#[test]
fn one_that_stands_at_the_head_stays_as_it_is() {
    let messages = "skeleton system: A
                    history user: hello";
    check(scope("preset"), messages, "system: A\nuser: hello");
    check_decisions(scope("preset"), messages, &[]);
    check(scope("preset"), "history user: hello", "user: hello");
    check(scope("preset"), "", "");
}

#[test]
fn every_joined_message_has_a_decision() {
    check_decisions(
        scope("preset"),
        "skeleton system: A
         history user: hello
         anchored system: B",
        &[
            "merged preset:0: joined with the other system messages at the front",
            "merged preset:2: joined with the other system messages at the front",
        ],
    );
}

#[test]
fn what_is_anchored_to_the_skeleton_moves_and_what_is_at_the_history_does_not() {
    check(
        scope("preset"),
        "around system: before
         pinned system: own
         history user: hello
         gap system: note
         points system: again
         history assistant: hi
         around system: after
         anchored system: lore
         skeleton system: A",
        "system: lore + A
         system: before
         system: own
         user: hello
         system: note
         system: again
         assistant: hi
         system: after",
    );
}

#[test]
fn history_summaries_worldbook_and_plugin_messages_stay() {
    check(
        scope("preset"),
        "world system: town
         plugin system: tools
         summary system: before
         history user: hello
         history system: own
         skeleton system: A",
        "system: A
         system: town
         system: tools
         system: before
         user: hello
         system: own",
    );
}

#[test]
fn under_leading_only_what_precedes_the_history_moves() {
    check(
        scope("leading"),
        "skeleton user: q
         skeleton system: A
         anchored system: lore
         gap system: note
         history user: hello
         skeleton system: after",
        "system: A + lore
         user: q
         system: note
         user: hello
         system: after",
    );
}

#[test]
fn under_all_every_system_message_moves() {
    check(
        scope("all"),
        "skeleton system: A
         world system: town
         history user: hello
         gap system: note
         summary system: before
         around system: after",
        "system: A + town + note + before + after
         user: hello",
    );
}

#[test]
fn leading_instructions_of_the_conversation_never_move() {
    let messages = "pinned system: own
                    history user: hello
                    skeleton system: A";
    let expected = "system: own
                    system: A
                    user: hello";
    check(scope("preset"), messages, expected);
    check(scope("all"), messages, expected);
}

#[test]
fn developer_messages_are_system_messages() {
    check(
        scope("preset"),
        "skeleton user: q
         skeleton developer: A
         skeleton system: B",
        "developer: A + B
         user: q",
    );
}

#[test]
fn names_files_and_parts_are_kept() {
    check(
        scope("all"),
        "history user: hello
         skeleton system file=a.png: A
         skeleton system file=b.png parts: B|<image>|C
         history system name=bob: D
         skeleton system: E",
        "system file=a.png file=b.png: A + B|<image>|C
         system name=bob: D
         system: E
         user: hello",
    );
}

#[test]
fn a_message_that_only_moves_says_so_beside_those_that_are_joined() {
    check_decisions(
        scope("all"),
        "history user: hello
         skeleton system: A
         skeleton system: B
         history system name=bob: C",
        &[
            "moved history:3: system messages go to the front",
            "merged preset:1: joined with the other system messages at the front",
            "merged preset:2: joined with the other system messages at the front",
        ],
    );
}

#[test]
fn reasoning_is_never_joined() {
    check(
        scope("all"),
        "history user: hello
         history system reasoning: A
         skeleton system: B",
        "system: B
         user: hello
         system reasoning: A",
    );
}

#[test]
fn an_empty_separator_puts_nothing_between() {
    check(
        json!([["merge-system-to-head", { "separator": "" }]]),
        "skeleton system: A
         skeleton system: B",
        "system: AB",
    );
}

#[test]
fn the_separator_is_that_of_aio_hub_unless_set() {
    check(
        json!(["merge-system-to-head"]),
        "skeleton system: A
         skeleton system: B",
        "system: A//---//B",
    );
}

#[test]
fn a_text_that_is_empty_gets_no_separator() {
    check(
        scope("preset"),
        "skeleton system file=a.png:
         skeleton system: A
         skeleton system file=b.png:
         skeleton system: B",
        "system file=a.png file=b.png: A + B",
    );
}

#[test]
fn what_was_joined_earlier_moves_if_all_of_it_is_the_presets() {
    let first = |scope: &str| json!([["merge-injections", {}], ["merge-system-to-head", { "separator": " + ", "scope": scope }]]);
    let messages = "history user: hello
                    gap system: A
                    gap system: B
                    skeleton system: C";
    check(first("preset"), messages, "system: C\nuser: hello\nsystem: A/B");
    check(first("all"), messages, "system: A/B + C\nuser: hello");
}
