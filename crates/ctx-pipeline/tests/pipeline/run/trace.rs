use ctx_types::{Attachment, Content, Message, Reasoning, Role, Segment, Source, SourceKind, Span, Trust};

use crate::run::case::{Host, Step, message, messages, run};

/// `expected`: messages before and after, added, removed, changed.
#[track_caller]
fn check(before: &str, edit: impl Fn(&mut Vec<Message>) + Send + Sync + 'static, expected: [usize; 5]) {
    let (run, _) = run([Step::edit("edit", edit)], before, &Host::default());
    let [stage] = run.stages.as_slice() else { panic!("{:?}", run.stages) };
    let found = [stage.messages_before, stage.messages_after, stage.added, stage.removed, stage.changed];
    assert_eq!((&*stage.id, found), ("edit", expected));
}

#[test]
fn counts_no_changes_for_unedited_messages() {
    check("u1 a1", |_| {}, [2, 2, 0, 0, 0]);
    check("", |_| {}, [0, 0, 0, 0, 0]);
    check("u1 a1 u2", |all| all.reverse(), [3, 3, 0, 0, 0]);
}

#[test]
fn counts_added_and_removed_messages() {
    check("u1 a1 u2", |all| *all = messages("u2 s1 s2"), [3, 3, 2, 2, 0]);
    check("u1", |all| all.push(message("u1")), [1, 2, 1, 0, 0]);
}

#[test]
fn counts_moved_and_edited_messages_as_changed() {
    let speak = |all: &mut [Message], at: &[usize]| {
        for at in at {
            all[*at].content = Content::Text("other".into());
        }
    };
    let turn = move |at: &'static [usize]| {
        move |all: &mut Vec<Message>| {
            all.reverse();
            speak(all, at);
        }
    };
    check("u1 a1 u2 a2", turn(&[3]), [4, 4, 0, 0, 1]);
    check("u1 a1 u2 a2", turn(&[0, 1, 2, 3]), [4, 4, 0, 0, 4]);
    // An additional message is new.
    let more = move |all: &mut Vec<Message>| {
        all.reverse();
        speak(all, &[2]);
        all.insert(1, message("s1"));
        all.pop();
    };
    check("u1 a1 u2 a2", more, [4, 4, 1, 1, 1]);
}

#[test]
fn attributes_text_with_wrong_segments_to_processor() {
    let segment = |start, end| Segment {
        span: Span::new(start, end),
        source: Source::new(SourceKind::Macro, Trust::Preset).with_id("char"),
        via: Vec::new(),
    };
    let sets = Step::edit("sets", move |all| all[0].written = vec![segment(0, 1), segment(1, 2)]);
    let keeps = Step::edit("keeps", |all| all[0].role = Role::System);
    let grows = Step::edit("grows", |all| all[0].content = Content::Text("longer".into()));
    let empties = Step::edit("empties", |all| all[0].content = Content::Text("".into()));
    let (run, _) = run([sets, keeps, grows], "u1", &Host::default());
    let written: Vec<String> = run.draft.messages()[0]
        .written
        .iter()
        .map(|segment| format!("{:?} {} via {}", segment.span, segment.source, segment.via[0]))
        .collect();
    assert_eq!(written, ["Span { start: 0, end: 6 } plugin:grows via history:u1"]);
    let logged: Vec<usize> = run.stages.iter().map(|stage| stage.log.len()).collect();
    assert_eq!(logged, [0, 0, 1]);
    let sets = Step::edit("sets", move |all| all[0].written = vec![segment(0, 2)]);
    let (run, _) = crate::run::case::run([sets, empties], "u1", &Host::default());
    assert_eq!(run.draft.messages()[0].written, []);
}

#[test]
fn counts_edit_of_each_sent_field() {
    let first = |edit: fn(&mut Message)| move |all: &mut Vec<Message>| edit(&mut all[0]);
    for edit in [
        |message: &mut Message| message.role = Role::System,
        |message: &mut Message| message.name = Some("ann".into()),
        |message: &mut Message| message.content = Content::Text("other".into()),
        |message: &mut Message| message.tool_call_id = Some("x".into()),
        |message: &mut Message| {
            message.reasoning = Some(Reasoning { text: None, artifacts: Vec::new(), model: None });
        },
        |message: &mut Message| {
            message.attachments.push(Attachment::from_value(&serde_json::Value::Null));
        },
    ] {
        check("u1 a1", first(edit), [2, 2, 0, 0, 1]);
    }
}
