//! Encodings of composite fonts.
//!
//! Source: predefined `CMaps` in ISO 32000-1, table 118. National standards are decoded as the web encodings
//! that contain them.

use std::borrow::Cow;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, SHIFT_JIS, UTF_8, UTF_16BE};

use super::cmap::number;
use super::collections::Collection;

/// Meaning of a string's bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Codes {
    /// Two-byte codes without a known meaning.
    Pairs,
    /// Text in an encoding.
    Letters(&'static Encoding),
    /// Two-byte ids in a collection.
    Numbers(&'static Collection),
}

impl Codes {
    /// Unknown names give `Pairs`.
    pub(super) fn named(name: &[u8]) -> Self {
        let name = std::str::from_utf8(name).unwrap_or_default();
        let has = |part: &str| name.contains(part);
        let encoding = match name {
            _ if has("UTF16") || has("UCS2") => UTF_16BE,
            _ if has("UTF8") => UTF_8,
            _ if name.starts_with("GB") => GB18030,
            _ if name.starts_with("KSC") => EUC_KR,
            _ if has("RKSJ") => SHIFT_JIS,
            _ if has("B5") || name.starts_with("HKscs") => BIG5,
            "EUC-H" | "EUC-V" => EUC_JP,
            _ => return Self::Pairs,
        };
        Self::Letters(encoding)
    }

    pub(super) fn len(self, bytes: &[u8]) -> usize {
        let first = bytes.first().copied().unwrap_or_default();
        let len = match self {
            Self::Pairs | Self::Numbers(_) => 2,
            Self::Letters(encoding) if encoding == UTF_16BE => {
                if (0xd8..0xdc).contains(&first) {
                    4
                } else {
                    2
                }
            }
            Self::Letters(encoding) if encoding == UTF_8 => match first {
                0..=0xbf => 1,
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0.. => 4,
            },
            // Half-width kana.
            Self::Letters(encoding) if encoding == SHIFT_JIS && (0xa0..0xe0).contains(&first) => 1,
            Self::Letters(_) if first < 0x81 => 1,
            Self::Letters(_) => 2,
        };
        len.min(bytes.len())
    }

    pub(super) fn letters(self, code: &[u8]) -> Option<String> {
        let encoding = match self {
            Self::Pairs => return None,
            Self::Numbers(collection) => return collection.letters(number(code)),
            Self::Letters(encoding) => encoding,
        };
        encoding.decode_without_bom_handling_and_without_replacement(code).map(Cow::into_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, bytes: &[u8], expected: &[Option<&str>]) {
        let codes = Codes::named(name.as_bytes());
        let (mut rest, mut found) = (bytes, Vec::new());
        while !rest.is_empty() {
            let (code, after) = rest.split_at(codes.len(rest));
            found.push(codes.letters(code));
            rest = after;
        }
        let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn decodes_chinese_japanese_and_korean_encodings() {
        check("GBK-EUC-H", b"a\xd6\xd0\xce\xc4", &[Some("a"), Some("中"), Some("文")]);
        check("UniGB-UCS2-H", b"\x4e\x2d\x00a", &[Some("中"), Some("a")]);
        check("UniGB-UTF16-V", b"\xd8\x3d\xde\x00", &[Some("😀")]);
        check("ETen-B5-H", b"\xa4\xa4", &[Some("中")]);
        check("90ms-RKSJ-H", b"\xb1\x93\xfa", &[Some("ｱ"), Some("日")]);
        check("KSCms-UHC-H", b"\xb0\xa1", &[Some("가")]);
        check("Identity-H", b"\x00\x01\x02", &[None, None]);
        check("GBK-EUC-H", b"\xff\xff\xd6", &[None, None]);
    }
}
