use ctx_types::{Message, Place};
use serde_json::{Value, json};

use crate::formatters::case::{message, run};

fn on() -> Value {
    json!([["merge-consecutive-roles", { "separator": " + " }]])
}

fn join(messages: &str) -> Message {
    let messages = messages.lines().enumerate().map(|(at, line)| message(at, line.trim())).collect();
    let run = run(&on(), messages);
    let [joined] = run.draft.messages() else { panic!("{:?}", run.draft) };
    joined.clone()
}

#[test]
fn trusts_joined_message_as_least_trusted_part() {
    let joined = join("skeleton user: Be kind.\nhistory user: Hello\nskeleton user: Be brief.");
    assert_eq!(joined.source.trust, ctx_types::Trust::User);
}

#[test]
fn protects_joined_message_as_most_protected_part() {
    #[track_caller]
    fn check(messages: &str, expected: Place) {
        assert_eq!(join(messages).place, expected);
    }
    check("history user: a\nhistory user: b", Place::History);
    check("history user: a\npoints user: b", Place::Gap { multiple: true });
    check("points user: a\ngap user: b\nhistory user: c", Place::Gap { multiple: false });
    check("history user: a\naround user: b", Place::AroundHistory);
    check("anchored user: a\ngap user: b", Place::Anchored);
    check("anchored user: a\nskeleton user: b", Place::Skeleton);
    check("skeleton system: a\npinned system: b", Place::Pinned);
}

#[test]
fn keeps_placement_if_all_parts_have_it() {
    assert!(join("gap user: a\ngap user: b").placement.is_some());
    assert!(join("gap user: a\nhistory user: b").placement.is_none());
}

#[test]
fn shortens_source_name_of_many_joined_messages() {
    let messages = (0..10_000).map(|at| message(at, "history user: x")).collect();
    let run = run(&on(), messages);
    let [joined] = run.draft.messages() else { panic!("expected one message") };
    assert_eq!(joined.content.len(), 10_000 + 9_999 * 3);
    let source = joined.source.to_string();
    assert!(source.ends_with("history:7+9992 more"), "{source}");
}
