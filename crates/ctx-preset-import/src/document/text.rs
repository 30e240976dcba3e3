//! Bytes to text: UTF-8, or UTF-16 with a byte order mark.

use std::borrow::Cow;

use ctx_types::phrase;

use crate::document::Syntax;
use crate::error::ImportError;
use crate::limits::Limits;

/// Reads bytes as text without its byte order mark: UTF-8, or UTF-16 with a mark. NUL is no text.
///
/// So every document is decoded before it is parsed.
///
/// ```
/// use ctx_preset_import::{ImportError, decode};
///
/// assert_eq!(decode(b"\xEF\xBB\xBFHi")?, "Hi");
/// assert_eq!(decode(b"\xFF\xFEH\0i\0")?, "Hi");
/// let no_text = decode(b"H\0i");
/// assert_eq!(no_text, Err(ImportError::NotText { offset: 1 }));
/// # Ok::<(), ImportError>(())
/// ```
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, ImportError> {
    decode_with_limits(bytes, &Limits::default())
}

pub(crate) fn decode_with_limits<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Cow<'a, str>, ImportError> {
    let limit = limits.json_bytes.max(limits.yaml_bytes);
    if bytes.len() > limit {
        return Err(ImportError::TooLarge { bytes: bytes.len(), limit, syntax: Syntax::Json });
    }
    if let Some(error) = binary_format(bytes) {
        return Err(error);
    }
    let text = match bytes {
        [0xFF, 0xFE, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
        [0xFE, 0xFF, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
        [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(utf8(rest, 3)?),
        _ => Cow::Borrowed(utf8(bytes, 0)?),
    };
    Ok(text)
}

/// Recognizes a binary format by the first bytes of a file.
fn binary_format(bytes: &[u8]) -> Option<ImportError> {
    let of_image = phrase!("these images contain no character card; use the PNG file of the card");
    let (format, help) = match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', ..] => {
            ("a PNG image", phrase!("import the PNG file of a character card with `ctx import`"))
        }
        [0xFF, 0xD8, 0xFF, ..] => ("a JPEG image", of_image),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => ("a GIF image", of_image),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => ("a WebP image", of_image),
        [b'P', b'K', 3, 4, ..] => ("an archive", phrase!("import archives with `ctx import`")),
        [b'%', b'P', b'D', b'F', b'-', ..] => ("a PDF", phrase!("copy its text into a text file")),
        _ => return None,
    };
    Some(ImportError::Binary { format, help })
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
