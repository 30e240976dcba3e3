use ctx_tokens::internal::message_cost;
use ctx_types::{Phrase, Role, Segment, Source};
use serde::Serialize;

use crate::context::Context;
use crate::inspect::shares::TokenShare;

/// A message of the context.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SentMessage {
    /// Index in the context, from 0.
    pub number: usize,
    /// Message role.
    pub role: Role,
    /// Source of the message.
    pub source: Source,
    /// Placement, if the message is not in list order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Phrase>,
    /// Message text.
    pub text: String,
    /// Byte ranges with their source and tokens. Content other than text is at the end.
    pub pieces: Vec<MessageSegment>,
    /// Tokens of the message.
    pub tokens: u32,
    /// Tokens of the requested source, if it is only a part of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_tokens: Option<u32>,
    /// Tokens by cause, without zeros.
    pub cost: Vec<CostPart>,
    /// Whether the next turn can read the message from the provider's cache. Missing if not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheStatus>,
}

/// A byte range of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Piece"))]
pub struct MessageSegment {
    /// Byte range and source.
    #[serde(flatten)]
    pub segment: Segment,
    /// Tokens of the byte range.
    pub tokens: u32,
}

/// The tokens of a message from one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostPart {
    /// Cause, such as `text`, `per message`, or `media`.
    pub part: &'static str,
    /// Number of tokens.
    pub tokens: u32,
}

/// Whether the next turn repeats a message and all messages before it unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CacheStanding"))]
#[serde(rename_all = "camelCase")]
pub struct CacheStatus {
    /// Whether they are unchanged.
    pub is_stable: bool,
    /// Index of the first message that can change: this message or an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<usize>,
    /// Source of the text that can change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Reason for the change.
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
    let pieces: Vec<MessageSegment> = crate::inspect::shares::message_shares(message, &cost)
        .into_iter()
        .map(|TokenShare { segment, tokens }| MessageSegment { segment, tokens })
        .collect();
    let wanted = wanted.filter(|wanted| *wanted != message.source.to_string());
    let own = wanted.map(|wanted| {
        let is_own = |piece: &&MessageSegment| {
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

fn cache(context: &Context, number: usize) -> Option<CacheStatus> {
    let stable = context.report.stable.as_ref()?;
    if number < stable.messages {
        return Some(CacheStatus { is_stable: true, ended_by: None, source: None, reason: None });
    }
    let end = stable.ended_by.as_ref();
    Some(CacheStatus {
        is_stable: false,
        ended_by: end.map(|end| end.message),
        source: end.map(|end| end.source.clone()),
        reason: end.map(|end| end.reason.clone()),
    })
}
