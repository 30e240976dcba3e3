use std::collections::HashMap;

use ctx_types::{Content, ContentPart, Message, Source, SourceKind, Span, Text, Trust};

use crate::rewrite::{Edit, rewrite};

#[derive(Debug)]
pub(crate) struct FileWords {
    pub(crate) id: String,
    /// `None` if the file is sent unchanged.
    pub(crate) text: Option<String>,
    /// Text for placeholders without file text.
    pub(crate) label: String,
}

const OPENING: &str = "【file::";
const CLOSING: char = '】';

pub(crate) fn has_placeholders(message: &Message) -> bool {
    message.content.texts().any(|text| text.contains(OPENING))
}

/// Replaces each `【file::id】` with the file's text, and appends the remaining texts in file order.
///
/// A text is written once: later placeholders become the label, and so do placeholders of a file without
/// text. Unknown ids stay unchanged.
pub(crate) fn write(message: &mut Message, files: &[FileWords]) {
    let mut is_written = vec![false; files.len()];
    // Reversed: the first of 2 files with the same id is used.
    let by_id: HashMap<&str, usize> =
        files.iter().enumerate().rev().map(|(index, file)| (&*file.id, index)).collect();
    rewrite(message, |text| {
        let edit = |(span, id): (Span, &str)| {
            let index = *by_id.get(id)?;
            let file = &files[index];
            let is_first = !std::mem::replace(&mut is_written[index], true);
            let words = file.text.as_ref().filter(|_| is_first).unwrap_or(&file.label);
            Some(Edit { span, text: words.clone(), source: source(file) })
        };
        placeholders(text).filter_map(edit).collect()
    });
    let rest = files.iter().zip(is_written).filter(|(file, is_written)| file.text.is_some() && !is_written);
    let rest: Vec<&FileWords> = rest.map(|(file, _)| file).collect();
    if !rest.is_empty() {
        append(message, &rest);
    }
}

/// Appends to the last text.
fn append(message: &mut Message, files: &[&FileWords]) {
    if let Content::Parts(parts) = &mut message.content
        && !parts.iter().any(|part| part.as_text().is_some())
    {
        parts.push(ContentPart::Text(Text::default()));
    }
    let mut texts_left = message.content.texts().count();
    rewrite(message, |text| {
        texts_left -= 1;
        if texts_left > 0 {
            return Vec::new();
        }
        let is_blank = text.trim().is_empty();
        let edit = |(index, file): (usize, &&FileWords)| {
            let words = file.text.as_deref().unwrap_or_default();
            let words = match index {
                0 if is_blank => words.trim_start_matches('\n').to_owned(),
                _ => format!("\n{words}"),
            };
            Edit { span: Span::new(text.len(), text.len()), text: words, source: source(file) }
        };
        files.iter().enumerate().map(edit).collect()
    });
}

fn source(file: &FileWords) -> Source {
    Source::new(SourceKind::File, Trust::File).with_id(file.id.as_str())
}

/// An id contains no white space and no [`OPENING`]. O(bytes).
fn placeholders(text: &str) -> impl Iterator<Item = (Span, &str)> {
    let mut pieces = text.split(OPENING);
    let mut start = pieces.next().map_or(0, str::len);
    pieces.filter_map(move |piece| {
        let opening = start;
        start += OPENING.len() + piece.len();
        let id = piece.get(..piece.find(CLOSING)?)?;
        let is_id = !id.is_empty() && !id.contains(char::is_whitespace);
        is_id.then(|| (Span::new(opening, opening + OPENING.len() + id.len() + CLOSING.len_utf8()), id))
    })
}

#[cfg(test)]
mod tests {
    use ctx_types::Role;
    use ctx_types::internal::is_partition;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut message = Message::new(Role::User, text, Source::history("n", Role::User));
        let file = |id: &str, text: Option<&str>| FileWords {
            id: id.to_owned(),
            text: text.map(str::to_owned),
            label: format!("[{id}]"),
        };
        write(&mut message, &[file("a", Some("\nA\n")), file("b", None), file("c", Some("\nC\n"))]);
        assert_eq!(message.text(), expected);
        assert!(is_partition(&message.segments(), expected.len()));
    }

    #[test]
    fn inserts_texts_at_placeholders() {
        check("x【file::a】y【file::c】z", "x\nA\ny\nC\nz");
        check("【file::c】", "\nC\n\n\nA\n");
    }

    #[test]
    fn appends_texts_without_placeholder() {
        check("x", "x\n\nA\n\n\nC\n");
        check(" ", " A\n\n\nC\n");
    }

    #[test]
    fn writes_label_for_files_without_text() {
        check("【file::a】【file::b】【file::c】", "\nA\n[b]\nC\n");
        check("【file::a】【file::a】【file::c】", "\nA\n[a]\nC\n");
    }

    #[test]
    fn reads_placeholders_among_openings() {
        check("【file::【file::a】【file::c】【file::", "【file::\nA\n\nC\n【file::");
        let openings = OPENING.repeat(100_000);
        check(&openings, &format!("{openings}\n\nA\n\n\nC\n"));
    }

    #[test]
    fn keeps_placeholders_of_unknown_files() {
        check(
            "【file::a】【file::c】【file::d】【file:: a】【file::】",
            "\nA\n\nC\n【file::d】【file:: a】【file::】",
        );
    }
}
