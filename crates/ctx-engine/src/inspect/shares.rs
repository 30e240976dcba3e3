use ctx_tokens::internal::{MessageCost, message_cost, shares};
use ctx_types::{Message, Segment, Source, SourceKind, Span, Trust};

use crate::context::Context;

/// A segment of a message with its share of the tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenShare {
    /// The segment. Overhead outside the text is an empty segment at its end, of kind
    /// [`SourceKind::Overhead`] with the type of overhead as id.
    pub segment: Segment,
    /// Tokens of the segment.
    pub tokens: u32,
}

impl Context {
    /// Divides the tokens of each message among its segments, by bytes; the shares add up to its tokens.
    ///
    /// Overhead, names, tool calls, reasoning, media, and separators are separate segments. O(segments · log
    /// segments), plus counting of uncounted text.
    ///
    /// ```
    /// use ctx_engine::{Compile, Engine};
    /// use ctx_types::{Agent, TurnInput};
    /// use ctx_types::session::Session;
    ///
    /// let compiled = Engine::new().compile(&Agent::default(), &Compile::default());
    /// let turn = TurnInput::new("Hello");
    /// let context = compiled.assemble_blocking(&Session::new("s1"), &turn)?;
    /// let shares = &context.token_shares()[0];
    /// let found: Vec<_> = shares.iter().map(|share| (share.segment.source.to_string(), share.tokens)).collect();
    /// assert_eq!(found, [("input".to_owned(), 1), ("overhead:per message".to_owned(), 3)]);
    /// # Ok::<(), ctx_engine::AssembleError>(())
    /// ```
    pub fn token_shares(&self) -> Vec<Vec<TokenShare>> {
        let of = |message| message_shares(message, &message_cost(message, &self.model, &self.counter));
        self.messages.iter().map(of).collect()
    }
}

pub(crate) fn message_shares(message: &Message, cost: &MessageCost) -> Vec<TokenShare> {
    let segments = message.segments();
    let weights: Vec<u64> = segments.iter().map(|segment| segment.span.len() as u64).collect();
    let of_text = segments.iter().cloned().zip(shares(cost.text, &weights));
    let of_text = of_text.map(|(segment, tokens)| TokenShare { segment, tokens });
    // A text without bytes has no tokens, so nothing is lost if there are no segments.
    let len = message.content.len();
    let beside = cost.parts().skip(1).filter(|(_, tokens)| *tokens > 0).map(|(name, tokens)| {
        let source = Source::new(SourceKind::Overhead, Trust::Preset).with_id(name);
        TokenShare { segment: Segment { span: Span::new(len, len), source, via: Vec::new() }, tokens }
    });
    of_text.chain(beside).collect()
}
