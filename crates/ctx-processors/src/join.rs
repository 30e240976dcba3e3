//! Joins messages and tracks the source of every byte.

use ctx_types::internal::{JoinRule, SlotRank, SourcedText};
use ctx_types::report::{Decision, Outcome};
use ctx_types::{
    Content, ContentPart, Message, Phrase, Place, Role, Segment, Source, SourceKind, Text, Trust,
};

#[derive(Clone, Copy)]
pub(crate) struct MessageJoiner<'a> {
    pub(crate) separator: &'a str,
    pub(crate) reason: fn() -> Phrase,
}

impl MessageJoiner<'_> {
    /// Joins runs of neighbors for which `may_join` is true. O(bytes of joined text).
    pub(crate) fn runs(
        self,
        messages: Vec<Message>,
        may_join: impl Fn(&Message, &Message) -> bool,
        decisions: &mut Vec<Decision>,
    ) -> Vec<Message> {
        let mut result = Vec::with_capacity(messages.len());
        let mut run: Vec<Message> = Vec::new();
        for message in messages {
            match run.last() {
                Some(last) if may_join(last, &message) => {}
                // The usual case; reuses the capacity of `run`.
                Some(_) if run.len() == 1 => result.append(&mut run),
                _ => result.extend(self.join_group(std::mem::take(&mut run), decisions)),
            }
            run.push(message);
        }
        result.extend(self.join_group(run, decisions));
        result
    }

    /// The result has the role and name of the first message. Separators get their own segments.
    fn join_group(self, messages: Vec<Message>, decisions: &mut Vec<Decision>) -> Option<Message> {
        if messages.len() < 2 {
            return messages.into_iter().next();
        }
        let mut joined = JoinedContent::default();
        for message in &messages {
            joined.add(message, self.separator);
            if message.source.kind != SourceKind::Merged {
                decisions.push(Decision::new(Outcome::Merged, message.source.clone(), (self.reason)()));
            }
        }
        let source = merged_source(&messages);
        let place = messages.iter().map(|message| message.place).max_by_key(|place| protection(*place));
        let is_placed = messages.iter().all(|message| message.placement.is_some());
        let attachments = messages.iter().flat_map(|message| message.attachments.iter().cloned()).collect();
        let rank = messages.iter().find_map(|message| message.slot_rank);
        let fronts = messages.iter().map(|message| message.slot_rank?.front);
        let front = fronts.min().flatten();
        let mut result = messages.into_iter().next()?;
        if rank.is_some() {
            result.slot_rank = rank.map(|rank| SlotRank { front, ..rank });
        }
        result.source = source;
        result.place = place.unwrap_or_default();
        result.attachments = attachments;
        result.placement.take_if(|_| !is_placed);
        (result.content, result.written) = joined.finish();
        Some(result)
    }
}

/// Excludes tool calls and results, reasoning that must be replayed, a reply to continue, text for one
/// turn of an append-only context, and fields of messages and parts, which would lose their place.
pub(crate) fn is_joinable(message: &Message) -> bool {
    message.role != Role::Tool
        && message.tool_calls.is_empty()
        && message.tool_call_id.is_none()
        && message.reasoning.is_none()
        && message.block_fields.is_empty()
        && message.provider_fields.is_none()
        && !message.is_continuation_prefix
        && message.join_rule != JoinRule::None
}

/// Protection from dropping. A joined message takes the highest value of its parts.
fn protection(place: Place) -> u8 {
    match place {
        Place::History => 0,
        Place::Gap { multiple: true } => 1,
        Place::Gap { multiple: false } => 2,
        Place::AroundHistory => 3,
        Place::Anchored => 4,
        Place::Skeleton => 5,
        _ => 6,
    }
}

#[derive(Default)]
struct JoinedContent {
    /// Finished parts; empty while all content is text.
    parts: Vec<ContentPart>,
    /// All text, and the length of the text in `parts`.
    joined: SourcedText,
    finished: usize,
}

impl JoinedContent {
    fn add(&mut self, message: &Message, separator: &str) {
        if !self.joined.text.is_empty() && !message.content.is_empty() {
            self.joined.push(separator, Source::new(SourceKind::Separator, Trust::Preset), Vec::new());
        }
        let segments = message.segments();
        let mut place = 0;
        let mut add_text = |joined: &mut SourcedText, text: &str| {
            joined.copy(text, &segments, place);
            place += text.len();
        };
        match &message.content {
            Content::Text(text) => add_text(&mut self.joined, text),
            Content::Parts(parts) => {
                for part in parts {
                    match part {
                        ContentPart::Text(text) => add_text(&mut self.joined, text),
                        ContentPart::Other(_) => {
                            self.finish_text();
                            self.parts.push(part.clone());
                        }
                    }
                }
            }
        }
    }

    fn finish_text(&mut self) {
        if self.finished < self.joined.text.len() {
            self.parts.push(ContentPart::Text(Text::from(&self.joined.text[self.finished..])));
            self.finished = self.joined.text.len();
        }
    }

    fn finish(mut self) -> (Content, Vec<Segment>) {
        if self.parts.is_empty() {
            return (Content::Text(Text::from(self.joined.text)), self.joined.segments);
        }
        self.finish_text();
        (Content::Parts(self.parts), self.joined.segments)
    }
}

/// Names the first members; has the lowest trust of all.
fn merged_source(messages: &[Message]) -> Source {
    /// Limits the length of the name.
    const MAX_NAMES: usize = 8;
    let mut names: Vec<String> =
        messages.iter().take(MAX_NAMES).map(|message| source_name(&message.source)).collect();
    if let Some(more) = messages.len().checked_sub(MAX_NAMES).filter(|more| *more > 0) {
        names.push(format!("{more} more"));
    }
    let trust = messages.iter().map(|message| message.source.trust).max();
    Source::new(SourceKind::Merged, trust.unwrap_or(Trust::Import)).with_id(names.join("+"))
}

fn source_name(source: &Source) -> String {
    match (source.kind, &source.id) {
        (SourceKind::Merged, Some(id)) => id.to_string(),
        _ => source.to_string(),
    }
}
