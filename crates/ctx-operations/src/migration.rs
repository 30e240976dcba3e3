//! Old spellings in documents become today's, in the text that a document has.

use ctx_anchors::AnchorRegistry;
use ctx_engine::ImportError;
use ctx_preset_import::{Document, MigratedDocument, Syntax, decode, migrate_document, write_document};
use serde_json::Value;

use crate::document_edit::{Edit, EditError, Lists, difference, edit_all, edited_yaml};

/// A document that was brought up to date.
#[derive(Clone, Debug)]
pub struct Migration {
    /// What it holds now, what it is, and what was changed.
    pub migrated: MigratedDocument,
    /// What it held.
    pub old: Value,
    /// How its new text is made.
    pub text: MigratedText,
}

/// How the text of a document that was brought up to date is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MigratedText {
    /// The document is JSON: whoever writes it replaces the bytes of what changed.
    Json,
    /// YAML in which the bytes of what changed are replaced; comments, order and quotes stay.
    InPlace(String),
    /// YAML that is written anew, since its text cannot express the changes, or they are too many.
    Anew(String),
}

/// Brings a document up to date, as [`migrate_document`] does.
///
/// # Errors
///
/// It cannot be read, or is none that is migrated.
pub fn migrate(bytes: &[u8], name: &str, anchors: &AnchorRegistry) -> Result<Migration, ImportError> {
    let document = Document::read(bytes, name)?;
    let migrated = migrate_document(document.value.clone(), anchors)?;
    let text = decode(bytes)?;
    let is_named_yaml = [".yaml", ".yml"].iter().any(|ending| name.ends_with(ending));
    let is_json =
        document.syntax != Syntax::Yaml || (!is_named_yaml && text.trim_start().starts_with(['{', '[']));
    let text = if is_json {
        MigratedText::Json
    } else {
        match in_place(name, &text, &document.value, &migrated.value) {
            Ok(text) => MigratedText::InPlace(text),
            Err(_) => MigratedText::Anew(write_document(&migrated.value)),
        }
    };
    Ok(Migration { migrated, old: document.value, text })
}

/// How many edits times bytes of YAML are made where structure changes. Each edit walks the list that it is in: eight
/// thousand of them in half a megabyte took a minute.
const MOST_WORK: usize = 64 << 20;

/// Replaces the bytes of what changed in a text of YAML.
fn in_place(name: &str, text: &str, old: &Value, new: &Value) -> Result<String, EditError> {
    let edits = difference(old, new, "", Lists::Whole).into_iter();
    let (scalars, others): (Vec<Edit>, Vec<Edit>) = edits.partition(|edit| edit.is_of_scalar(old));
    if others.len().saturating_mul(text.len()) > MOST_WORK {
        return Err(EditError::ChangesMore);
    }
    let write = |text: &str, edits: &[Edit], old: &Value, wanted: &Value| {
        let holds = |text: &str| {
            let read = Document::read(text.as_bytes(), name).ok();
            read.is_some_and(|read| read.value == *wanted && read.syntax == Syntax::Yaml)
        };
        edited_yaml(text, edits, old, &holds)
    };
    let mut value = old.clone();
    let text = edit_all(text, &scalars, &mut value, &write)?;
    edit_all(&text, &others, &mut value, &write)
}
