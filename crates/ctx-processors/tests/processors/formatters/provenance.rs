use ctx_types::{Message, Place, Segment};
use serde_json::{Value, json};

use crate::formatters::case::{message, run};

fn on() -> Value {
    json!([["merge-consecutive-roles", { "separator": " + " }]])
}

#[track_caller]
fn check(messages: &str, source: &str, segments: &[&str]) {
    let joined = join(messages);
    let text = joined.text();
    let piece =
        |segment: &Segment| format!("{}: {}", segment.source, &text[segment.span.start..segment.span.end]);
    assert_eq!(joined.source.to_string(), source);
    assert_eq!(joined.segments().iter().map(piece).collect::<Vec<_>>(), segments);
}

fn join(messages: &str) -> Message {
    let messages = messages.lines().enumerate().map(|(at, line)| message(at, line.trim())).collect();
    let run = run(&on(), messages);
    let [joined] = run.draft.messages() else { panic!("{:?}", run.draft) };
    joined.clone()
}

#[test]
fn keeps_source_of_each_byte_and_separator() {
    check(
        "skeleton user: Be kind.
         history user: Hello
         world user: It rains.",
        "merged:preset:0+history:1+worldbook:2",
        &[
            "preset:0: Be kind.",
            "separator:  + ",
            "history:1: Hello",
            "separator:  + ",
            "worldbook:2: It rains.",
        ],
    );
}

#[test]
fn creates_no_segment_for_other_parts() {
    check(
        "history user parts: a|<image>|b
         history user: c",
        "merged:history:0+history:1",
        &["history:0: ab", "separator:  + ", "history:1: c"],
    );
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
