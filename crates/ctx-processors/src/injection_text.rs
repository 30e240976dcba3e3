//! Text builder that tracks the source of every byte.

use ctx_macros::Expansion;
use ctx_types::{Injection, Segment, Source, SourceKind, Span, Text, Trust};

#[derive(Clone, Debug, Default)]
pub(crate) struct InjectionText {
    text: String,
    written: Vec<Segment>,
}

impl InjectionText {
    pub(crate) fn push(&mut self, text: &str, source: &Source) {
        if !text.is_empty() {
            let start = self.text.len();
            self.text.push_str(text);
            let span = Span::new(start, self.text.len());
            self.written.push(Segment { span, source: source.clone(), via: Vec::new() });
        }
    }

    pub(crate) fn push_separator(&mut self, text: &str) {
        self.push(text, &Source::new(SourceKind::Separator, Trust::Preset));
    }

    /// If `written` is empty, the whole text has `source`.
    pub(crate) fn push_written(&mut self, text: &str, written: Vec<Segment>, source: &Source) {
        if written.is_empty() {
            return self.push(text, source);
        }
        let start = self.text.len();
        self.text.push_str(text);
        self.written.extend(written.into_iter().map(|mut segment| {
            segment.span = Span::new(segment.span.start + start, segment.span.end + start);
            segment
        }));
    }

    pub(crate) fn push_expansion(&mut self, expansion: &Expansion, source: &Source) {
        self.push_written(&expansion.text, expansion.segments(), source);
    }

    pub(crate) fn push_lines(&mut self, injections: Vec<Injection>) {
        for (index, injection) in injections.into_iter().enumerate() {
            if index > 0 {
                self.push_separator("\n");
            }
            self.push_written(&injection.text, injection.written, &injection.source);
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        let source = Source::new(SourceKind::Formatter, Trust::Preset);
        self.push_written(&other.text, other.written, &source);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(crate) fn finish(self) -> (Text, Vec<Segment>) {
        (Text::from(self.text), self.written)
    }
}
