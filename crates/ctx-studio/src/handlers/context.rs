//! Previews, and what is asked about them.

use std::collections::BTreeMap;

use ctx_project::Sources;
use ctx_types::phrase;

use crate::api::{Finding, TextSpan};
use crate::api_preview::{CompareRequest, ExpandRequest, Expanded, PreviewRequest};
use crate::call::{Call, Refusal, Reply};
use crate::preview::{self, Named, open_turn, options};
use crate::server::Server;

pub(crate) fn preview(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let asked: PreviewRequest = call.json()?;
    Reply::json(&preview::preview(server, &asked, call.language)?)
}

pub(crate) fn scan(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&preview::scan(server, &call.json()?, call.language)?)
}

pub(crate) fn pipeline(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    Reply::json(&preview::pipeline(server, &call.json()?, call.language)?)
}

pub(crate) fn rows(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let kept = server.previews.get(call.part("p"))?;
    let from = call.number("from")?.unwrap_or_default();
    let to = call.number("to")?.unwrap_or(usize::MAX);
    Reply::json(&preview::rows(&kept, (from, to), call.language)?)
}

pub(crate) fn life(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let kept = server.previews.get(call.part("p"))?;
    let row = call.number("row")?.ok_or_else(|| Refusal::malformed(phrase!("`row` is missing")))?;
    Reply::json(&preview::life(&kept, row, call.language)?)
}

pub(crate) fn body(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let kept = server.previews.get(call.part("p"))?;
    let dialect = call.query.get("dialect").map_or("openai", String::as_str);
    Reply::json(&preview::body(&kept, dialect, call.language)?)
}

pub(crate) fn compare(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let CompareRequest { a, b } = call.json()?;
    let (a, b) = (server.previews.get(&a)?, server.previews.get(&b)?);
    Reply::json(&preview::compared(&a, &b, call.language)?)
}

/// Shows what a text becomes where the agent's entries stand.
pub(crate) fn expand(server: &Server, call: &Call) -> Result<Reply, Refusal> {
    let asked: ExpandRequest = call.json()?;
    let named = Named {
        agent: asked.agent.as_deref(),
        conversation: asked.conversation.as_deref(),
        profile: asked.profile.as_deref(),
        is_saved: false,
    };
    let turn =
        open_turn((server, server.engine.clone()), options(&asked.turn)?, named, &mut Sources::default())?;
    let expansion = turn.expand(&asked.text)?;
    let findings = expansion.found.iter().enumerate().map(|(index, found)| {
        let span = found.location.span.map(|span| TextSpan::of(&asked.text, span.start, span.end));
        let finding = Finding::of(call.language, found, index);
        Finding { span, file: None, pointer: None, fixable: false, ..finding }
    });
    Reply::json(&Expanded {
        pieces: preview::pieces(&expansion.text, &expansion.segments, &BTreeMap::new(), preview::name),
        findings: findings.collect(),
        text: expansion.text,
    })
}
