//! What is asked about a preview afterwards: texts, lives, request bodies.

use std::collections::BTreeMap;

use ctx_engine::internal::{Event, MessageTrace};
use ctx_language::Language;
use ctx_project::{Turn, life};
use ctx_types::{Segment, Source, phrase};
use ctx_wire::Dialect;

use super::names::Names;
use super::rows::{left_out_text, root, why};
use super::{KeptPreview, Shown};
use crate::access::lock;
use crate::api::Finding;
use crate::api_preview::{BodyView, LifeEvent, LifeView, PieceView, RowText, RowTexts};
use crate::call::Refusal;

/// How many rows are answered at once.
const MAX_ROWS: usize = 200;

/// How many bytes of a text are answered.
const MAX_TEXT: usize = 256 << 10;

/// How many events of a life are told.
const MAX_EVENTS: usize = 500;

/// Returns the texts of rows, divided by what wrote them.
pub(crate) fn rows(
    preview: &KeptPreview,
    (from, to): (usize, usize),
    language: Language,
) -> Result<RowTexts, Refusal> {
    let to = to.min(preview.lists.rows.len()).min(from.saturating_add(MAX_ROWS));
    let turn = lock(&preview.turn);
    let rows = (from..to).map(|row| text(preview, &turn, row, language)).collect::<Result<_, _>>()?;
    Ok(RowTexts { rows })
}

fn text(preview: &KeptPreview, turn: &Turn, number: usize, language: Language) -> Result<RowText, Refusal> {
    let context = preview.context()?;
    let kept = preview.row(number)?;
    let (text, segments) = match kept.shows {
        Shown::Message(n) => {
            let message =
                context.messages.get(n).ok_or_else(|| Refusal::not_found(phrase!("no such row")))?;
            (message.text().into_owned(), message.segments().into_owned())
        }
        Shown::LeftOut(at) => {
            let decision =
                context.report.decisions.get(at).ok_or_else(|| Refusal::not_found(phrase!("no such row")))?;
            let text = left_out_text(turn, &decision.source).unwrap_or_default();
            let segments = vec![Segment::full(text.len(), decision.source.clone())];
            (text, segments)
        }
    };
    let end = border(&text, MAX_TEXT);
    let is_cut = end < text.len();
    let names = Names { language, turn };
    let name = |source: &Source| names.name(source);
    let pieces = pieces(text.get(..end).unwrap_or_default(), &segments, &preview.pointers, name);
    Ok(RowText { row: number, pieces, is_cut })
}

/// Divides a text by what wrote it.
pub(crate) fn pieces(
    text: &str,
    segments: &[Segment],
    pointers: &BTreeMap<usize, String>,
    name: impl Fn(&Source) -> String,
) -> Vec<PieceView> {
    let piece = |segment: &Segment| {
        let part =
            text.get(segment.span.start..segment.span.end.min(text.len())).filter(|part| !part.is_empty())?;
        let pointer = super::rows::entry(root(segment)).and_then(|index| pointers.get(&index).cloned());
        Some(PieceView {
            text: part.to_owned(),
            source: segment.source.kind.as_str().to_owned(),
            name: name(&segment.source),
            pointer,
        })
    };
    segments.iter().filter_map(piece).collect()
}

/// Returns the last border of characters up to a byte.
fn border(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Tells what each stage did to the message of a row.
pub(crate) fn life(preview: &KeptPreview, number: usize, language: Language) -> Result<LifeView, Refusal> {
    let report = &preview.context()?.report;
    let kept = preview.row(number)?;
    let wanted = match kept.shows {
        Shown::Message(n) => n.to_string(),
        Shown::LeftOut(at) => {
            report.decisions.get(at).map(|decision| decision.source.to_string()).unwrap_or_default()
        }
    };
    let mut turn = lock(&preview.turn);
    turn.is_traced = true;
    let context = turn.assemble(false);
    turn.is_traced = false;
    let context = context?;
    let traces = MessageTrace::read(&context, turn.session());
    let traces = traces.ok_or_else(|| Refusal::unusable(phrase!("no message trace was recorded")))?;
    let life = traces.find(&wanted).map_err(|unknown| Refusal::unusable(unknown.phrase()))?;
    let names = Names { language, turn: &turn };
    let stage = |id: &str| {
        let known = preview.lists.stages.iter().find(|stage| stage.id == id);
        known.map_or_else(|| id.to_owned(), |stage| stage.name.clone())
    };
    let events = life.steps.iter().flat_map(|step| {
        step.events.iter().map(|event| LifeEvent {
            stage: stage(&step.stage),
            kind: event.kind.as_str(),
            text: names.say(&life::event(&counted_from_one(event), |source| names.name_or_kind(source))),
        })
    });
    let decisions = life.steps.iter().flat_map(|step| &step.decisions).chain(&life.decisions);
    Ok(LifeView {
        events: events.take(MAX_EVENTS).collect(),
        why: decisions.take(MAX_EVENTS).map(|decision| why(names, decision)).collect(),
    })
}

/// The page numbers the messages of a request from 1.
fn counted_from_one(event: &Event) -> Event {
    let from = event.from.iter().map(|number| number + 1).collect();
    Event { from, to: event.to.map(|number| number + 1), ..event.clone() }
}

/// Writes the request body in a dialect, with the bytes that would be sent.
pub(crate) fn body(preview: &KeptPreview, dialect: &str, language: Language) -> Result<BodyView, Refusal> {
    let dialect =
        Dialect::parse(dialect).ok_or_else(|| Refusal::not_found(phrase!("unknown API dialect")))?;
    let mut turn = lock(&preview.turn);
    let before = turn.input.dialect.replace(dialect.name().into());
    let context = turn.assemble(false);
    let written = context.map(|context| turn.body_bytes(&context, None));
    let unnamed = turn.unnamed_model();
    turn.input.dialect = before;
    let (bytes, found) = written?;
    let found: Vec<_> = unnamed.into_iter().chain(found).collect();
    Ok(BodyView {
        dialect: dialect.name().to_owned(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
        findings: Finding::all(language, &found),
    })
}
