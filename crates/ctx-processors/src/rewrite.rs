//! Edits message texts and tracks the source of every byte.

use ctx_types::internal::{SourcedText, sources_in};
use ctx_types::{Message, Source, Span, Text};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edit {
    pub(crate) span: Span,
    pub(crate) text: String,
    pub(crate) source: Source,
}

/// Replaces ranges in the texts of a message, and returns whether it changed.
///
/// `edits` returns the edits of one text, in order and without overlaps. New bytes have the source of the
/// edit, via the replaced sources. O(bytes + segments).
pub(crate) fn rewrite(message: &mut Message, mut edits: impl FnMut(&str) -> Vec<Edit>) -> bool {
    let edits: Vec<Vec<Edit>> = message.content.texts().map(|text| edits(text)).collect();
    if edits.iter().all(Vec::is_empty) {
        return false;
    }
    let segments = message.segments();
    let (mut new, mut place) = (SourcedText::default(), 0);
    let mut edits = edits.into_iter();
    let content = message.content.map_texts(|text| {
        let (start, mut from) = (new.text.len(), 0);
        let edits = edits.next().expect("one list per text");
        let is_changed = !edits.is_empty();
        for Edit { span, text: words, source } in edits {
            new.copy(&text[from..span.start], &segments, place + from);
            let via = sources_in(&segments, Span::new(place + span.start, place + span.end));
            new.push(&words, source, via);
            from = span.end;
        }
        new.copy(&text[from..], &segments, place + from);
        place += text.len();
        if is_changed { Text::from(&new.text[start..]) } else { text.clone() }
    });
    message.content = content;
    message.written = new.segments;
    true
}

#[cfg(test)]
mod tests {
    use ctx_types::internal::is_partition;
    use ctx_types::{Role, SourceKind, Trust};
    use proptest::prelude::*;

    use ctx_types::{Content, ContentPart, Segment};

    use super::*;

    fn source(name: &str) -> Source {
        Source::new(SourceKind::Preset, Trust::Preset).with_id(name)
    }

    /// Edits `ab|CD|ef`, in which `CD` has another source.
    #[track_caller]
    fn check(edits: &[(usize, usize, &str)], expected: &str, segments: &[&str]) {
        let mut message = Message::new(Role::System, "abCDef", source("own"));
        let middle = Segment { via: vec![source("own")], ..Segment::full(2, source("other")) };
        let part = |start: usize, segment: Segment| Segment { span: Span::new(start, start + 2), ..segment };
        let own = Segment::full(2, source("own"));
        message.written = vec![part(0, own.clone()), part(2, middle), part(4, own)];
        let edit = |(start, end, text): &(usize, usize, &str)| Edit {
            span: Span::new(*start, *end),
            text: (*text).to_owned(),
            source: source("new"),
        };
        let changed = rewrite(&mut message, |_| edits.iter().map(edit).collect());
        assert_eq!((changed, &*message.text()), (!edits.is_empty(), expected));
        let found = message.segments();
        let shown = found.iter().map(|segment| {
            let via: Vec<_> = segment.via.iter().map(|source| source.id.clone().unwrap()).collect();
            let bytes = &message.text()[segment.span.start..segment.span.end];
            format!("{bytes} {} {}", segment.source.id.clone().unwrap(), via.join(","))
        });
        assert_eq!(shown.collect::<Vec<_>>(), segments);
    }

    #[test]
    fn keeps_source_of_unchanged_text() {
        check(&[], "abCDef", &["ab own ", "CD other own", "ef own "]);
        check(&[(2, 4, "x")], "abxef", &["ab own ", "x new other,own", "ef own "]);
        check(&[(1, 3, "x")], "axDef", &["a own ", "x new own,other", "D other own", "ef own "]);
        check(&[(0, 6, "x")], "x", &["x new own,other"]);
        check(&[(0, 1, ""), (5, 6, "")], "bCDe", &["b own ", "CD other own", "e own "]);
        check(&[(3, 3, "x")], "abCxDef", &["ab own ", "C other own", "x new ", "D other own", "ef own "]);
    }

    #[test]
    fn rewrites_text_parts_separately() {
        let mut message = Message::new(Role::User, "", source("own"));
        let picture = ContentPart::Other(std::sync::Arc::new(serde_json::json!({ "type": "image_url" })));
        message.content = Content::Parts(vec![
            ContentPart::Text("a$".into()),
            picture.clone(),
            ContentPart::Text("b".into()),
            ContentPart::Text("$c".into()),
        ]);
        let edits = |text: &str| {
            let places = text.match_indices('$');
            let edit =
                |(at, _)| Edit { span: Span::new(at, at + 1), text: "xy".into(), source: source("new") };
            places.map(edit).collect()
        };
        assert!(rewrite(&mut message, edits));
        assert_eq!(message.text(), "axybxyc");
        let Content::Parts(parts) = &message.content else { unreachable!() };
        assert_eq!((parts.len(), &parts[1]), (4, &picture));
        let ends: Vec<_> = message.segments().iter().map(|segment| segment.span.end).collect();
        assert_eq!(ends, [1, 3, 4, 6, 7]);
    }

    proptest! {
        #[test]
        fn keeps_segments_a_partition(text in "[a-f]{0,20}", letters in "[a-f]{0,3}", new in "[x-z]{0,2}") {
            let mut message = Message::new(Role::System, text.as_str(), source("own"));
            let edits = |text: &str| {
                let places = text.match_indices(|c| letters.contains(c));
                let edit = |(at, _)| Edit { span: Span::new(at, at + 1), text: new.clone(), source: source("new") };
                places.map(edit).collect()
            };
            rewrite(&mut message, edits);
            let expected: String =
                text.chars().map(|c| if letters.contains(c) { new.clone() } else { c.to_string() }).collect();
            prop_assert_eq!(message.text(), expected.as_str());
            prop_assert!(message.written.is_empty() || is_partition(&message.written, expected.len()));
        }
    }
}
