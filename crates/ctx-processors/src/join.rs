//! Joining several messages into one, with the source of every byte.

use ctx_types::{
    Content, ContentPart, Decision, Message, Outcome, Segment, Source, SourceKind, Span, Text, Trust,
};

/// Joins messages into one that has the first one's role; `separator` stands between their texts.
///
/// The result's segments are those of its members, with the separators between them as segments of their own.
/// A single message stays as it is. Each message that is joined is a decision. O(bytes of text).
pub(crate) fn join(
    messages: Vec<Message>,
    separator: &str,
    decisions: &mut Vec<Decision>,
) -> Option<Message> {
    if messages.len() < 2 {
        return messages.into_iter().next();
    }
    let mut joined = Joined::default();
    let mut result: Option<Message> = None;
    let count = messages.len();
    for message in messages {
        joined.add(&message, separator);
        if message.source.kind != SourceKind::Merged {
            let reason = format!("joined with its neighbours into one {} message of {count}", message.role);
            decisions.push(Decision::new(Outcome::Merged, message.source.clone(), reason));
        }
        match &mut result {
            None => result = Some(message),
            Some(result) => {
                result.source = merged_source(&result.source, &message.source);
                result.placement = result.placement.take().filter(|_| message.placement.is_some());
                result.attachments.extend(message.attachments);
            }
        }
    }
    let mut result = result?;
    result.written = std::mem::take(&mut joined.segments);
    result.content = joined.finish();
    Some(result)
}

/// The text of a joined message under way.
#[derive(Default)]
struct Joined {
    /// The parts before the text that is being written; empty unless there is a part that is no text.
    parts: Vec<ContentPart>,
    text: String,
    /// The bytes of all text so far.
    len: usize,
    segments: Vec<Segment>,
    is_begun: bool,
}

impl Joined {
    fn add(&mut self, message: &Message, separator: &str) {
        if self.is_begun && !message.content.is_empty() && self.len > 0 {
            let source = Source::new(SourceKind::Separator, Trust::Preset);
            self.push_segment(separator.len(), source, Vec::new());
            self.text.push_str(separator);
        }
        self.is_begun = true;
        for segment in message.segments().iter() {
            self.push_segment(segment.span.len(), segment.source.clone(), segment.via.clone());
        }
        match &message.content {
            Content::Text(text) => self.text.push_str(text),
            Content::Parts(parts) => parts.iter().for_each(|part| self.add_part(part)),
        }
    }

    fn add_part(&mut self, part: &ContentPart) {
        match part {
            ContentPart::Text(text) => self.text.push_str(text),
            ContentPart::Other(_) => {
                self.flush();
                self.parts.push(part.clone());
            }
        }
    }

    fn push_segment(&mut self, len: usize, source: Source, via: Vec<Source>) {
        if len > 0 {
            self.segments.push(Segment { span: Span::new(self.len, self.len + len), source, via });
            self.len += len;
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(ContentPart::Text(Text::from(std::mem::take(&mut self.text))));
        }
    }

    fn finish(mut self) -> Content {
        if self.parts.is_empty() {
            return Content::Text(Text::from(self.text));
        }
        self.flush();
        Content::Parts(self.parts)
    }
}

/// The source of a joined message: the ids of its members, and the least trust among them.
fn merged_source(first: &Source, second: &Source) -> Source {
    let ids: Vec<String> = [first, second].map(source_name).into_iter().collect();
    Source {
        id: Some(ids.join("+").into()),
        ..Source::new(SourceKind::Merged, first.trust.max(second.trust))
    }
}

fn source_name(source: &Source) -> String {
    match (source.kind, &source.id) {
        (SourceKind::Merged, Some(id)) => id.to_string(),
        _ => source.to_string(),
    }
}
