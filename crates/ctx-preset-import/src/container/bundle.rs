//! Agent bundles of AIO Hub: `{version, type: "AIO_Agent_Bundle", data: BASE64 of an archive}`, as JSON or YAML.
//!
//! Of the other fields nothing is built, however many there are.

use ctx_types::phrase;

use super::base64_text;
use crate::document::decode_with_limits;
use crate::error::ImportError;
use crate::limits::Limits;

const TYPE: &str = "AIO_Agent_Bundle";

/// The fields of a bundle that count.
#[derive(serde::Deserialize)]
struct Bundle {
    r#type: String,
    data: String,
}

/// Returns whether a document may be a bundle, which names its type. O(bytes).
pub(super) fn is_bundle(document: &[u8]) -> bool {
    let is_utf_16 = document.starts_with(b"\xFF\xFE") || document.starts_with(b"\xFE\xFF");
    if is_utf_16 {
        let wide: Vec<u8> = TYPE.bytes().flat_map(|letter| [letter, 0]).collect();
        memchr::memmem::find(document, wide.strip_suffix(b"\0").unwrap_or(&wide)).is_some()
    } else {
        memchr::memmem::find(document, TYPE.as_bytes()).is_some()
    }
}

/// Returns what a document holds if it is a bundle; what names the type of one and has more bytes than a packed file
/// may have is refused. O(bytes).
pub(super) fn unpack(document: &[u8], limits: &Limits) -> Result<Option<Vec<u8>>, ImportError> {
    if !is_bundle(document) {
        return Ok(None);
    }
    let limit = limits.packed_bytes;
    if document.len() > limit {
        let message = phrase!("the agent bundle exceeds {limit} bytes", limit);
        return Err(ImportError::Container { message });
    }
    // What is no text is told when it is read as a document.
    let text = decode_with_limits(document, &Limits { json_bytes: limit, ..*limits });
    Ok(text.ok().and_then(|text| data(text.trim_start())))
}

/// Returns what stands in base64 in the text of a bundle; none for any other.
fn data(text: &str) -> Option<Vec<u8>> {
    let data = if text.starts_with('{') {
        serde_json::from_str::<Bundle>(text).ok().filter(|bundle| bundle.r#type == TYPE)?.data
    } else {
        yaml(text)?
    };
    base64_text::decode(data.as_bytes())
}

/// Returns the data of a bundle in YAML: a scalar of any style, since base64 has no letter that one would escape.
fn yaml(text: &str) -> Option<String> {
    let mut lines = text.lines().peekable();
    let (mut kind, mut data) = (None, None);
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with([' ', '\t', '#'])) else {
            continue;
        };
        let field = match plain(key) {
            "type" => &mut kind,
            "data" => &mut data,
            _ => continue,
        };
        let mut scalar = begin(value).to_owned();
        // What is indented goes on with the scalar; so does what is blank, which says nothing.
        while let Some(more) = lines.next_if(|next| next.starts_with([' ', '\t']) || next.trim().is_empty()) {
            scalar.push_str(more.trim());
        }
        *field = Some(scalar);
    }
    (plain(&kind?) == TYPE).then_some(())?;
    Some(plain(&data?).to_owned())
}

/// Returns what stands behind a key, without a tag, the sign of a block and a comment.
fn begin(value: &str) -> &str {
    let value = value.trim().trim_start_matches("!!binary").trim_start_matches("!!str").trim_start();
    let value = value.split(" #").next().unwrap_or_default().trim_end();
    if value.starts_with(['|', '>']) { "" } else { value }
}

/// Returns a scalar without the quotes around it.
fn plain(scalar: &str) -> &str {
    scalar.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the data of a text in each encoding of texts.
    #[track_caller]
    fn check(document: &str, expected: Option<&str>) {
        let wide = |mark: &[u8], bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            mark.iter().copied().chain(document.encode_utf16().flat_map(bytes)).collect()
        };
        let written = [
            document.as_bytes().to_vec(),
            ["\u{feff}", document].concat().into_bytes(),
            wide(b"\xFF\xFE", u16::to_le_bytes),
            wide(b"\xFE\xFF", u16::to_be_bytes),
        ];
        for bytes in written {
            let found = unpack(&bytes, &Limits::default());
            assert_eq!(found, Ok(expected.map(|expected| expected.as_bytes().to_vec())), "{document}");
        }
    }

    #[test]
    fn finds_data_of_bundles() {
        for document in [
            r#"{"type":"AIO_Agent_Bundle","data":"UEsDBA=="}"#,
            " {\"data\":\"UEsDBA==\",\"x\":[{}],\"type\":\"AIO_Agent_Bundle\"}",
            "version: 1\ntype: AIO_Agent_Bundle\ncompressed: true\ndata: UEsDBA==\n",
            "---\r\n# a\r\n\"data\": 'UEsDBA=='\r\ntype: \"AIO_Agent_Bundle\" # b\r\n",
            "data: >-\n  UEsD\n\n  BA==\nx:\n  data: no\n  - type: no\ntype: AIO_Agent_Bundle",
            "data: !!binary |\n  UEsDBA==\ntype: AIO_Agent_Bundle",
            "data: UEsD\n  BA==\ntype:\n  AIO_Agent_Bundle",
        ] {
            check(document, Some("PK\u{3}\u{4}"));
            let packed = base64_text::encode(document.as_bytes());
            assert_eq!(base64_text::decode_file(packed.as_bytes()).as_deref(), Some(document.as_bytes()));
        }
        for document in [
            r#"{"type":"x","data":"UEsDBA==","name":"AIO_Agent_Bundle"}"#,
            r#"{"type":"AIO_Agent_Bundle"}"#,
            r#"{"type":"AIO_Agent_Bundle","data":5}"#,
            "type: AIO_Agent_Bundle\n",
            "x:\n  type: AIO_Agent_Bundle\n  data: UEsDBA==\n",
            "type: AIO_Agent_Bundle\ndata: '***'\n",
            "type: AIO_Agent_Export\ndata: UEsDBA== AIO_Agent_Bundle\n",
        ] {
            check(document, None);
        }
        let packed = base64_text::encode(b"version: 1\ntype: AIO_Agent_Export\n");
        assert_eq!(base64_text::decode_file(packed.as_bytes()), None);
    }

    #[test]
    fn refuses_bundles_beyond_limit() {
        let bundle = br#"{"type":"AIO_Agent_Bundle","data":"UEsDBA=="}"#;
        let limits = |packed_bytes| Limits { packed_bytes, ..Limits::default() };
        assert!(unpack(bundle, &limits(bundle.len())).is_ok_and(|found| found.is_some()));
        let message = phrase!("the agent bundle exceeds {limit} bytes", limit = 20);
        assert_eq!(unpack(bundle, &limits(20)), Err(ImportError::Container { message }));
        assert_eq!(unpack(b"type: AIO_Agent_Export", &limits(20)), Ok(None));
    }
}
