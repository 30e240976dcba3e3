//! Invariants of all formatters.

use ctx_types::internal::is_partition;
use ctx_types::report::Outcome;
use ctx_types::{Message, Place, Role, SourceKind, groups};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::formatters::case::{FORMATTERS, message, run};

const PLACES: [&str; 10] =
    ["skeleton", "anchored", "around", "gap", "points", "history", "pinned", "world", "plugin", "summary"];
const ROLES: [&str; 6] = ["system", "developer", "user", "user", "assistant", "assistant"];
const ATTRIBUTES: [&str; 9] =
    ["", "", "", "", " name=ann", " file=a.png", " reasoning", " parts", " order=5"];
const TEXTS: [&str; 6] = ["x", "long text", "", "a|<image>|b", "<image>", "多语"];

/// Lines of [`message`]; a call comes with its results.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let one = (select(&PLACES[..]), select(&ROLES[..]), select(&ATTRIBUTES[..]), select(&TEXTS[..]));
    let one = one.prop_map(|(place, role, attribute, text)| {
        // Only instructions are pinned, and only the assistant reasons.
        let (role, attribute) = match (place, role) {
            ("pinned", _) => ("system", ""),
            (_, role) if role != "assistant" && attribute.contains("reasoning") => (role, ""),
            (_, role) => (role, attribute),
        };
        vec![format!("{place} {role}{attribute}: {text}")]
    });
    let group = (1..4_usize).prop_map(|count| {
        let ids: Vec<String> = (0..count).map(|id| id.to_string()).collect();
        let results = ids.iter().map(|id| format!("history tool result={id}: done {id}"));
        std::iter::once(format!("history assistant calls={}: look", ids.join(","))).chain(results).collect()
    });
    vec(prop_oneof![6 => one, 1 => group], 0..14).prop_map(|lines| lines.concat())
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let read = |lines: Vec<String>| lines.iter().enumerate().map(|(at, line)| message(at, line)).collect();
    lines().prop_map(read)
}

fn formatters() -> impl Strategy<Value = Value> {
    let separators = select(&["", "\n", " + "][..]);
    let scopes = select(&["preset", "leading", "all"][..]);
    (subsequence(&FORMATTERS[..], 0..=5), separators, scopes, any::<bool>()).prop_map(
        |(ids, separator, scope, starts)| {
            let config = |id: &str| match id {
                "merge-system-to-head" => json!({ "separator": separator, "scope": scope }),
                "ensure-alternating-roles" => json!({ "startWithUser": starts }),
                _ => json!({ "separator": separator }),
            };
            ids.into_iter().map(|id| json!([id, config(id)])).collect()
        },
    )
}

/// Sorted texts of the segments, without separators.
fn pieces(messages: &[Message]) -> Vec<(String, String)> {
    let mut pieces: Vec<(String, String)> = Vec::new();
    for message in messages {
        let text = message.text();
        for segment in message.segments().iter() {
            if !matches!(segment.source.kind, SourceKind::Separator | SourceKind::Formatter) {
                let piece = text.get(segment.span.start..segment.span.end).unwrap();
                pieces.push((segment.source.to_string(), piece.to_owned()));
            }
        }
    }
    pieces.sort();
    pieces
}

/// Files, calls, results, reasoning, and other parts.
fn belongings(messages: &[Message]) -> (usize, Vec<String>, usize, usize) {
    let files = messages.iter().map(|message| message.attachments.len()).sum();
    let calls = messages.iter().flat_map(|message| &message.tool_calls).map(|call| call.id.to_string());
    let results = messages.iter().filter_map(|message| message.tool_call_id.as_deref().map(str::to_owned));
    let reasoning = messages.iter().filter(|message| message.reasoning.is_some()).count();
    let others = messages.iter().map(|message| match &message.content {
        ctx_types::Content::Parts(parts) => parts.iter().filter(|part| part.as_text().is_none()).count(),
        ctx_types::Content::Text(_) => 0,
    });
    (files, calls.chain(results).collect(), reasoning, others.sum())
}

proptest! {
    #[test]
    fn keeps_all_texts_and_parts(processors in formatters(), messages in messages()) {
        let (texts, rest) = (pieces(&messages), belongings(&messages));
        let run = run(&processors, messages);
        prop_assert_eq!(pieces(run.draft.messages()), texts);
        prop_assert_eq!(belongings(run.draft.messages()), rest);
    }

    #[test]
    fn partitions_each_text_into_segments(processors in formatters(), messages in messages()) {
        for message in run(&processors, messages).draft.messages() {
            prop_assert!(is_partition(&message.segments(), message.content.len()), "{message:?}");
        }
    }

    #[test]
    fn changes_nothing_on_second_run(processors in formatters(), messages in messages()) {
        for processor in processors.as_array().unwrap() {
            let processors = json!([processor]);
            let once = run(&processors, messages.clone()).draft.messages().to_vec();
            let twice = run(&processors, once.clone());
            prop_assert_eq!(twice.draft.messages(), &once[..]);
            prop_assert_eq!(twice.draft.decisions(), &[]);
        }
    }

    #[test]
    fn keeps_groups_together(processors in formatters(), messages in messages()) {
        let members = |messages: &[Message]| -> Vec<Vec<String>> {
            let groups = groups(messages).into_iter().filter(|group| group.len() > 1);
            groups.map(|group| messages[group].iter().map(|m| m.source.to_string()).collect()).collect()
        };
        let before = members(&messages);
        prop_assert_eq!(members(run(&processors, messages).draft.messages()), before);
    }

    #[test]
    fn records_decision_for_each_joined_message(processors in formatters(), messages in messages()) {
        let sources = |messages: &[Message]| -> Vec<String> {
            messages.iter().map(|message| message.source.to_string()).collect()
        };
        let before = sources(&messages);
        let run = run(&processors, messages);
        let after = sources(run.draft.messages());
        for source in before.iter().filter(|source| !after.contains(*source)) {
            let decided = run.draft.decisions().iter();
            let merged = decided.filter(|decision| decision.outcome == Outcome::Merged);
            prop_assert_eq!(merged.filter(|decision| decision.source.to_string() == *source).count(), 1);
        }
    }

    #[test]
    fn keeps_leading_system_messages_before_conversation(messages in messages()) {
        let processors = json!([["merge-system-to-head", { "scope": "all" }]]);
        let of_history = |messages: &[Message]| -> Vec<String> {
            let own = messages.iter().filter(|m| m.place == Place::Pinned || m.role == Role::User);
            own.map(|message| message.source.to_string()).collect()
        };
        let before = of_history(&messages);
        prop_assert_eq!(of_history(run(&processors, messages).draft.messages()), before);
    }

    #[test]
    fn alternates_roles_except_around_reasoning_and_tools(messages in messages()) {
        let run = run(&json!([["ensure-alternating-roles", { "startWithUser": true }]]), messages);
        let speakers: Vec<&Message> =
            run.draft.messages().iter().filter(|message| !message.role.is_instruction()).collect();
        for pair in speakers.windows(2) {
            let is_free = pair.iter().all(|m| m.reasoning.is_none() && m.role != Role::Tool);
            prop_assert!(!is_free || pair[0].role != pair[1].role);
        }
        if let Some(first) = speakers.first().filter(|first| first.reasoning.is_none()) {
            prop_assert_ne!(first.role, Role::Assistant);
        }
    }
}
