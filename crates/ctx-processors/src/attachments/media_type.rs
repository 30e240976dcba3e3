//! Detects media types by content, then by name, then by declared type.

use std::borrow::Cow;

use ctx_wire::canonical_media_type;

const UNKNOWN: &str = "application/octet-stream";

const LOOKED_AT: usize = 8 << 10;

/// Types whose files always start with a signature. A file without it has another type.
const MARKED: [&str; 6] =
    ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "audio/wav"];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MediaType {
    pub(crate) name: String,
    /// The declared type, or the type of the file name, if it differs.
    pub(crate) contradicts: Option<String>,
}

pub(crate) fn media_type(bytes: &[u8], name: &str, declared: Option<&str>) -> MediaType {
    let by_name = mime_guess::from_path(name).first_raw().map(canonical_media_type);
    let declared = declared.map(canonical_media_type).filter(|declared| declared != UNKNOWN);
    let expected = declared.or_else(|| by_name.clone());
    let found = match by_content(bytes) {
        // A zip file with an unusual order of entries.
        Some("application/zip") => {
            expected.clone().filter(|named| is_zipped(named)).unwrap_or(Cow::Borrowed("application/zip"))
        }
        Some(found) => canonical_media_type(found),
        None => by_name_unless_marked(bytes, by_name.or_else(|| expected.clone())),
    };
    let contradicts = expected.filter(|expected| contradicts(expected, &found)).map(Cow::into_owned);
    MediaType { name: found.into_owned(), contradicts }
}

fn contradicts(expected: &str, found: &str) -> bool {
    let is_text = |name: &str| ctx_wire::is_plain_text(name) || name == "application/xhtml+xml";
    expected != found && !(is_text(expected) && is_text(found)) && !is_same_container(expected, found)
}

/// Audio and video share containers, so a signature can match either.
fn is_same_container(one: &str, other: &str) -> bool {
    const CONTAINERS: [&[&str]; 3] = [
        &["audio/mp4", "audio/m4a", "audio/x-m4a", "video/mp4", "video/quicktime"],
        &["audio/webm", "video/webm", "video/x-matroska"],
        &["audio/ogg", "video/ogg", "application/ogg"],
    ];
    CONTAINERS.iter().any(|container| container.contains(&one) && container.contains(&other))
}

fn by_content(bytes: &[u8]) -> Option<&'static str> {
    // A PDF may start with other bytes.
    let beginning = bytes.get(..1_024.min(bytes.len())).unwrap_or_default();
    if memchr::memmem::find(beginning, b"%PDF-").is_some() {
        return Some("application/pdf");
    }
    infer::get(bytes).map(|kind| kind.mime_type())
}

fn by_name_unless_marked<'a>(bytes: &[u8], named: Option<Cow<'a, str>>) -> Cow<'a, str> {
    match named.filter(|named| !MARKED.contains(&&**named)) {
        Some(named) => named,
        None if is_text(bytes) => Cow::Borrowed("text/plain"),
        None => Cow::Borrowed(UNKNOWN),
    }
}

fn is_zipped(name: &str) -> bool {
    name.starts_with("application/vnd.openxmlformats")
        || name.starts_with("application/vnd.oasis")
        || name == "application/epub+zip"
}

/// Text has no control characters except white space and ESC, or starts with a UTF-16 byte order mark.
fn is_text(bytes: &[u8]) -> bool {
    let beginning = bytes.get(..LOOKED_AT.min(bytes.len())).unwrap_or_default();
    let is_control = |byte: &&u8| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    beginning.starts_with(&[0xff, 0xfe])
        || beginning.starts_with(&[0xfe, 0xff])
        || beginning.iter().find(is_control).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    #[track_caller]
    fn check(bytes: &[u8], name: &str, declared: Option<&str>, expected: &str, contradicts: Option<&str>) {
        let found = media_type(bytes, name, declared);
        assert_eq!((&*found.name, found.contradicts.as_deref()), (expected, contradicts), "{name}");
    }

    #[test]
    fn prefers_bytes_over_names_and_declared_types() {
        check(PNG, "a.png", None, "image/png", None);
        check(PNG, "a.jpg", None, "image/png", Some("image/jpeg"));
        check(PNG, "a", Some("image/webp"), "image/png", Some("image/webp"));
        check(b"junk\n%PDF-1.4\n", "a.docx", None, "application/pdf", Some(DOCX));
        check(b"RIFF\x24\0\0\0WAVEfmt ", "a.wav", Some("audio/x-wav"), "audio/wav", None);
    }

    const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

    #[test]
    fn uses_names_if_bytes_are_ambiguous() {
        check(b"a,b\n1,2\n", "a.csv", None, "text/csv", None);
        check(b"a,b\n1,2\n", "a.csv", Some("text/plain"), "text/csv", None);
        check(b"PK\x03\x04", "a.docx", None, DOCX, None);
        check(b"words", "", None, "text/plain", None);
        check(b"\0\x01\x02", "", None, UNKNOWN, None);
        check(b"", "", None, "text/plain", None);
        check(b"x", "", Some("text/markdown"), "text/markdown", None);
    }

    #[test]
    fn rejects_declared_type_without_its_signature() {
        check(b"words", "a.png", None, "text/plain", Some("image/png"));
        check(b"<html><script>", "a.png", None, "text/html", Some("image/png"));
        check(b"\0\x01", "a.pdf", Some("application/pdf"), UNKNOWN, Some("application/pdf"));
    }
}
