//! What notes say of themselves: each line names what it was made from, and where it is to be trusted from.

use ctx_compress::codes;
use ctx_compress::request::Action;
use ctx_types::internal::is_partition;
use ctx_types::{Message, NoteLine, NoteLineKind, Place, Role, Segment, SourceKind};
use proptest::prelude::*;

use crate::generate::paired_requests;
use crate::{Pass, Setting, cases, settings};

/// A line of a note that was written in a pass.
struct Line<'a> {
    entry: &'a NoteLine,
    text: &'a str,
    segment: &'a Segment,
    /// The place of the message that it was made from or marks; that of an earlier note for a line of it.
    stood: usize,
    is_mark: bool,
}

fn check(messages: &[Message], setting: Setting) {
    let pass = Pass::of(messages, setting);
    let plan = pass.pipeline.plan(messages, setting.protection);
    for step in plan.steps.iter().filter(|_| plan.changes()) {
        if let Action::Write(note) = &step.action {
            check_note(&pass, note);
            assert_eq!((&step.id, step.range.len()), (&note.source.id, 0));
        }
    }
    let again = pass.again();
    let is_odd = |code| again.done.report.diagnostics.iter().any(|found| found.code == code);
    assert!(!is_odd(codes::CHANGED_NOTE), "what was written can be read");
}

fn check_note(pass: &Pass, written: &Message) {
    let text = written.text();
    let (note, segments) = (written.note.as_deref().unwrap(), written.segments());
    assert!(is_partition(&segments, text.len()));
    let (head, of_lines) = segments.split_at(note.head);
    assert!(head.iter().all(|segment| segment.source.kind == SourceKind::Formatter));
    assert_eq!(of_lines.len(), note.lines.len());
    let line = |((entry, text), segment)| {
        let stood = stood(entry, &pass.given).unwrap();
        Line { entry, text, segment, stood, is_mark: text.ends_with(": ↓") }
    };
    let lines: Vec<Line<'_>> = note.zip(&text).unwrap().zip(of_lines).map(line).collect();
    for line in &lines {
        check_line(pass, written, line);
    }
    for pair in lines.windows(2) {
        assert!(pair[0].stood <= pair[1].stood, "lines stand in the order of the conversation");
    }
    check_marks(pass, &lines);
}

/// Returns the place of the message that a line was made from, or of the earlier note that had it.
fn stood(entry: &NoteLine, given: &[Message]) -> Option<usize> {
    let by_id = given.iter().position(|message| message.source.id.as_ref() == Some(&entry.id));
    let lines = |message: &Message| message.note.as_ref().map_or(Vec::new(), |note| note.lines.clone());
    by_id.or_else(|| given.iter().position(|message| lines(message).iter().any(|line| line.id == entry.id)))
}

fn check_line(pass: &Pass, written: &Message, line: &Line<'_>) {
    let from = &pass.given[line.stood];
    let letter = match line.entry.kind {
        NoteLineKind::System => "S: ",
        NoteLineKind::User => "U: ",
        NoteLineKind::Assistant => "A: ",
        NoteLineKind::Call => "C ",
        NoteLineKind::Result => "R: ",
    };
    assert!(line.text.starts_with(letter) && line.text.len() > letter.len(), "{}", line.text);
    let is_earlier = from.note.is_some();
    let is_of_role = match line.entry.kind {
        NoteLineKind::System => from.role.is_instruction(),
        NoteLineKind::User => from.role == Role::User,
        NoteLineKind::Assistant => from.role == Role::Assistant,
        NoteLineKind::Call => !from.tool_calls.is_empty(),
        NoteLineKind::Result => from.role == Role::Tool,
    };
    assert!(is_of_role || is_earlier, "{} of {from:?}", line.text);
    let cuts = &line.entry.cuts;
    assert!(
        cuts.iter().all(|cut| line.text[..*cut as usize].ends_with([' ', '。', '！', '？', '；'])),
        "{cuts:?} of {}",
        line.text
    );
    if is_earlier && !line.entry.is_pinned && !line.is_mark {
        let of_line = units(line.text, cuts);
        let note = from.note.as_deref().unwrap();
        let text = from.text();
        let mut earlier = note.zip(&text).unwrap().filter(|(old, _)| old.id == line.entry.id);
        let has_all = |old: Vec<&str>| {
            let mut old = old.into_iter();
            of_line.iter().all(|unit| old.any(|old| old == *unit))
        };
        assert!(
            earlier.any(|(old, text)| has_all(units(text, &old.cuts))),
            "units stay units: {}",
            line.text
        );
    }
    let (source, via) = (&line.segment.source, &line.segment.via);
    if line.is_mark {
        assert_eq!((source.kind, via.len()), (SourceKind::Formatter, 0));
        return;
    }
    assert_eq!((source.kind, &source.id), (SourceKind::Summary, &written.source.id));
    assert_eq!(via.len(), 1, "a line has one source");
    let via = &via[0];
    assert_eq!((&via.id, via.trust), (&Some(line.entry.id.clone()), source.trust));
    assert!(is_earlier || *via == from.source);
}

/// Splits a line into what a later pass keeps or drops.
fn units<'a>(text: &'a str, cuts: &[u32]) -> Vec<&'a str> {
    let begin = text.find(": ").unwrap() + 2;
    let begins = [begin].into_iter().chain(cuts.iter().map(|cut| *cut as usize));
    let ends = cuts.iter().map(|cut| *cut as usize).chain([text.len()]);
    begins.zip(ends).map(|(begin, end)| text[begin..end].trim()).collect()
}

/// Between two lines stands one mark if something that was said between them is kept elsewhere, and none otherwise.
fn check_marks(pass: &Pass, lines: &[Line<'_>]) {
    let is_kept = |at: &usize| {
        let given = &pass.given[*at];
        matches!(given.place, Place::History | Place::Pinned)
            && pass.done.messages.iter().any(|now| now.source == given.source && now.role == given.role)
    };
    assert!(lines.first().is_none_or(|line| !line.is_mark) && lines.last().is_none_or(|line| !line.is_mark));
    let mut last: Option<&Line<'_>> = None;
    let mut mark = None;
    for line in lines {
        if line.is_mark {
            assert_eq!(mark.replace(line.stood), None, "no two marks in a row");
            continue;
        }
        let between = last.map_or(0..0, |last| last.stood + 1..line.stood);
        assert_eq!(mark.take(), between.rev().find(is_kept));
        last = Some(line);
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn each_line_names_what_it_was_made_from(messages in paired_requests(), setting in settings()) {
        check(&messages, setting);
    }
}
