//! Documents in base64, with padding or without.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Cards in the wild lack padding, or have bits where none should be.
const TOLERANT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, TOLERANT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, TOLERANT);

/// Decodes base64 of either alphabet; white space does not count. None for what is none.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let either = |text: &[u8]| fastest().decode(text).or_else(|_| URL_SAFE.decode(text)).ok();
    // Hardly any has white space, and to look for it takes as long as to decode.
    either(text).or_else(|| {
        let joined: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        if joined.len() < text.len() { either(&joined) } else { None }
    })
}

/// Returns what reads the alphabet of nearly all cards, by instructions that the processor has for it.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon")))]
fn fastest() -> impl Engine {
    base64::engine::Simd::standard(TOLERANT)
}

/// Returns what reads the alphabet of nearly all cards.
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
fn fastest() -> impl Engine {
    STANDARD
}

/// Encodes bytes, with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// How long a text must be to be taken for base64 of a document.
const SHORTEST: usize = 16;

/// How far the beginning of an address with data in it may reach.
const LONGEST_START: usize = 128;

/// Returns the base64 of an address that holds data, as browsers write it (`data:image/png;base64,…`).
pub(crate) fn behind_data_url(bytes: &[u8]) -> Option<&[u8]> {
    let address = bytes.trim_ascii().strip_prefix(b"data:")?;
    let start = address.get(..LONGEST_START).unwrap_or(address);
    let at = memchr::memmem::find(start, b";base64,")?;
    address.get(at + b";base64,".len()..)
}

/// Decodes a file that is base64 of a document, an archive or a picture; none for any other.
pub(crate) fn decode_file(bytes: &[u8]) -> Option<Vec<u8>> {
    let bytes = behind_data_url(bytes).unwrap_or(bytes);
    let is_letter = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
            || byte.is_ascii_whitespace()
    };
    if bytes.len() < SHORTEST || !bytes.iter().all(is_letter) {
        return None;
    }
    let decoded = decode(bytes)?;
    let is_known = decoded.trim_ascii_start().first().is_some_and(|byte| matches!(byte, b'{' | b'['))
        || super::png::is_png(&decoded)
        || super::archive::is_archive(&decoded)
        || super::bundle::is_bundle(&decoded);
    is_known.then_some(decoded)
}
