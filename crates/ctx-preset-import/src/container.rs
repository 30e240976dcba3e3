//! What documents are packed in: pictures, archives, base64.

pub(crate) mod archive;
pub(crate) mod base64_text;
mod bundle;
pub(crate) mod png;

use ctx_types::{Diagnostic, phrase};

use crate::document::Document;
use crate::error::ImportError;
use crate::limits::Limits;

/// What a file holds besides itself.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    /// The documents, each with what it was packed in.
    pub(crate) documents: Vec<PackedDocument>,
    /// The other files.
    pub(crate) files: Vec<PackedFile>,
    /// Whether the file is one of those itself: the picture of a card.
    pub(crate) is_picture: bool,
    /// What is wrong with what they were packed in.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A document that was packed in something.
#[derive(Debug)]
pub(crate) struct PackedDocument {
    /// What it was packed in, and under which name: `png:ccv3`, `zip:card.json`.
    pub(crate) container: String,
    /// Its own name, by which its ending is known.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// What it was read as, if it had to be read to be chosen.
    pub(crate) read: Option<Document>,
}

/// A file of any kind, such as a sound.
#[derive(Debug)]
pub(crate) struct PackedFile {
    /// Its name in what it was packed in: relative, without `..`, with `/` between folders. Nothing for a picture that
    /// has none.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

/// How deep one container may be in another: base64 of a picture that holds a bundle of an archive.
const MAX_NESTED: usize = 4;

/// Unpacks a file; none if it is a document itself.
pub(crate) fn unpack(bytes: &[u8], limits: &Limits) -> Result<Option<Unpacked>, ImportError> {
    unpack_nested(bytes, limits, 0, &mut 0)
}

/// Unpacks what may be in a container itself; `unpacked_bytes` grows by what came out, also where that fails.
fn unpack_nested(
    bytes: &[u8],
    limits: &Limits,
    nested: usize,
    unpacked_bytes: &mut usize,
) -> Result<Option<Unpacked>, ImportError> {
    if nested > MAX_NESTED {
        return Err(ImportError::Container { message: phrase!("containers are nested too deeply") });
    }
    let mut unpacked = if png::is_png(bytes) {
        png::unpack(bytes, limits, unpacked_bytes)?
    } else if archive::is_archive(bytes) {
        archive::unpack(bytes, limits, unpacked_bytes)?
    } else if let Some(inner) = bundle::unpack(bytes, limits)? {
        *unpacked_bytes += inner.len();
        if let Some(mut unpacked) = unpack_nested(&inner, limits, nested + 1, unpacked_bytes)? {
            unpacked.take_picture(inner);
            return Ok(Some(unpacked));
        }
        packed_in_base64(inner)
    } else if let Some(inner) = base64_text::decode_file(bytes) {
        *unpacked_bytes += inner.len();
        packed_in_base64(inner)
    } else {
        return Ok(None);
    };
    let documents = std::mem::take(&mut unpacked.documents);
    let before = *unpacked_bytes;
    for document in documents {
        let left = limits.packed_total_bytes.saturating_sub(*unpacked_bytes - before);
        let limits =
            Limits { packed_bytes: limits.packed_bytes.min(left), packed_total_bytes: left, ..*limits };
        match unpack_nested(&document.bytes, &limits, nested + 1, unpacked_bytes) {
            Ok(Some(inner)) => unpacked.add(document, inner),
            Ok(None) => unpacked.documents.push(document),
            // One of many pictures, which may be no card at all.
            Err(error) if !document.name.is_empty() && png::is_png(&document.bytes) => {
                unpacked.diagnostics.push(error.to_diagnostic());
                unpacked.files.push(PackedFile { path: document.name, bytes: document.bytes });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Some(unpacked))
}

impl Unpacked {
    /// Adds what a document holds that is a container itself; a picture of an archive stays where it was.
    fn add(&mut self, outer: PackedDocument, mut inner: Self) {
        inner.take_picture(outer.bytes);
        self.documents.extend(inner.documents.into_iter().map(|mut packed| {
            packed.container = format!("{}/{}", outer.container, packed.container);
            // There may be many pictures, of which one is read after another.
            packed.read = None;
            if packed.name.is_empty() {
                packed.name.clone_from(&outer.name);
            }
            packed
        }));
        self.files.extend(inner.files.into_iter().map(|mut file| {
            if file.path.is_empty() {
                file.path.clone_from(&outer.name);
            }
            file
        }));
        self.diagnostics.extend(inner.diagnostics);
    }

    /// Puts what was unpacked to its files, if it is a picture; its name is that of what it was packed in.
    fn take_picture(&mut self, bytes: Vec<u8>) {
        if std::mem::take(&mut self.is_picture) {
            self.files.push(PackedFile { path: String::new(), bytes });
        }
    }
}

/// Returns whether bytes hold documents instead of being one. O(bytes).
fn is_packed(bytes: &[u8]) -> bool {
    png::is_png(bytes)
        || archive::is_archive(bytes)
        || bundle::is_bundle(bytes)
        || base64_text::decode_file(bytes).is_some()
}

fn packed_in_base64(bytes: Vec<u8>) -> Unpacked {
    let document = PackedDocument { container: "base64".to_owned(), name: String::new(), bytes, read: None };
    Unpacked { documents: vec![document], ..Unpacked::default() }
}
