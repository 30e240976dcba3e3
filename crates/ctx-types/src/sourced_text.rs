use crate::diagnostic::Span;
use crate::source::{Segment, Source};

/// A text with the source of each byte, for texts that are joined or edited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourcedText {
    /// The text.
    pub text: String,
    /// Adjacent segments that cover the text.
    pub segments: Vec<Segment>,
}

impl SourcedText {
    /// Appends a text from one source, which replaces text from `via`.
    pub fn push(&mut self, text: &str, source: Source, via: Vec<Source>) {
        let start = self.text.len();
        self.text.push_str(text);
        if !text.is_empty() {
            self.segments.push(Segment { span: Span::new(start, self.text.len()), source, via });
        }
    }

    /// Appends a part of another text. `start` is its position there, and `segments` are those of the other
    /// text. O(bytes + segments in the part + log segments).
    pub fn copy(&mut self, text: &str, segments: &[Segment], start: usize) {
        let (at, end) = (self.text.len(), start + text.len());
        self.text.push_str(text);
        for segment in segments_in(segments, Span::new(start, end)) {
            let span =
                Span::new(at + segment.span.start.max(start) - start, at + segment.span.end.min(end) - start);
            // The rest of a segment whose start was copied before.
            let is_rest = |last: &&mut Segment| {
                segment.span.start < start && last.source == segment.source && last.via == segment.via
            };
            match self.segments.last_mut().filter(is_rest) {
                Some(last) => last.span.end = span.end,
                None if span.is_empty() => {}
                None => self.segments.push(Segment { span, ..segment.clone() }),
            }
        }
    }

    /// Appends a text with its segments. Without segments, the whole text has `source`.
    pub fn append(&mut self, text: &str, segments: &[Segment], source: &Source) {
        if segments.is_empty() {
            self.push(text, source.clone(), Vec::new());
        } else {
            self.copy(text, segments, 0);
        }
    }
}

/// Returns the segments that overlap a byte range.
pub fn segments_in(segments: &[Segment], range: Span) -> impl Iterator<Item = &Segment> + Clone {
    let first = segments.partition_point(|segment| segment.span.end <= range.start);
    let rest = if range.is_empty() { &[] } else { &segments[first..] };
    rest.iter().take_while(move |segment| segment.span.start < range.end)
}

/// Returns the sources of a byte range, each once, with those that they replaced.
pub fn sources_in(segments: &[Segment], range: Span) -> Vec<Source> {
    let mut sources: Vec<Source> = Vec::new();
    for source in segments_in(segments, range).flat_map(|part| std::iter::once(&part.source).chain(&part.via))
    {
        if !sources.contains(source) {
            sources.push(source.clone());
        }
    }
    sources
}
