//! What a stage is told to have changed.

use ctx_types::{Message, Role};

use crate::case::{Host, Step, message, messages, run};

/// Runs one processor, and compares the messages before and after, and how many were added, removed, changed.
#[track_caller]
fn check(before: &str, edit: impl Fn(&mut Vec<Message>) + Send + Sync + 'static, expected: [usize; 5]) {
    let (run, _) = run([Step::edit("edit", edit)], before, &Host::default());
    let [stage] = run.stages.as_slice() else { panic!("{:?}", run.stages) };
    let found = [stage.messages_before, stage.messages_after, stage.added, stage.removed, stage.changed];
    assert_eq!((&*stage.id, found), ("edit", expected));
}

#[test]
fn a_stage_that_does_nothing_changed_nothing() {
    check("u1 a1", |_| {}, [2, 2, 0, 0, 0]);
    check("", |_| {}, [0, 0, 0, 0, 0]);
}

#[test]
fn added_and_removed_messages_are_counted() {
    check("u1 a1 u2", |all| *all = messages("u2 s1 s2"), [3, 3, 2, 2, 0]);
    check("u1", |all| all.push(message("u1")), [1, 2, 1, 0, 0]);
}

#[test]
fn messages_that_only_move_are_not_changed() {
    check("u1 a1 u2", |all| all.reverse(), [3, 3, 0, 0, 0]);
}

#[test]
fn whatever_is_sent_counts_as_a_change() {
    let first = |edit: fn(&mut Message)| move |all: &mut Vec<Message>| edit(&mut all[0]);
    for edit in [
        |message: &mut Message| message.role = Role::System,
        |message: &mut Message| message.name = Some("ann".into()),
        |message: &mut Message| message.content = ctx_types::Content::Text("other".into()),
        |message: &mut Message| message.tool_call_id = Some("x".into()),
        |message: &mut Message| {
            message.reasoning = Some(ctx_types::Reasoning { text: None, artifacts: Vec::new() });
        },
        |message: &mut Message| {
            message.attachments.push(ctx_types::Attachment::from_value(&serde_json::Value::Null));
        },
    ] {
        check("u1 a1", first(edit), [2, 2, 0, 0, 1]);
    }
}
