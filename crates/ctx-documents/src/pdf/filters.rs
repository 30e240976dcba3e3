use std::io::Read as _;

use flate2::read::{DeflateDecoder, ZlibDecoder};

use super::lexer::{hex_bytes, is_blank};

/// Unpacks one filter; `None` for image filters. Keeps output before an error.
pub(super) fn unpack(bytes: &[u8], filter: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    match filter {
        b"FlateDecode" | b"Fl" => Some(inflate(bytes, max_bytes)),
        b"ASCIIHexDecode" | b"AHx" => {
            let end = memchr::memchr(b'>', bytes).unwrap_or(bytes.len());
            Some(hex_bytes(bytes.get(..end).unwrap_or_default()))
        }
        b"ASCII85Decode" | b"A85" => Some(ascii85(bytes)),
        b"LZWDecode" | b"LZW" => Some(lzw(bytes, max_bytes)),
        _ => None,
    }
}

fn inflate(bytes: &[u8], max_bytes: usize) -> Vec<u8> {
    let mut unpacked = Vec::new();
    let limit = max_bytes as u64;
    // Keep output before an error: files are often truncated.
    let read = ZlibDecoder::new(bytes).take(limit).read_to_end(&mut unpacked);
    if read.is_err() && unpacked.is_empty() {
        let raw = bytes.get(2..).unwrap_or_default();
        DeflateDecoder::new(raw).take(limit).read_to_end(&mut unpacked).unwrap_or_default();
    }
    unpacked
}

fn ascii85(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut group, mut len) = (0_u32, 0);
    for byte in bytes.iter().copied().filter(|byte| !is_blank(*byte)) {
        match byte {
            b'z' if len == 0 => out.extend([0; 4]),
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(byte - b'!'));
                len += 1;
                if len == 5 {
                    out.extend(group.to_be_bytes());
                    (group, len) = (0, 0);
                }
            }
            _ => break,
        }
    }
    if len > 1 {
        for _ in len..5 {
            group = group.wrapping_mul(85).wrapping_add(84);
        }
        out.extend(group.to_be_bytes().into_iter().take(len - 1));
    }
    out
}

/// Codes have 9 to 12 bits; 256 resets the table and 257 ends the stream.
fn lzw(bytes: &[u8], max_bytes: usize) -> Vec<u8> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    // Start and length in `out`.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let mut out: Vec<u8> = Vec::new();
    let mut last: Option<(usize, usize)> = None;
    let (mut bits, mut count, mut width) = (0_u32, 0_u32, 9_u32);
    for byte in bytes {
        bits = (bits << 8) | u32::from(*byte);
        count += 8;
        if count < width {
            continue;
        }
        count -= width;
        let code = ((bits >> count) & ((1 << width) - 1)) as usize;
        match code {
            CLEAR => {
                table.clear();
                (last, width) = (None, 9);
                continue;
            }
            END => break,
            _ => {}
        }
        let start = out.len();
        let known = code.checked_sub(258).map(|index| table.get(index).copied());
        match (known, last) {
            (None, _) => out.push(code.to_le_bytes()[0]),
            (Some(Some((at, len))), _) => out.extend_from_within(at..at + len),
            // The entry in progress: the last entry plus its first byte.
            (Some(None), Some((at, len))) => {
                out.extend_from_within(at..at + len);
                out.extend_from_within(at..=at);
            }
            (Some(None), None) => break,
        }
        if let Some((at, len)) = last {
            table.push((at, len + 1));
        }
        last = Some((start, out.len() - start));
        width = match table.len() + 259 {
            0..=511 => 9,
            512..=1_023 => 10,
            1_024..=2_047 => 11,
            _ => 12,
        };
        if out.len() >= max_bytes {
            out.truncate(max_bytes);
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_filtered_data() {
        assert_eq!(unpack(b"48 65>", b"AHx", 9).unwrap(), b"He");
        assert_eq!(unpack(b"87cURD]i,\"Ebo80~>", b"ASCII85Decode", 99).unwrap(), b"Hello World!");
        // Example from the PDF specification.
        let packed = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
        assert_eq!(unpack(&packed, b"LZWDecode", 99).unwrap(), [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
        assert_eq!(unpack(b"\xff\xd8", b"DCTDecode", 9), None);
    }
}
