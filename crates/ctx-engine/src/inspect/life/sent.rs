use ctx_tokens::message_cost;
use ctx_types::{Phrase, Role, Segment, Source};
use serde::Serialize;

use crate::context::Context;
use crate::inspect::shares::TokenShare;

/// A message of the context.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SentMessage {
    /// Its number, counted from 0.
    pub number: usize,
    /// Who speaks it.
    pub role: Role,
    /// Where it came from.
    pub source: Source,
    /// How it was placed, if it was placed rather than listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Phrase>,
    /// Its text.
    pub text: String,
    /// What each range of its bytes came from, with its share of the tokens; what is sent beside the text stands at
    /// its end.
    pub pieces: Vec<Piece>,
    /// All its tokens.
    pub tokens: u32,
    /// Those of what was asked for, where that is a piece of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_tokens: Option<u32>,
    /// What causes its tokens; parts without any are left out.
    pub cost: Vec<CostPart>,
    /// Whether the next turn finds it in the provider's cache; absent where nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheStanding>,
}

/// A range of a message's bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Piece {
    /// Where it is, and what wrote it.
    #[serde(flatten)]
    pub segment: Segment,
    /// Its share of the tokens.
    pub tokens: u32,
}

/// What causes tokens of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostPart {
    /// Such as `text`, `per message`, `media`.
    pub part: &'static str,
    /// How many.
    pub tokens: u32,
}

/// Whether the next turn sends a message again as it is, and everything above it too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CacheStanding {
    /// Whether it does.
    pub is_stable: bool,
    /// The number of the message that ends what is stable: this one, or one above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<usize>,
    /// What of that message may differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Why it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Phrase>,
}

/// `wanted` is the requested source, which may be a segment of a message.
pub(crate) fn messages(context: &Context, numbers: &[usize], wanted: Option<&str>) -> Vec<SentMessage> {
    numbers.iter().filter_map(|number| message(context, *number, wanted)).collect()
}

fn message(context: &Context, number: usize, wanted: Option<&str>) -> Option<SentMessage> {
    let message = context.messages.get(number)?;
    let cost = message_cost(message, &context.model, &context.counter);
    let pieces: Vec<Piece> = crate::inspect::shares::message_shares(message, &cost)
        .into_iter()
        .map(|TokenShare { segment, tokens }| Piece { segment, tokens })
        .collect();
    let wanted = wanted.filter(|wanted| *wanted != message.source.to_string());
    let own = wanted.map(|wanted| {
        let is_own = |piece: &&Piece| {
            let Segment { source, via, .. } = &piece.segment;
            std::iter::once(source).chain(via).any(|source| source.to_string() == wanted)
        };
        pieces.iter().filter(is_own).map(|piece| piece.tokens).sum()
    });
    Some(SentMessage {
        number,
        role: message.role,
        source: message.source.clone(),
        placement: message.placement.as_ref().map(|placement| placement.phrase()),
        text: message.text().into_owned(),
        pieces,
        tokens: cost.total(),
        own_tokens: own,
        cost: cost
            .parts()
            .filter(|(_, tokens)| *tokens > 0)
            .map(|(part, tokens)| CostPart { part, tokens })
            .collect(),
        cache: cache(context, number),
    })
}

fn cache(context: &Context, number: usize) -> Option<CacheStanding> {
    let stable = context.report.stable.as_ref()?;
    if number < stable.messages {
        return Some(CacheStanding { is_stable: true, ended_by: None, source: None, reason: None });
    }
    let end = stable.ended_by.as_ref();
    Some(CacheStanding {
        is_stable: false,
        ended_by: end.map(|end| end.message),
        source: end.map(|end| end.source.clone()),
        reason: end.map(|end| end.reason.clone()),
    })
}
