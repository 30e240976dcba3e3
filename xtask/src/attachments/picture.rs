//! A PNG picture without compression.

use super::archive::crc32;

/// Writes a picture of red and white squares of one pixel.
pub(super) fn png(width: u8, height: u8) -> Vec<u8> {
    let mut rows = Vec::new();
    for row in 0..height {
        rows.push(0);
        let pixels =
            (0..width).flat_map(|column| if (row + column) % 2 == 0 { [200, 0, 0] } else { [255; 3] });
        rows.extend(pixels);
    }
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let head = [0, 0, 0, width, 0, 0, 0, height, 8, 2, 0, 0, 0];
    bytes.extend(chunk(*b"IHDR", &head));
    bytes.extend(chunk(*b"IDAT", &stored(&rows)));
    bytes.extend(chunk(*b"IEND", &[]));
    bytes
}

fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    let named = [&name, data].concat();
    let mut bytes = u32::try_from(data.len()).unwrap_or_default().to_be_bytes().to_vec();
    bytes.extend(&named);
    bytes.extend(crc32(&named).to_be_bytes());
    bytes
}

/// One block of data that is stored as it is, in the frame of zlib.
fn stored(data: &[u8]) -> Vec<u8> {
    let len = u16::try_from(data.len()).unwrap_or(u16::MAX);
    let mut bytes = vec![0x78, 0x01, 0x01];
    bytes.extend(len.to_le_bytes());
    bytes.extend((!len).to_le_bytes());
    bytes.extend(data);
    let (low, high) = data.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    bytes.extend(((high << 16) | low).to_be_bytes());
    bytes
}
