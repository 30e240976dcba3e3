use serde_json::{Value, json};

use crate::formatters::case::{check, check_decisions};

fn scope(scope: &str) -> Value {
    json!([["merge-system-to-head", { "separator": " + ", "scope": scope }]])
}

#[test]
fn moves_messages_of_other_origins_only_in_all_scope() {
    let messages = "world system: town
         plugin system: tools
         summary system: before
         history user: hello
         history system: own
         skeleton system: A";
    let kept = "system: A
         system: town
         system: tools
         system: before
         user: hello
         system: own";
    check(scope("preset"), messages, kept);
    check(scope("all"), messages, "system: town + tools + before + own + A\nuser: hello");
}

#[test]
fn joins_leading_system_messages_with_front_by_role() {
    check(
        json!([["merge-system-to-head", {}], ["merge-consecutive-roles", { "separator": " & " }]]),
        "pinned system: own
         history user: hello
         skeleton system: A",
        "system: own & A
         user: hello",
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
