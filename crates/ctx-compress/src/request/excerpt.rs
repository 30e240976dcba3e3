//! Shortened texts with the origin of each byte.

use std::ops::Range;

use ctx_types::{Content, ContentPart, Message, Segment, Source, SourceKind, Span, Text, Trust};

/// Parts of a text in their order, with own text between them.
#[derive(Debug)]
pub(crate) struct Excerpt<'t> {
    whole: &'t str,
    text: String,
    /// The start of each part, and its start in the whole text; `None` for own text.
    parts: Vec<(usize, Option<usize>)>,
}

/// Marks omitted text.
const GAP: &str = "\n[…]\n";

impl<'t> Excerpt<'t> {
    /// Makes an empty excerpt of a text.
    pub(crate) const fn of(whole: &'t str) -> Self {
        Self { whole, text: String::new(), parts: Vec::new() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Adds bytes of the whole text.
    pub(crate) fn keep(&mut self, range: Range<usize>) {
        if let Some(kept) = self.whole.get(range.clone()).filter(|kept| !kept.is_empty()) {
            self.parts.push((self.text.len(), Some(range.start)));
            self.text.push_str(kept);
        }
    }

    /// Adds own text.
    pub(crate) fn write(&mut self, text: &str) {
        if !text.is_empty() {
            self.parts.push((self.text.len(), None));
            self.text.push_str(text);
        }
    }

    /// Adds a part of the whole text without its middle. 2/3 of the rest is the beginning. Cuts move to a near border of
    /// lines or words.
    pub(crate) fn keep_ends(&mut self, range: Range<usize>, max_chars: usize) {
        let Some(part) = self.whole.get(range.clone()) else { return };
        let start = range.start + (part.len() - part.trim_start().len());
        let part = part.trim();
        let chars = part.chars().count();
        if chars <= max_chars {
            return self.keep(start..start + part.len());
        }
        let head = max_chars * 2 / 3;
        let head_end = border(part, byte_of(part, head));
        let head_end = part.get(..head_end).unwrap_or_default().trim_end().len();
        let tail = part.get(byte_of(part, chars - (max_chars - head))..).unwrap_or_default();
        let tail = tail.find([' ', '\n']).filter(|at| *at * 2 < tail.len()).map_or(tail, |at| &tail[at..]);
        let tail_start = part.len() - tail.trim_start().len();
        self.keep(start..start + head_end);
        self.write(GAP);
        self.keep(start + tail_start..start + part.len());
    }

    /// Returns the message with this text, if that is shorter. Other parts stay, and kept bytes keep their sources.
    pub(crate) fn replace_in(&self, message: &Message) -> Option<Message> {
        if self.text.len() >= message.content.len() {
            return None;
        }
        let segments = self.segments(&message.segments());
        let text = Text::from(self.text.as_str());
        let others: Vec<ContentPart> = match &message.content {
            Content::Text(_) => Vec::new(),
            Content::Parts(parts) => parts.iter().filter(|part| part.as_text().is_none()).cloned().collect(),
        };
        let content = if others.is_empty() {
            Content::Text(text)
        } else {
            Content::Parts([vec![ContentPart::Text(text)], others].concat())
        };
        Some(message.clone().with(|message| {
            message.content = content;
            message.written = segments;
        }))
    }

    /// Returns the source of each byte, given those of the whole text.
    fn segments(&self, whole: &[Segment]) -> Vec<Segment> {
        let ends = self.parts.iter().skip(1).map(|(start, _)| *start).chain([self.text.len()]);
        let mut segments = Vec::new();
        for ((start, stood), end) in self.parts.iter().zip(ends) {
            match stood {
                None => segments.push(Segment {
                    span: Span::new(*start, end),
                    source: own_source(),
                    via: Vec::new(),
                }),
                Some(stood) => segments.extend(slice(whole, *stood..*stood + (end - start), *start)),
            }
        }
        segments
    }
}

/// Returns the source of text that compression writes.
pub(crate) fn own_source() -> Source {
    Source::new(SourceKind::Formatter, Trust::Preset).with_id("request-compressor")
}

/// Returns the segments of some bytes, moved to `at`.
fn slice(whole: &[Segment], bytes: Range<usize>, at: usize) -> impl Iterator<Item = Segment> {
    whole.iter().filter_map(move |segment| {
        let (start, end) = (segment.span.start.max(bytes.start), segment.span.end.min(bytes.end));
        (start < end).then(|| Segment {
            span: Span::new(start - bytes.start + at, end - bytes.start + at),
            ..segment.clone()
        })
    })
}

/// Removes the middle of a text; see [`Excerpt::keep_ends`].
pub(crate) fn ends(text: &str, max_chars: usize) -> String {
    let mut excerpt = Excerpt::of(text);
    excerpt.keep_ends(0..text.len(), max_chars);
    excerpt.text
}

/// Returns the first byte of the n-th character.
pub(crate) fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(byte, _)| byte)
}

/// Moves a cut back to near white space.
fn border(text: &str, cut: usize) -> usize {
    let before = text.get(..cut).unwrap_or_default();
    before.rfind(char::is_whitespace).filter(|at| at * 2 > cut).unwrap_or(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_types::Role;
    use ctx_types::internal::is_partition;

    fn message(text: &str) -> Message {
        Message::new(Role::Tool, text, Source::history("n", Role::Tool))
    }

    /// The sources of a message's bytes, as `source:text`.
    fn shown(message: &Message) -> Vec<String> {
        let text = message.text();
        assert!(is_partition(&message.segments(), text.len()));
        let part = |segment: &Segment| {
            let text = &text[segment.span.start..segment.span.end];
            format!("{}={}", segment.source, text.replace('\n', "/"))
        };
        message.segments().iter().map(part).collect()
    }

    #[test]
    fn kept_bytes_keep_their_sources_and_written_ones_are_our_own() {
        let text = "  one two three four five six seven eight nine ten  ";
        let macro_source = Source::new(SourceKind::Macro, Trust::User).with_id("m");
        let whole = message(text).with(|message| {
            message.written = vec![
                Segment::full(5, message.source.clone()),
                Segment { span: Span::new(5, 9), source: macro_source, via: Vec::new() },
                Segment { span: Span::new(9, text.len()), source: message.source.clone(), via: Vec::new() },
            ];
        });
        let mut excerpt = Excerpt::of(text);
        excerpt.write("Short: ");
        excerpt.keep_ends(0..text.len(), 18);
        let short = excerpt.replace_in(&whole).unwrap();
        assert_eq!(
            shown(&short),
            [
                "formatter:request-compressor=Short: ",
                "history:n=one",
                "macro:m= two",
                "formatter:request-compressor=/[…]/",
                "history:n=ten"
            ]
        );
    }

    #[test]
    fn what_is_not_shorter_replaces_nothing() {
        let mut excerpt = Excerpt::of("ab");
        excerpt.write("ab");
        assert!(excerpt.replace_in(&message("ab")).is_none());
    }

    #[test]
    fn a_cut_moves_to_a_blank_that_is_near() {
        let check = |text: &str, max_chars, expected: &str| assert_eq!(ends(text, max_chars), expected);
        check("abcdef", 6, "abcdef");
        check("abcdef", 5, "abc\n[…]\nef");
        // Six characters of the beginning, three of the end.
        check("abc defghijklmnop", 9, "abc de\n[…]\nnop");
        check("abcd efghijklmnop", 9, "abcd\n[…]\nnop");
        // Six characters of the end.
        let long = "x".repeat(30);
        let begin = "x".repeat(12);
        check(&format!("{long}ab def"), 18, &format!("{begin}\n[…]\ndef"));
        check(&format!("{long}abc ef"), 18, &format!("{begin}\n[…]\nabc ef"));
        check(&format!("{long}a\ncdef"), 18, &format!("{begin}\n[…]\ncdef"));
    }

    #[test]
    fn a_part_is_cut_like_a_whole() {
        let text = "skip  one two three four five  skip";
        let shown = |max_chars| {
            let mut excerpt = Excerpt::of(text);
            excerpt.keep_ends(4..31, max_chars);
            excerpt.text
        };
        assert_eq!(shown(23), "one two three four five");
        assert_eq!(shown(16), "one two\n[…]\nfive");
    }

    #[test]
    fn beginning_and_end_stay_at_word_borders() {
        assert_eq!(ends(&format!("begin {}end", "word ".repeat(200)), 40).matches("word").count(), 6);
        assert_eq!(ends(&"字".repeat(300), 30).matches('字').count(), 30);
        assert_eq!(ends("  short  ", 10), "short");
        assert_eq!(ends("", 10), "");
    }
}
