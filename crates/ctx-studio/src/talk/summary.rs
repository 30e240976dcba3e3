//! A summary: its figures, and what it kept, lost and made up.

use ctx_compress::mask::MaskDetails;
use ctx_compress::quality::{Fact, QualityReport};
use ctx_language::Language;
use ctx_tokens::Counter;
use ctx_types::phrase;
use ctx_types::session::Session;
use serde_json::Value;

use super::path::figures;
use crate::api::TextSpan;
use crate::api_talk::{FactCounts, FactView, NotedValue, SummaryView};
use crate::call::Refusal;

/// How many facts of a list are told.
const MAX_FACTS: usize = 500;

/// Tells all about a summary.
pub(crate) fn summary(session: &Session, id: &str, language: Language) -> Result<SummaryView, Refusal> {
    let counter = Counter::estimate();
    let missing = || Refusal::not_found(phrase!("no summary `{id}`", id));
    let details = MaskDetails::of(session, id, &counter).ok_or_else(missing)?;
    let figures = figures(session, id, counter).ok_or_else(missing)?;
    let report = QualityReport::of_node(session, id).unwrap_or_default();
    let text = session.node(id).map(|node| node.to_message(&details.id).text().into_owned());
    let kinds = report.kinds.iter().map(|counts| FactCounts {
        kind: counts.kind.as_str(),
        kept: counts.kept,
        lost: counts.lost,
        invented: counts.invented,
    });
    let facts = |all: &[Fact], own: Option<&str>| {
        all.iter().take(MAX_FACTS).map(|fact| view(session, fact, own)).collect()
    };
    Ok(SummaryView {
        told: language.say(&details.phrase()),
        text: text.unwrap_or_default(),
        figures,
        made: [&details.made, &details.config].into_iter().flatten().flat_map(noted).collect(),
        kinds: kinds.collect(),
        lost: facts(&report.lost, None),
        invented: facts(&report.invented, Some(id)),
    })
}

/// Lists what was noted.
fn noted(value: &Value) -> Vec<NotedValue> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let map = value.as_object().into_iter().flatten();
    map.filter(|(_, value)| !value.is_object() && !value.is_array())
        .map(|(key, value)| NotedValue { key: key.clone(), value: text(value) })
        .collect()
}

/// Shows a fact at its first place; what was made up stands in the summary itself.
fn view(session: &Session, fact: &Fact, own: Option<&str>) -> FactView {
    let place = fact.places.first().filter(|place| place.call.is_none());
    let id = place.and_then(|place| place.id.as_deref().or(own));
    let span = place.zip(id).and_then(|(place, id)| {
        let message = session.node(id)?.to_message(&id.into());
        Some(TextSpan::of(&message.text(), place.start, place.end))
    });
    FactView { kind: fact.kind.as_str(), text: fact.text.clone(), id: id.map(str::to_owned), span }
}
