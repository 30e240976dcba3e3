use serde_json::{Value, json};

use crate::formatters::case::{check, check_decisions};

fn scope(scope: &str) -> Value {
    json!([["merge-system-to-head", { "separator": " + ", "scope": scope }]])
}

#[test]
fn joins_preset_system_messages_at_front() {
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
fn moves_single_system_message() {
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
fn keeps_system_message_at_front() {
    let messages = "skeleton system: A
                    history user: hello";
    check(scope("preset"), messages, "system: A\nuser: hello");
    check_decisions(scope("preset"), messages, &[]);
    check(scope("preset"), "history user: hello", "user: hello");
    check(scope("preset"), "", "");
}

#[test]
fn records_decision_for_each_joined_message() {
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
fn moves_preset_anchors_but_not_history_anchors() {
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
fn keeps_history_summary_worldbook_and_plugin_messages() {
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
fn moves_only_leading_messages_in_leading_scope() {
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
fn moves_every_system_message_in_all_scope() {
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
fn keeps_leading_system_messages_of_conversation() {
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
fn treats_developer_messages_as_system_messages() {
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
fn keeps_names_files_and_parts() {
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
fn records_moved_and_joined_messages_separately() {
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
fn keeps_reasoning_separate() {
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
fn joins_directly_with_empty_separator() {
    check(
        json!([["merge-system-to-head", { "separator": "" }]]),
        "skeleton system: A
         skeleton system: B",
        "system: AB",
    );
}

#[test]
fn defaults_to_separator_of_aio_hub() {
    check(
        json!(["merge-system-to-head"]),
        "skeleton system: A
         skeleton system: B",
        "system: A//---//B",
    );
}

#[test]
fn adds_no_separator_to_empty_text() {
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
fn moves_joined_injections_only_in_all_scope() {
    let first = |scope: &str| json!([["merge-injections", {}], ["merge-system-to-head", { "separator": " + ", "scope": scope }]]);
    let messages = "history user: hello
                    gap system: A
                    gap system: B
                    skeleton system: C";
    check(first("preset"), messages, "system: C\nuser: hello\nsystem: A/B");
    check(first("all"), messages, "system: A/B + C\nuser: hello");
}
