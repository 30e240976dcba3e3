//! Converts inline base64 images in message texts to attachments. As text, they would cost about 100 times as
//! many tokens.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ctx_types::ports::Asset;
use ctx_types::{Attachment, Message, Role, Source, SourceKind, Span, Text, Trust};
use serde_json::json;

use crate::rewrite::{Edit, rewrite};

/// Further images of a message stay text.
const MAX_LIFTED: usize = 20;

/// Maximum bytes between `![` and [`Text::INLINE_PICTURE`].
const MAX_DESCRIPTION: usize = 512;

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(super) fn has_inline(message: &Message) -> bool {
    let is_speech = !message.role.is_instruction() && message.role != Role::Tool;
    is_speech && message.content.texts().any(Text::has_inline_picture)
}

pub(super) fn lift(message: &mut Message) {
    let mut lifted = Vec::new();
    let find = |text: &str| -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        let mut pieces = text.split(Text::INLINE_PICTURE);
        let mut before = pieces.next().unwrap_or_default();
        let mut at = before.len();
        for after in pieces {
            if lifted.len() == MAX_LIFTED {
                break;
            }
            let found = picture(before, after, at, lifted.len() + 1);
            let is_free = |span: &Span| edits.last().is_none_or(|last| last.span.end <= span.start);
            if let Some((span, file)) = found.filter(|(span, _)| is_free(span)) {
                let source = Source::new(SourceKind::File, Trust::File).with_id(&*file.id);
                edits.push(Edit { span, text: format!("【file::{}】", file.id), source });
                lifted.push(file);
            }
            at += Text::INLINE_PICTURE.len() + after.len();
            before = after;
        }
        edits
    };
    rewrite(message, find);
    if !lifted.is_empty() {
        message.attachments.extend(lifted);
    }
}

/// Reads the image at the [`Text::INLINE_PICTURE`] at `at`.
///
/// `before` and `after` end at the neighboring matches. An image contains only one match: each byte is
/// searched only once.
fn picture(before: &str, after: &str, at: usize, number: usize) -> Option<(Span, Attachment)> {
    let start = before.rfind("![").filter(|start| before.len() - start <= MAX_DESCRIPTION)?;
    let description = before.get(start + 2..)?;
    let (uri, _) = after.split_once(')')?;
    let (mime_type, data) = uri.split_once(";base64,")?;
    let bytes = ENGINE.decode(data.trim()).ok().filter(|bytes| !bytes.is_empty())?;
    let id = format!("inline-{number}");
    let name = if description.trim().is_empty() { id.clone() } else { description.trim().to_owned() };
    let reference = json!({ "id": id, "name": name, "mimeType": mime_type });
    let file = Attachment { loaded: Some(Asset::new(bytes)), ..Attachment::from_value(&reference) };
    let start = at - (before.len() - start);
    Some((Span::new(start, at + Text::INLINE_PICTURE.len() + uri.len() + 1), file))
}

#[cfg(test)]
mod tests {
    use ctx_types::internal::is_partition;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str, files: &[&str]) {
        let mut message = Message::new(Role::User, text, Source::history("n", Role::User));
        assert_eq!(has_inline(&message), text.contains(Text::INLINE_PICTURE));
        lift(&mut message);
        assert_eq!(message.text(), expected);
        assert!(is_partition(&message.segments(), message.content.len()));
        let found: Vec<&str> = message.attachments.iter().map(|file| &*file.name).collect();
        assert_eq!(found, files);
    }

    #[test]
    fn extracts_inline_pictures_as_files() {
        check("a ![cat](data:image/png;base64,iVBORw0KGgo=) b", "a 【file::inline-1】 b", &["cat"]);
        check(
            "![](data:image/png;base64,iVBORw)![x](data:image/gif;base64,R0lG)",
            "【file::inline-1】【file::inline-2】",
            &["inline-1", "x"],
        );
    }

    #[test]
    fn keeps_texts_without_pictures() {
        for text in [
            "![cat](data:image/png;base64,?)",
            "![cat](data:image/png;base64,",
            "![cat](data:image/svg+xml,<svg>)",
            "[cat](data:,x)",
            "](data:image/png;base64,AAAA)",
            "![cat](https://example.com/x.png)",
        ] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn reads_pictures_among_open_markers() {
        check("](data:![a](data:image/png;base64,iVBORw)](data:", "](data:【file::inline-1】](data:", &["a"]);
        check("![a](data:![b](data:image/png;base64,iVBORw)", "![a](data:【file::inline-1】", &["b"]);
        let markers = Text::INLINE_PICTURE.repeat(150_000);
        check(&markers, &markers, &[]);
    }
}
