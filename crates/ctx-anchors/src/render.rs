//! The texts of preset entries, after their macros were expanded.

use std::sync::Arc;

use ctx_types::{Content, ContentPart, Message, MessageExtras, Place, Placement, Segment, Span, Text};

use crate::preset::Entry;

/// The text of an entry after its macros were expanded.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The text.
    pub text: Text,
    /// Where each byte of it came from; empty when all of it is the entry's own.
    pub written: Vec<Segment>,
}

impl Rendered {
    /// The text of an entry that has no macros.
    pub fn unchanged(text: &Text) -> Self {
        Self { text: text.clone(), written: Vec::new() }
    }
}

/// One text of an entry that is to be rendered.
#[derive(Clone, Copy, Debug)]
pub struct RenderRequest<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// Which of the entry's content parts it is; 0 for plain content.
    pub part: usize,
    /// The text.
    pub text: &'a Text,
}

/// Gives the rendered text of an entry's text.
pub(crate) type Render<'a> = dyn FnMut(RenderRequest<'_>) -> Rendered + 'a;

/// Renders the texts of an entry; parts that are no texts stay as they are.
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

/// The texts of an entry with several parts, with the segments of all of them one after the other.
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
            self.push(Segment::whole(len, self.entry.source.clone()));
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
