use std::sync::Arc;

use ctx_types::{Content, ContentPart, Message, MessageExtras, Place, Placement, Segment, Span, Text};

use crate::preset::Entry;

/// Text of an entry after macro expansion.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderedText {
    /// Text.
    pub text: Text,
    /// Source of each byte; empty if the whole text is the entry's own.
    pub written: Vec<Segment>,
}

impl RenderedText {
    /// Returns the text unchanged.
    pub fn unchanged(text: &Text) -> Self {
        Self { text: text.clone(), written: Vec::new() }
    }
}

/// A text to render.
#[derive(Clone, Copy, Debug)]
pub struct RenderRequest<'a> {
    /// Entry.
    pub entry: &'a Entry,
    /// Index of the content part; 0 for plain content.
    pub part: usize,
    /// Text.
    pub text: &'a Text,
}

pub(crate) type Render<'a> = dyn FnMut(RenderRequest<'_>) -> RenderedText + 'a;

/// Parts other than text are unchanged.
pub(crate) fn message(entry: &Entry, render: &mut Render<'_>) -> Message {
    let (content, written) = match &entry.content {
        Content::Text(text) => {
            let rendered = render(RenderRequest { entry, part: 0, text });
            (Content::Text(rendered.text), rendered.written)
        }
        Content::Parts(parts) => {
            let mut texts = PartTexts { entry, offset: 0, written: Vec::new() };
            let parts = parts.iter().enumerate().map(|(index, part)| texts.render(index, part, render));
            (Content::Parts(parts.collect()), texts.written)
        }
    };
    let is_placed = entry.placement != Placement::InOrder;
    let mut message = Message::new(entry.role, "", entry.source.clone()).with_extras(
        MessageExtras::default().with(|extras| {
            extras.attachments = entry.attachments.clone();
            extras.placement = is_placed.then(|| Arc::new(entry.placement.clone()));
            extras.written = written;
        }),
    );
    message.content = content;
    message.place = Place::Skeleton;
    message
}

struct PartTexts<'a> {
    entry: &'a Entry,
    offset: usize,
    written: Vec<Segment>,
}

impl PartTexts<'_> {
    fn render(&mut self, index: usize, part: &ContentPart, render: &mut Render<'_>) -> ContentPart {
        let ContentPart::Text(text) = part else { return part.clone() };
        let rendered = render(RenderRequest { entry: self.entry, part: index, text });
        let len = rendered.text.len();
        if rendered.written.is_empty() && len > 0 {
            self.push(Segment::full(len, self.entry.source.clone()));
        }
        for segment in rendered.written {
            self.push(segment);
        }
        self.offset += len;
        ContentPart::Text(rendered.text)
    }

    fn push(&mut self, mut segment: Segment) {
        segment.span = Span::new(segment.span.start + self.offset, segment.span.end + self.offset);
        self.written.push(segment);
    }
}
