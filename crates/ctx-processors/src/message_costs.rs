use ctx_compress::request::Meter;
use ctx_pipeline::{PipelineContext, SettingsReader};
use ctx_tokens::{ModelFacts, internal::message_cost};
use ctx_types::ports::TokenCounter;
use ctx_types::{Content, Message};

use crate::internal::ids;
use crate::token_limiter::LimiterSettings;

#[derive(Clone, Copy)]
pub(crate) struct MessageCosts<'a> {
    pub(crate) model: &'a ModelFacts,
    pub(crate) counter: &'a dyn TokenCounter,
    pub(crate) extra: u64,
}

impl<'a> MessageCosts<'a> {
    pub(crate) const fn new(cx: &PipelineContext<'a>) -> Self {
        Self { model: cx.inputs.model, counter: cx.inputs.counter, extra: 0 }
    }

    /// Adds the limiter's extra tokens per message.
    pub(crate) fn as_limiter(cx: &PipelineContext<'a>) -> Self {
        let settings = cx.config_of(ids::TOKEN_LIMITER);
        let extra =
            settings.map_or(0, |config| LimiterSettings::read(&mut SettingsReader::new(config)).extra);
        Self { extra, ..Self::new(cx) }
    }

    pub(crate) fn meter(&self) -> Meter<'a> {
        let mut model = self.model.clone();
        let extra = u32::try_from(self.extra).unwrap_or(u32::MAX);
        model.overheads.per_message = model.overheads.per_message.saturating_add(extra);
        Meter::lent(&model, self.counter)
    }

    pub(crate) fn cost(&self, message: &Message) -> u64 {
        u64::from(message_cost(message, self.model, self.counter).total()) + self.extra
    }

    /// Returns `None` if the message does not fit. A long text is counted only up to the limit.
    pub(crate) fn take(&self, message: &Message, left: u64) -> Option<u64> {
        for text in message.content.texts() {
            if text.len() as u64 > left && text.known_tokens(self.counter.encoding()).is_none() {
                let limit = u32::try_from(left).unwrap_or(u32::MAX);
                let count = self.counter.count_till_limit(text, limit)?;
                text.tokens_with(self.counter.encoding(), |_| count);
            }
        }
        left.checked_sub(self.cost(message))
    }

    /// Returns the tokens of the text and whether they are exact. Longer texts are estimated by their bytes.
    ///
    /// Exactness depends on the text alone: equal inputs give equal reports.
    pub(crate) fn text(&self, message: &Message) -> (u64, bool) {
        message.content.texts().fold((0, true), |(tokens, is_exact), text| match text.len() {
            0..=LONGEST_COUNTED => (tokens + u64::from(self.counter.count_text(text)), is_exact),
            len => (tokens + len as u64, false),
        })
    }
}

/// Longest text in bytes for which reports count tokens.
const LONGEST_COUNTED: usize = 64 * 1024;

/// Returns an upper bound for the tokens of a message without counting: no text has more tokens than bytes.
///
/// Returns `u32::MAX` for a message with attachments, reasoning, or content parts.
pub fn cost_upper_bound(message: &Message, model: &ModelFacts) -> u64 {
    let is_plain = message.attachments.is_empty()
        && message.reasoning.is_none()
        && matches!(message.content, Content::Text(_));
    if !is_plain {
        return u64::from(u32::MAX);
    }
    let calls = message.tool_calls.iter().map(|call| call.id.len() + call.name.len() + call.arguments.len());
    let ids = message.tool_call_id.as_ref().map_or(0, |id| id.len())
        + message.name.as_ref().map_or(0, |name| name.len());
    let bytes = message.content.len() + calls.sum::<usize>() + ids;
    bytes as u64 + u64::from(model.overheads.per_message) + u64::from(model.overheads.per_name)
}
