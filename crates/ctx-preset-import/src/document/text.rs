//! Bytes to text: UTF-8, or UTF-16 with a byte order mark.

use std::borrow::Cow;

use crate::document::Syntax;
use crate::error::{BinaryFormat, ImportError};
use crate::limits::Limits;

/// Reads bytes as text without its byte order mark: UTF-8, or UTF-16 with a mark. NUL is no text.
///
/// So every document is decoded before it is parsed.
///
/// ```
/// use ctx_preset_import::{ImportError, Limits, decode};
///
/// assert_eq!(decode(b"\xEF\xBB\xBFHi", &Limits::default())?, "Hi");
/// assert_eq!(decode(b"\xFF\xFEH\0i\0", &Limits::default())?, "Hi");
/// let no_text = decode(b"H\0i", &Limits::default());
/// assert_eq!(no_text, Err(ImportError::NotText { offset: 1 }));
/// # Ok::<(), ImportError>(())
/// ```
pub fn decode<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Cow<'a, str>, ImportError> {
    let limit = limits.json_bytes.max(limits.yaml_bytes);
    if bytes.len() > limit {
        return Err(ImportError::TooLarge { bytes: bytes.len(), limit, syntax: Syntax::Json });
    }
    if let Some(format) = BinaryFormat::of(bytes) {
        return Err(ImportError::Binary(format));
    }
    let text = match bytes {
        [0xFF, 0xFE, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
        [0xFE, 0xFF, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
        [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(utf8(rest, 3)?),
        _ => Cow::Borrowed(utf8(bytes, 0)?),
    };
    Ok(text)
}

/// Reads UTF-8 that begins `before` bytes into the document.
fn utf8(bytes: &[u8], before: usize) -> Result<&str, ImportError> {
    let not_text = |offset: usize| ImportError::NotText { offset: before + offset };
    let text = std::str::from_utf8(bytes).map_err(|error| not_text(error.valid_up_to()))?;
    match memchr::memchr(0, bytes) {
        Some(offset) => Err(not_text(offset)),
        None => Ok(text),
    }
}

/// Reads UTF-16 that begins after a byte order mark of two bytes.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, ImportError> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let mut offset = 2;
    for decoded in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match decoded {
            Ok(character) if character != '\0' => {
                text.push(character);
                offset += 2 * character.len_utf16();
            }
            _ => return Err(ImportError::NotText { offset }),
        }
    }
    if odd.is_empty() { Ok(text) } else { Err(ImportError::NotText { offset }) }
}
