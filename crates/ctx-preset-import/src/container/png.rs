//! PNG and APNG: documents in chunks of text.
//!
//! Chunks are walked here, since pictures need not be decoded for their texts, and many cards have pictures that
//! no decoder takes.

use std::borrow::Cow;
use std::io::Read as _;

use ctx_types::{Diagnostic, Phrase, phrase};
use flate2::read::ZlibDecoder;

use super::{PackedDocument, PackedFile, Unpacked, base64_text};
use crate::codes;
use crate::document::{Document, Syntax};
use crate::error::ImportError;
use crate::limits::Limits;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The chunks that hold documents, by their keywords in any letters, the one that counts first.
const KEYWORDS: [&str; 4] = ["ccv3", "chara", "naidata", "aiob"];

/// What stands before the path of a file that RisuAI puts beside a card.
const ASSET: &str = "chara-ext-asset_";

/// Returns whether a file is a PNG.
pub(crate) fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// A chunk: its kind, its content, and where it begins.
struct Chunk<'a> {
    kind: &'a [u8],
    /// Less than there should be, if the file is cut off here.
    data: &'a [u8],
    start: usize,
    is_whole: bool,
}

/// Walks the chunks up to the end, or to where the file is cut off.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = Chunk<'_>> {
    let mut at = SIGNATURE.len();
    std::iter::from_fn(move || {
        let length = bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)?;
        let length = usize::try_from(length).ok()?;
        let kind = bytes.get(at + 4..at + 8)?;
        let rest = bytes.get(at + 8..)?;
        let data = rest.get(..length);
        let chunk = Chunk { kind, data: data.unwrap_or(rest), start: at, is_whole: data.is_some() };
        at = (at + 12).checked_add(length)?;
        Some(chunk)
    })
}

/// A text of a picture.
struct TextChunk<'a> {
    keyword: String,
    data: &'a [u8],
    is_deflated: bool,
}

/// Reads a chunk of text of any of the three kinds.
fn text_chunk<'a>(chunk: &Chunk<'a>) -> Option<TextChunk<'a>> {
    let (keyword, rest) = split_at_zero(chunk.data)?;
    let (data, is_deflated) = match chunk.kind {
        b"tEXt" => (rest, false),
        b"zTXt" => (rest.get(1..)?, true),
        b"iTXt" => {
            let (_, translated) = split_at_zero(rest.get(2..)?)?;
            (split_at_zero(translated)?.1, *rest.first()? == 1)
        }
        _ => return None,
    };
    Some(TextChunk { keyword: String::from_utf8_lossy(keyword).into_owned(), data, is_deflated })
}

fn split_at_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == 0)?;
    Some((bytes.get(..at)?, bytes.get(at + 1..)?))
}

impl TextChunk<'_> {
    /// Unpacks the text; `unpacked_bytes` grows by what was unpacked, also where that fails.
    fn unpack(&self, limit: usize, unpacked_bytes: &mut usize) -> Result<Cow<'_, [u8]>, ImportError> {
        let broken = |message| ImportError::Container { message };
        let too_large = || broken(phrase!("a text chunk of the image exceeds {limit} bytes", limit));
        if !self.is_deflated {
            if self.data.len() > limit {
                return Err(too_large());
            }
            *unpacked_bytes += self.data.len();
            return Ok(Cow::Borrowed(self.data));
        }
        let mut text = Vec::new();
        let read = ZlibDecoder::new(self.data).take(limit as u64 + 1).read_to_end(&mut text);
        *unpacked_bytes += text.len();
        if text.len() > limit {
            return Err(too_large());
        }
        read.map_err(|error| {
            let message = Phrase::original(error.to_string());
            broken(phrase!("cannot unpack a text chunk of the image: {message}", message))
        })?;
        Ok(Cow::Owned(text))
    }
}

/// Returns whether a file is a picture that holds a document, whole or not. O(chunks).
pub(crate) fn holds_document(bytes: &[u8]) -> bool {
    is_png(bytes) && chunks(bytes).filter_map(|chunk| text_chunk(&chunk)).any(|text| is_known(&text.keyword))
}

fn is_known(keyword: &str) -> bool {
    KEYWORDS.iter().any(|known| known.eq_ignore_ascii_case(keyword))
}

/// Returns the document that counts, and the files beside it but for the picture; `unpacked_bytes` grows by the texts
/// that were unpacked, also where that fails. O(bytes).
pub(crate) fn unpack(
    bytes: &[u8],
    limits: &Limits,
    unpacked_bytes: &mut usize,
) -> Result<Unpacked, ImportError> {
    let Texts { found, files, cut } = texts(bytes, limits, unpacked_bytes)?;
    let with_keyword = |keyword: &&str| found.iter().find(|text| text.keyword.eq_ignore_ascii_case(keyword));
    let ordered: Vec<&TextChunk<'_>> = KEYWORDS.iter().filter_map(with_keyword).collect();
    if ordered.is_empty() {
        return Err(ImportError::Container { message: nothing(cut.is_some()) });
    }
    let chosen = choose(&ordered, limits, unpacked_bytes)?;
    let keyword = chosen.text.keyword.to_ascii_lowercase();
    let mut diagnostics: Vec<Diagnostic> = cut.iter().map(|cut| cut_off(cut, &chosen.text.keyword)).collect();
    diagnostics.extend(chosen.passed.iter().map(|text| passed_over(&text.keyword, &keyword)));
    diagnostics.extend(chosen.left.iter().map(|text| left_out(&text.keyword, &keyword)));
    let container = format!("png:{keyword}");
    let documents =
        vec![PackedDocument { container, name: String::new(), bytes: chosen.bytes, read: chosen.read }];
    Ok(Unpacked { documents, files, is_picture: true, diagnostics })
}

/// Reports that a picture holds no document.
fn nothing(is_cut: bool) -> Phrase {
    if is_cut {
        phrase!("the image is truncated and has no character, lorebook, or agent")
    } else {
        phrase!("the image has no character, lorebook, or agent")
    }
}

/// The texts of a picture.
struct Texts<'a> {
    /// The first of each keyword of a document.
    found: Vec<TextChunk<'a>>,
    /// The files that stand in texts.
    files: Vec<PackedFile>,
    /// The keyword of the text in which the file is cut off, or nothing if that is no text; none for a whole file.
    cut: Option<String>,
}

fn texts<'a>(bytes: &'a [u8], limits: &Limits, unpacked_bytes: &mut usize) -> Result<Texts<'a>, ImportError> {
    let mut texts = Texts { found: Vec::new(), files: Vec::new(), cut: Some(String::new()) };
    let mut total = 0;
    for chunk in chunks(bytes) {
        if chunk.kind == b"IEND" {
            texts.cut = None;
        }
        let text = text_chunk(&chunk);
        if !chunk.is_whole {
            texts.cut = Some(text.map(|text| text.keyword).unwrap_or_default());
            break;
        }
        let Some(text) = text else { continue };
        if let Some(path) = text.keyword.strip_prefix(ASSET) {
            let packed = text.unpack(limits.packed_bytes, unpacked_bytes)?;
            total += packed.len();
            if texts.files.len() >= limits.packed_files || total > limits.packed_total_bytes {
                return Err(ImportError::Container { message: phrase!("the image contains too many files") });
            }
            let path = path.trim_start_matches(':').to_owned();
            texts.files.extend(base64_text::decode(&packed).map(|bytes| PackedFile { path, bytes }));
        } else if is_known(&text.keyword) {
            // The first of a keyword counts, and there may be millions.
            if !texts.found.iter().any(|first| first.keyword.eq_ignore_ascii_case(&text.keyword)) {
                texts.found.push(text);
            }
        }
    }
    Ok(texts)
}

/// The text of a picture that is read.
struct Chosen<'t, 'a> {
    text: &'t TextChunk<'a>,
    bytes: Vec<u8>,
    read: Option<Document>,
    /// Those that would count before it and hold no document.
    passed: Vec<&'t TextChunk<'a>>,
    /// Those beside it that are no other form of it.
    left: Vec<&'t TextChunk<'a>>,
}

/// Chooses the text that counts: the first that holds a document, or else the first.
fn choose<'t, 'a>(
    ordered: &[&'t TextChunk<'a>],
    limits: &Limits,
    unpacked_bytes: &mut usize,
) -> Result<Chosen<'t, 'a>, ImportError> {
    let mut first = None;
    for (at, text) in ordered.iter().enumerate() {
        let unpacked = document(text, limits, unpacked_bytes);
        let (is_document, read) = match &unpacked {
            Ok(bytes) if ordered.len() > 1 => read_document(bytes, limits),
            unpacked => (ordered.len() == 1 || unpacked.is_ok(), None),
        };
        if !is_document {
            first.get_or_insert(unpacked);
            continue;
        }
        let (passed, behind) = (ordered[..at].to_vec(), &ordered[at + 1..]);
        let bytes = unpacked?;
        let is_left = |other: &&&TextChunk<'_>| !is_card(&other.keyword);
        let left = behind.iter().filter(is_left).copied().collect();
        return Ok(match plainer(text, &bytes, behind, |text| document(text, limits, unpacked_bytes).ok()) {
            Some((text, bytes)) => Chosen { text, bytes, read: None, passed, left },
            None => Chosen { text, bytes, read, passed, left },
        });
    }
    let none = || ImportError::Container { message: nothing(false) };
    let text = ordered.first().ok_or_else(none)?;
    let bytes = first.ok_or_else(none)??;
    Ok(Chosen { text, bytes, read: None, passed: Vec::new(), left: Vec::new() })
}

/// Returns whether a keyword is that of a card: both forms of one card stand in most pictures.
fn is_card(keyword: &str) -> bool {
    KEYWORDS[..2].iter().any(|known| known.eq_ignore_ascii_case(keyword))
}

/// Returns the card in its own version where that of version 3 has another label and nothing else.
fn plainer<'t, 'a>(
    text: &TextChunk<'_>,
    bytes: &[u8],
    behind: &[&'t TextChunk<'a>],
    read: impl FnOnce(&TextChunk<'_>) -> Option<Vec<u8>>,
) -> Option<(&'t TextChunk<'a>, Vec<u8>)> {
    let plain = *behind.iter().find(|other| is_card(&text.keyword) && is_card(&other.keyword))?;
    let other = read(plain)?;
    is_relabelled(bytes, &other).then_some((plain, other))
}

/// Returns whether bytes are a document with fields, or one that is packed, and returns it if it had to be read. What
/// begins as JSON has to be that: YAML would make something of what is broken. O(bytes).
fn read_document(bytes: &[u8], limits: &Limits) -> (bool, Option<Document>) {
    let is_json = bytes.trim_ascii_start().starts_with(b"{");
    match Document::read_with_limits(bytes, "", limits) {
        Ok(document) if is_json && document.syntax != Syntax::Json => (false, None),
        Ok(document) if document.value.is_object() => (true, Some(document)),
        // It may well be one: why it is not read is said then.
        Err(
            ImportError::TooLarge { .. } | ImportError::TooDeep { .. } | ImportError::TooManyNodes { .. },
        ) => (is_json, None),
        _ => (super::is_packed(bytes), None),
    }
}

/// Reports that a text of a picture is no document, so that another one is read.
fn passed_over(keyword: &str, read: &str) -> Diagnostic {
    let message = phrase!(
        "text chunk `{other}` of the image is not a document; `{read}` is read instead",
        other = keyword.to_ascii_lowercase(),
        read
    );
    let help = phrase!("check that this is the right card; save it again to repair the image");
    Diagnostic::warning(codes::ANOTHER_TEXT, message).with_help(help)
}

/// Reports that a document beside the one that is read is not.
fn left_out(keyword: &str, read: &str) -> Diagnostic {
    let message = phrase!(
        "text chunk `{read}` of the image is read; `{other}` is not",
        read,
        other = keyword.to_ascii_lowercase()
    );
    Diagnostic::info(codes::ANOTHER_TEXT, message)
        .with_help(phrase!("to read the other one, export it separately"))
}

/// Reads the document of a text.
fn document(
    text: &TextChunk<'_>,
    limits: &Limits,
    unpacked_bytes: &mut usize,
) -> Result<Vec<u8>, ImportError> {
    let unpacked = text.unpack(limits.packed_bytes, unpacked_bytes)?;
    // A few tools write the JSON as it is.
    let decoded = match unpacked.trim_ascii_start().first() {
        Some(b'{') => Some(unpacked.into_owned()),
        _ => base64_text::decode(&unpacked),
    };
    let message = || phrase!("text chunk `{keyword}` of the image is not base64", keyword = &text.keyword);
    decoded.ok_or_else(|| ImportError::Container { message: message() })
}

/// Returns whether a card of version 3 is one of version 2 with another label: so applications write each card that they
/// save, and it stays what it was.
fn is_relabelled(labelled: &[u8], plain: &[u8]) -> bool {
    const LABELS: [&[u8]; 3] = [b"\"chara_card_v", b"\"spec_version\":\"", b"\"spec_version\": \""];
    let mut differ = (0..).zip(labelled.iter().zip(plain)).filter(|(_, (one, other))| one != other);
    let is_label = |(at, (one, other)): (usize, (&u8, &u8))| {
        let before = labelled.get(..at).unwrap_or_default();
        (*one, *other) == (b'3', b'2') && LABELS.iter().any(|label| before.ends_with(label))
    };
    let is_other = labelled != plain && labelled.len() == plain.len();
    is_other && differ.by_ref().take(2).all(is_label) && differ.next().is_none()
}

/// Reports that a picture is cut off, in a text or elsewhere, and what is read of it.
fn cut_off(keyword: &str, read: &str) -> Diagnostic {
    let is_document = is_known(keyword);
    let help = phrase!("download the file again; everything after the cut is lost");
    if is_document {
        let message = phrase!(
            "the image is truncated inside text chunk `{keyword}`; `{read}` is read instead",
            keyword,
            read
        );
        Diagnostic::error(codes::CUT_PICTURE, message).with_help(help)
    } else {
        Diagnostic::warning(codes::CUT_PICTURE, phrase!("the image is truncated")).with_help(help)
    }
}

/// The smallest picture: one grey point.
pub(crate) const BLANK: &[u8] = &[
    0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0xa8,
    0x07, 0, 0, 0x81, 0, 0x80, 0xaf, 0x34, 0x52, 0xfb, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60,
    0x82,
];

/// Puts texts into a picture just before its end, instead of those of the same keywords; without a text only that goes.
/// None for what is no whole picture.
pub(crate) fn with_texts(picture: &[u8], texts: &[(&str, Option<&[u8]>)]) -> Option<Vec<u8>> {
    if !is_png(picture) {
        return None;
    }
    let added: usize =
        texts.iter().map(|(keyword, text)| keyword.len() + text.map_or(0, <[u8]>::len) * 4 / 3 + 32).sum();
    let mut written = Vec::with_capacity(picture.len() + added);
    written.extend_from_slice(SIGNATURE);
    for chunk in chunks(picture).take_while(|chunk| chunk.is_whole) {
        let end = chunk.start + 12 + chunk.data.len();
        if chunk.kind == b"IEND" {
            for (keyword, text) in texts.iter().filter_map(|(keyword, text)| Some((keyword, (*text)?))) {
                write_text(keyword, text, &mut written);
            }
            written.extend_from_slice(picture.get(chunk.start..end)?);
            return Some(written);
        }
        let replaced = text_chunk(&chunk)
            .is_some_and(|old| texts.iter().any(|(keyword, _)| old.keyword.eq_ignore_ascii_case(keyword)));
        if !replaced {
            written.extend_from_slice(picture.get(chunk.start..end)?);
        }
    }
    None
}

/// Writes a chunk `tEXt` with base64 of a text.
fn write_text(keyword: &str, text: &[u8], written: &mut Vec<u8>) {
    let mut data = b"tEXt".to_vec();
    data.extend_from_slice(keyword.as_bytes());
    data.push(0);
    data.extend_from_slice(base64_text::encode(text).as_bytes());
    let length = u32::try_from(data.len() - 4).unwrap_or(u32::MAX);
    written.extend_from_slice(&length.to_be_bytes());
    let mut crc = flate2::Crc::new();
    crc.update(&data);
    written.extend_from_slice(&data);
    written.extend_from_slice(&crc.sum().to_be_bytes());
}
