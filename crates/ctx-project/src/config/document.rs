//! The `ctx.toml` of a folder: its bytes and its TOML value.

use std::path::{Path, PathBuf};

use ctx_engine::ImportError;
use ctx_types::{Diagnostic, Phrase, Span, phrase};
use serde_json::Value;

use crate::error::{ProjectError, Result};
use crate::secrets::covered;
use crate::sources::Sources;
use crate::{codes, files, toml_document};

use super::NAME;
use super::reach::{self, Withheld};

/// Maximum size of a `ctx.toml` file, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// A `ctx.toml` file.
#[derive(Clone, Debug, Default)]
pub struct ConfigDocument {
    /// Folder of the file, relative to the working folder.
    pub folder: PathBuf,
    /// File name in results and diagnostics.
    pub name: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Parsed content.
    pub value: Value,
}

impl ConfigDocument {
    /// Returns the keys that have no effect until the user trusts the file.
    pub fn withheld(&self) -> Vec<Withheld> {
        reach::withheld(&self.value, &self.folder)
    }

    /// Returns each path in the file: its key and its target.
    pub(super) fn targets(&self) -> Vec<(String, PathBuf)> {
        reach::targets(&self.value, &self.folder)
    }
}

/// Reads the `ctx.toml` of a folder and registers its text for diagnostics.
pub fn found_in(folder: &Path, sources: &mut Sources) -> Result<ConfigDocument> {
    let path = folder.join(NAME);
    let name = files::name(&path);
    let bytes = sources.bytes(&path)?;
    if let Some(fault) = too_large(&bytes, &name) {
        return Err(ProjectError::Unusable(fault));
    }
    sources.add(&name, &shown(&bytes));
    let value = parse(&bytes, &name, sources).map_err(|fault| sources.failure(*fault))?;
    Ok(ConfigDocument { folder: folder.to_owned(), name, bytes, value })
}

/// Returns whether a folder has a `ctx.toml`.
pub fn is_there(folder: &Path) -> bool {
    folder.join(NAME).is_file()
}

/// Parses the text of a `ctx.toml` without checking its keys. Returns `None` for invalid TOML.
pub fn value_of(text: &str) -> Option<Value> {
    toml_document::read(text).ok()
}

/// Returns whether a path names a `ctx.toml`.
pub fn is_config(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == NAME)
}

/// Reports content that exceeds [`MAX_BYTES`].
pub(super) fn too_large(bytes: &[u8], name: &str) -> Option<Phrase> {
    let is_larger = bytes.len() > MAX_BYTES;
    is_larger.then(|| phrase!("`{name}` is larger than {limit} KiB", name, limit = MAX_BYTES / 1024))
}

/// Returns the bytes for diagnostics, with secrets redacted.
pub(super) fn shown(bytes: &[u8]) -> Vec<u8> {
    // The redacted text keeps the length of the bytes. Positions in it stay valid.
    let chunks = bytes.utf8_chunks();
    let text: String =
        chunks.map(|chunk| chunk.valid().to_owned() + &"?".repeat(chunk.invalid().len())).collect();
    let mut shown = covered(&text).into_bytes();
    for (shown, byte) in shown.iter_mut().zip(bytes) {
        if *shown == b'?' {
            *shown = *byte;
        }
    }
    shown
}

pub(super) fn parse(bytes: &[u8], name: &str, sources: &Sources) -> Result<Value, Box<Diagnostic>> {
    let text = std::str::from_utf8(files::without_mark(bytes)).map_err(|error| {
        let error = ImportError::NotText { offset: error.valid_up_to() };
        sources.explained(name, &error)
    })?;
    toml_document::read(text).map_err(|(message, range)| {
        let help = syntax_help(&message);
        let finding = Diagnostic::error(
            codes::TOML_SYNTAX,
            phrase!("invalid TOML: {message}", message = Phrase::original(message)),
        );
        let finding = finding.with_help(help);
        Box::new(finding.in_document(name).at_span(Span::new(range.start, range.end)))
    })
}

/// Returns the fix of a syntax error.
fn syntax_help(message: &str) -> Phrase {
    let has = |part: &str| message.contains(part);
    if has("duplicate key") {
        phrase!("delete one of the keys")
    } else if has("unicode value digits") || has("escaped value") {
        phrase!("put paths with `\\` in single quotes, such as `'C:\\dir'`")
    } else if has("key with no value") {
        phrase!("write `key = value`")
    } else if has("invalid boolean") {
        phrase!("write `true` or `false`")
    } else {
        phrase!("put strings in quotes, and close each quote and bracket")
    }
}
