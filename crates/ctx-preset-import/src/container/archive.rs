//! ZIP and CHARX, also behind a program or a picture.

use std::io::{Cursor, Read as _};

use ctx_types::internal::excerpt;
use ctx_types::{Phrase, phrase};
use zip::ZipArchive;

use super::{PackedDocument, PackedFile, Unpacked};
use crate::error::ImportError;
use crate::limits::Limits;

const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
const END_RECORD: &[u8] = b"PK\x05\x06";
/// The longest that the end of an archive may be: its record and a comment.
const LONGEST_END: usize = 22 + 65_535;

/// Returns whether a file is an archive: one by itself, or behind the start of a program or a picture.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    let is_behind =
        bytes.starts_with(b"MZ") || bytes.starts_with(b"\xff\xd8\xff") || bytes.starts_with(b"\x7fELF");
    bytes.starts_with(LOCAL_HEADER) || (is_behind && end_record(bytes).is_some())
}

/// Returns the number of entries that the end of an archive tells.
fn end_record(bytes: &[u8]) -> Option<usize> {
    let from = bytes.len().saturating_sub(LONGEST_END);
    let tail = bytes.get(from..)?;
    let at = tail.windows(END_RECORD.len()).rposition(|window| window == END_RECORD)?;
    let count = tail.get(at + 10..at + 12)?;
    Some(usize::from(u16::from_le_bytes(count.try_into().ok()?)))
}

const fn broken(message: Phrase) -> ImportError {
    ImportError::Container { message }
}

fn damaged(error: &zip::result::ZipError) -> ImportError {
    broken(phrase!("the archive is damaged: {message}", message = Phrase::original(error.to_string())))
}

/// Returns the documents and the other files of an archive.
///
/// With `card.json` at its top it is a card with its files; otherwise every JSON and YAML file is a document, and so is
/// a PNG that holds one, unless the archive is an agent of AIO Hub, whose pictures are its own.
/// Names that lead outside, overlapping entries and what is larger than its limit are refused; `unpacked_bytes` grows
/// by what was unpacked until then. O(bytes unpacked).
pub(crate) fn unpack(
    bytes: &[u8],
    limits: &Limits,
    unpacked_bytes: &mut usize,
) -> Result<Unpacked, ImportError> {
    let told = end_record(bytes).ok_or_else(|| broken(phrase!("the archive is truncated")))?;
    let too_many = || broken(phrase!("the archive has more than {limit} files", limit = limits.packed_files));
    if told > limits.packed_files {
        return Err(too_many());
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
    if archive.len() > limits.packed_files {
        return Err(too_many());
    }
    if archive.len() != told {
        let listed = archive.len();
        return Err(broken(phrase!(
            "the archive declares {told} files and lists {listed}: duplicate names, or damage",
            told,
            listed
        )));
    }
    if archive.has_overlapping_files().unwrap_or(true) {
        return Err(broken(phrase!("files in the archive overlap")));
    }
    let mut files = Vec::new();
    let mut left = limits.packed_total_bytes;
    for index in 0..archive.len() {
        let file = read_entry(&mut archive, index, limits.packed_bytes.min(left), unpacked_bytes)?;
        let Some(file) = file else { continue };
        left -= file.bytes.len();
        files.push(file);
    }
    Ok(sort(files))
}

/// Reads one entry; none for a folder.
fn read_entry(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
    limit: usize,
    unpacked_bytes: &mut usize,
) -> Result<Option<PackedFile>, ImportError> {
    let entry = archive.by_index(index).map_err(|error| damaged(&error))?;
    if entry.is_dir() {
        return Ok(None);
    }
    if entry.is_symlink() {
        return Err(broken(phrase!("the archive contains a link: `{name}`", name = excerpt(entry.name()))));
    }
    let Some(path) = entry.enclosed_name() else {
        return Err(broken(phrase!(
            "the archive contains a path outside itself: `{name}`",
            name = excerpt(entry.name())
        )));
    };
    let steps: Vec<String> =
        path.components().map(|step| step.as_os_str().to_string_lossy().into_owned()).collect();
    let mut bytes = Vec::new();
    let read = entry.take(limit as u64 + 1).read_to_end(&mut bytes);
    *unpacked_bytes += bytes.len();
    if bytes.len() > limit {
        return Err(broken(phrase!("the files in the archive exceed {limit} bytes", limit)));
    }
    read.map_err(|error| {
        let message = Phrase::original(error.to_string());
        broken(phrase!("cannot unpack a file in the archive: {message}", message))
    })?;
    Ok(Some(PackedFile { path: steps.join("/"), bytes }))
}

/// The documents of an archive that is no card, by the endings of their names.
const DOCUMENTS: [&str; 4] = ["json", "yaml", "yml", "jsonl"];

/// Returns whether a file is called as the agent in an archive of AIO Hub is: `agent.json`, or `Kim.agent.yaml`.
fn is_of_agent(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let last = stem.rsplit('.').next().unwrap_or(stem);
    crate::document::ends_with(name, &DOCUMENTS) && matches!(last, "agent" | "agents")
}

fn sort(files: Vec<PackedFile>) -> Unpacked {
    let is_charx = files.iter().any(|file| file.path == "card.json");
    let is_agent = files.iter().any(|file| is_of_agent(&file.path));
    let mut unpacked = Unpacked::default();
    for file in files {
        let is_document = if is_charx {
            file.path == "card.json"
        } else {
            crate::document::ends_with(&file.path, &DOCUMENTS)
                || (!is_agent && super::png::holds_document(&file.bytes))
        };
        if is_document {
            let container = format!("zip:{}", file.path);
            unpacked.documents.push(PackedDocument {
                container,
                name: file.path,
                bytes: file.bytes,
                read: None,
            });
        } else {
            unpacked.files.push(file);
        }
    }
    unpacked
}
