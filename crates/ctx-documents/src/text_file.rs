//! Text files in any encoding: by byte order mark, valid UTF-8, or detection.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use ctx_types::ports::ExtractedText;
use encoding_rs::Encoding;

use crate::DocumentLimits;
use crate::page::Page;

/// Maximum bytes for encoding detection.
const LOOKED_AT: usize = 256 << 10;

pub(crate) fn read(bytes: &[u8], limits: &DocumentLimits) -> ExtractedText {
    let mut page = Page::new(limits);
    // A byte of input gives at least half a byte of UTF-8. The rest cannot be part of the output.
    let bytes = bytes.get(..bytes.len().min(limits.text_bytes.saturating_mul(4))).unwrap_or_default();
    let (text, wrong) = decode(bytes, None);
    page.push(&text);
    if let Some(encoding) = wrong {
        page.note_omission(|| format!("replaced invalid {} characters", encoding.name()));
    }
    page.finish()
}

/// `said` is a declared encoding, which applies unless the bytes contradict it. Also returns the encoding if
/// some input was invalid.
pub(crate) fn decode(bytes: &[u8], said: Option<&[u8]>) -> (String, Option<&'static Encoding>) {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return decode_as(bytes.get(mark..).unwrap_or_default(), encoding);
    }
    // A limit may cut a character.
    let is_utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
    };
    match said.and_then(Encoding::for_label).filter(|_| !is_utf8) {
        Some(encoding) => decode_as(bytes, encoding),
        None if is_utf8 => (String::from_utf8_lossy(bytes).trim_end_matches('\u{fffd}').to_owned(), None),
        None => decode_as(bytes, guess(bytes)),
    }
}

fn decode_as(bytes: &[u8], encoding: &'static Encoding) -> (String, Option<&'static Encoding>) {
    let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
    (text.into_owned(), has_errors.then_some(encoding))
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let beginning = bytes.get(..bytes.len().min(LOOKED_AT)).unwrap_or_default();
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(beginning, beginning.len() == bytes.len());
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str, is_broken: bool) {
        let text = read(bytes, &DocumentLimits::default());
        assert_eq!((&*text.text, text.left_out.is_some()), (expected, is_broken));
    }

    #[test]
    fn detects_encoding_by_mark_and_bytes() {
        let chinese = "这是一份中文的测试文件，用来检查编码的识别。";
        check(chinese.as_bytes(), chinese, false);
        check(&[b"\xef\xbb\xbf", chinese.as_bytes()].concat(), chinese, false);
        check(&encoding_rs::GBK.encode(chinese).0, chinese, false);
        check(
            &encoding_rs::BIG5.encode("這是一份中文的測試文件，用來檢查編碼的識別。").0,
            "這是一份中文的測試文件，用來檢查編碼的識別。",
            false,
        );
        let japanese = "これは文字コードの判定を確かめるための文章です。";
        check(&encoding_rs::SHIFT_JIS.encode(japanese).0, japanese, false);
        let utf16: Vec<u8> = "\u{feff}Zeile 1\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&utf16, "Zeile 1\r\n", false);
        check(b"Caf\xe9 au lait, cr\xe8me br\xfbl\xe9e", "Café au lait, crème brûlée", false);
        check(b"", "", false);
    }

    #[test]
    fn truncates_long_text_at_limit() {
        let limits = DocumentLimits { text_bytes: 4, ..DocumentLimits::default() };
        let text = read("aaa中文".as_bytes(), &limits);
        assert_eq!(text.text, "aaa");
        assert!(text.left_out.is_some());
    }
}
