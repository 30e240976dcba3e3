//! Pictures and archives, also broken ones.

#![allow(dead_code, reason = "each program uses its part")]

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ctx_preset_import::{Import, Importer, SourceFile};
use flate2::{Compress, Compression, FlushCompress};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(crate) fn import_bytes(bytes: &[u8]) -> Import {
    Importer::default().import(&[SourceFile { name: "file", bytes }])
}

/// A PNG with these chunks and without an end chunk.
pub(crate) fn picture(chunks: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in chunks {
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        bytes.extend([length.as_slice(), kind.as_bytes(), data, &[0; 4]].concat());
    }
    bytes
}

/// The data of a text chunk: a keyword, and a text in base64.
pub(crate) fn text_data(keyword: &str, text: &[u8]) -> Vec<u8> {
    format!("{keyword}\0{}", STANDARD.encode(text)).into_bytes()
}

/// A whole PNG with these texts in base64.
pub(crate) fn text_picture(texts: &[(&str, &[u8])]) -> Vec<u8> {
    let data: Vec<Vec<u8>> = texts.iter().map(|(keyword, text)| text_data(keyword, text)).collect();
    let mut chunks: Vec<(&str, &[u8])> = data.iter().map(|data| ("tEXt", data.as_slice())).collect();
    chunks.push(("IEND", b""));
    picture(&chunks)
}

pub(crate) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    archive_with(files, SimpleFileOptions::default())
}

fn archive_with(files: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Changes a field in both headers of the file with this number. `offset` is its place in the local header; in the
/// header of the directory it is two bytes further.
pub(crate) fn patch(archive: &mut [u8], file: usize, offset: usize, value: &[u8]) {
    for (header, offset) in [(b"PK\x03\x04", offset), (b"PK\x01\x02", offset + 2)] {
        let at = memchr::memmem::find_iter(archive, header).nth(file).unwrap() + offset;
        archive[at..at + value.len()].copy_from_slice(value);
    }
}

/// Deflated zeros, without an end.
pub(crate) fn zero_blocks(mebibytes: usize) -> Vec<u8> {
    let (mut block, mut deflate) = (Vec::with_capacity(1 << 16), Compress::new(Compression::best(), false));
    deflate.compress_vec(&vec![0; 1 << 20], &mut block, FlushCompress::Full).unwrap();
    block.repeat(mebibytes)
}

/// An archive of files of zeros with these sizes, in MiB.
pub(crate) fn zero_archive(sizes: &[usize]) -> Vec<u8> {
    let names: Vec<String> = (0..sizes.len()).map(|number| format!("{number}.json")).collect();
    let data: Vec<Vec<u8>> = sizes.iter().map(|size| [zero_blocks(*size), vec![3, 0]].concat()).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().zip(&data).map(|(name, data)| (name.as_str(), data.as_slice())).collect();
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut bytes = archive_with(&files, options);
    for (file, mebibytes) in sizes.iter().copied().enumerate() {
        let mut crc = flate2::Crc::new();
        (0..mebibytes).for_each(|_| crc.update(&vec![0; 1 << 20]));
        patch(&mut bytes, file, 8, &8_u16.to_le_bytes());
        patch(&mut bytes, file, 14, &crc.sum().to_le_bytes());
        patch(&mut bytes, file, 22, &u32::try_from(mebibytes << 20).unwrap().to_le_bytes());
    }
    bytes
}
