use std::num::NonZeroU32;

use ctx_types::MediaKind;
use ctx_types::ports::Measures;

/// Decodes nothing. Unknown measures stay `None`; the document reader counts pages.
pub(crate) fn measure(bytes: &[u8], mime_type: &str) -> Measures {
    match MediaKind::from_mime(mime_type) {
        MediaKind::Image => Measures { size: image_size(bytes), ..Measures::default() },
        MediaKind::Audio => Measures { seconds: wav_seconds(bytes), ..Measures::default() },
        MediaKind::Video | MediaKind::Document => Measures::default(),
    }
}

fn image_size(bytes: &[u8]) -> Option<(NonZeroU32, NonZeroU32)> {
    let size = imagesize::blob_size(bytes).ok()?;
    let side = |pixels: usize| NonZeroU32::new(u32::try_from(pixels).unwrap_or(u32::MAX));
    side(size.width).zip(side(size.height))
}

/// Seconds of audio in a WAV file, rounded up. The declared data size is limited to the real one.
fn wav_seconds(bytes: &[u8]) -> Option<u32> {
    let mut rest = bytes.strip_prefix(b"RIFF")?.get(4..)?.strip_prefix(b"WAVE")?;
    let mut rate = None;
    // Files have few chunks before the data.
    for _ in 0..64 {
        let (name, after) = rest.split_at_checked(4)?;
        let (size, after) = after.split_at_checked(4)?;
        let size = u32::from_le_bytes(size.try_into().ok()?);
        let len = usize::try_from(size).ok()?.min(after.len());
        match name {
            b"fmt " => rate = Some(u32::from_le_bytes(after.get(8..12)?.try_into().ok()?)),
            b"data" => {
                let rate = usize::try_from(rate.filter(|rate| *rate > 0)?).ok()?;
                return u32::try_from(len.div_ceil(rate)).ok();
            }
            _ => {}
        }
        // Chunks are aligned to 2 bytes.
        rest = after.get(len + len % 2..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wav(rate: u32, chunks: &[(&[u8; 4], u32, usize)]) -> Vec<u8> {
        let mut bytes = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0".to_vec();
        bytes.extend(rate.to_le_bytes());
        bytes.extend([2, 0, 16, 0]);
        for (name, size, len) in chunks {
            bytes.extend(*name);
            bytes.extend(size.to_le_bytes());
            bytes.extend(std::iter::repeat_n(0, *len));
        }
        bytes
    }

    #[test]
    fn measures_wav_by_actual_sound_data() {
        assert_eq!(wav_seconds(&wav(16_000, &[(b"data", 40_000, 40_000)])), Some(3));
        assert_eq!(wav_seconds(&wav(16_000, &[(b"LIST", 3, 4), (b"data", 16_000, 16_000)])), Some(1));
        assert_eq!(wav_seconds(&wav(16_000, &[(b"data", u32::MAX, 16_000)])), Some(1), "declared 4 GB");
        assert_eq!(wav_seconds(&wav(0, &[(b"data", 10, 10)])), None);
        assert_eq!(wav_seconds(b"RIFF"), None);
    }

    #[test]
    fn measures_pictures_by_their_headers() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x27\x10\0\0\x27\x10\x08\x06\0\0\0";
        let side = NonZeroU32::new(10_000).unwrap();
        assert_eq!(measure(png, "image/png").size, Some((side, side)));
        assert_eq!(measure(b"no picture", "image/png").size, None);
    }
}
