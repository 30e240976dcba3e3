//! Decodes copies of bodies.

use std::io::{self, Read};

use flate2::read::{MultiGzDecoder, ZlibDecoder};

/// Maximum size of a decoded body, in bytes.
pub(crate) const MAX_DECODED: u64 = 64 << 20;

/// Size of the buffer of a decoder, in bytes.
const BUFFER: usize = 16 << 10;

/// Decodes the encodings of a `content-encoding`, the last first. A truncated body gives its decoded start.
///
/// # Errors
///
/// Returns the reason for the log.
pub(crate) fn decode(bytes: Vec<u8>, encodings: &str) -> Result<Vec<u8>, String> {
    let names = encodings.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.rev().try_fold(bytes, decode_one)
}

fn decode_one(bytes: Vec<u8>, name: &str) -> Result<Vec<u8>, String> {
    let input = bytes.as_slice();
    match name.to_ascii_lowercase().as_str() {
        "identity" => return Ok(bytes),
        "gzip" | "x-gzip" => read(MultiGzDecoder::new(input)),
        "deflate" => read(ZlibDecoder::new(input)),
        "br" => read(brotli_decompressor::Decompressor::new(input, BUFFER)),
        "zstd" => match ruzstd::decoding::StreamingDecoder::new(input) {
            Ok(decoder) => read(decoder),
            Err(error) => Err(error.to_string()),
        },
        _ => return Err(format!("cannot decode `{name}`")),
    }
    .map_err(|error| format!("cannot decode `{name}`: {error}"))
}

fn read(decoder: impl Read) -> Result<Vec<u8>, String> {
    let mut decoded = Vec::new();
    match decoder.take(MAX_DECODED + 1).read_to_end(&mut decoded) {
        Ok(_) if decoded.len() as u64 > MAX_DECODED => Err("the body is too large".to_owned()),
        // The body ended early.
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof || decoded.is_empty() => {
            Err(error.to_string())
        }
        _ => Ok(decoded),
    }
}
