//! Documents that hold a worldbook.

pub(crate) mod around;
mod card;
mod origin;
mod rows;

use ctx_types::{Diagnostic, Persist, Reader, Worldbook, misspelt_in_worldbook};
use ctx_worldbook::repeated_uids;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::ImportError;
use crate::format::{self, Format};
use crate::formats::lorebook;
use crate::imported::Imported;
use crate::limits::Limits;
use crate::source::{Record, Source};

pub(crate) use card::{CARD_EXTENSIONS, CARD_FIELDS, Converter, has_entries};
pub use origin::WorldbookOrigin;
pub(crate) use rows::{of_card_book, of_envelope, of_world_info};

/// Reads a worldbook from any form that people have one in.
///
/// Forms: world info of SillyTavern and AIO Hub (entries as an object or a list), a bare list of entries, the book
/// inside of a character card (versions 2 and 3) and the standalone lorebook of version 3, and the lorebooks of
/// NovelAI, Agnai and RisuAI. What a form holds beyond a worldbook is kept under `imported`.
///
/// A book of version 3 has the dialect `ccv3`, by which all its decorators count.
///
/// ```
/// use ctx_preset_import::{Format, Limits, read_worldbook};
///
/// let file = br#"{ "spec": "lorebook_v3", "data": { "entries": [{ "keys": ["moon"], "content": "It is hollow." }] } }"#;
/// let book = read_worldbook(file, "sky.json", &Limits::default())?;
/// assert_eq!(book.format, Format::CardBook);
/// assert_eq!(&*book.value.entries.iter().next().unwrap().1.key[0], "moon");
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
pub fn read_worldbook(bytes: &[u8], name: &str, limits: &Limits) -> Result<Imported<Worldbook>, ImportError> {
    read_worldbook_with_origin(bytes, name, limits).map(|(book, _)| book)
}

/// As [`read_worldbook`]; also returns the way back into the document, for findings that come later.
pub fn read_worldbook_with_origin(
    bytes: &[u8],
    name: &str,
    limits: &Limits,
) -> Result<(Imported<Worldbook>, WorldbookOrigin), ImportError> {
    let document = Document::read(bytes, name, limits)?;
    let (mut imported, origin) = read_form(Form::of(document.value)?);
    imported.diagnostics.splice(..0, document.diagnostics);
    Ok((imported.named(name), origin))
}

/// Reads a worldbook from the value of a document that is imported.
pub(crate) fn read_value(value: Value) -> Result<Imported<Worldbook>, ImportError> {
    Form::of(value).map(finish)
}

/// Reads a lorebook of another application that is imported and goes to a place; none if it is none.
pub(crate) fn read_other(file: Source<'_>, place: &str) -> Option<Imported<Worldbook>> {
    lorebook::read(file, place).map(finish)
}

/// Makes a worldbook that is imported of one in the unified form.
pub(crate) fn finish(form: Form) -> Imported<Worldbook> {
    with_repeated(read_form(form))
}

/// Tells of uids that stand twice, which other commands tell when they use the book.
fn with_repeated((mut imported, origin): (Imported<Worldbook>, WorldbookOrigin)) -> Imported<Worldbook> {
    let mut repeated = repeated_uids(&imported.value);
    for location in repeated.iter_mut().map(|finding| &mut finding.location) {
        location.pointer = location.pointer.take().map(|pointer| origin.pointer(&pointer));
    }
    imported.diagnostics.extend(repeated);
    imported
}

/// Reads the book of a card that is imported, which stands at a place of it.
pub(crate) fn read_card_book(book: Map<String, Value>, place: &str, is_v3: bool) -> Imported<Worldbook> {
    finish(card::read(book, place, is_v3))
}

/// Returns a book under another name; on export it has that of its file again.
pub(crate) fn renamed(book: &Worldbook, name: &str) -> Worldbook {
    let mut file = book.write();
    around::rename(&mut file, name);
    Worldbook::read(file, &mut Reader::new())
}

fn read_form(mut form: Form) -> (Imported<Worldbook>, WorldbookOrigin) {
    let mut reader = Reader::new();
    let book = Worldbook::read(form.book, &mut reader);
    let mut found = reader.finish();
    if form.format == Format::Worldbook {
        found.extend(misspelt_in_worldbook(&book));
    }
    for location in found.iter_mut().map(|finding| &mut finding.location) {
        location.pointer = location.pointer.take().map(|pointer| form.origin.pointer(&pointer));
    }
    form.diagnostics.extend(found);
    (Imported { value: book, format: form.format, diagnostics: form.diagnostics }, form.origin)
}

/// A book in the unified form.
pub(crate) struct Form {
    pub(crate) format: Format,
    pub(crate) book: Value,
    pub(crate) origin: WorldbookOrigin,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Form {
    fn of(value: Value) -> Result<Self, ImportError> {
        if let Some(form) = lorebook::read(Source::new(&value, &Record::default()), "") {
            return Ok(form);
        }
        match value {
            Value::Array(entries) if entries.iter().any(is_entry) => {
                let book = Map::from_iter([("entries".to_owned(), Value::Array(entries))]);
                let origin = WorldbookOrigin::new("", "");
                Ok(Self { origin, ..Self::plain(Value::Object(book)) })
            }
            Value::Object(map) => Self::of_object(map),
            value => Err(unknown_shape(&value)),
        }
    }

    fn of_object(mut map: Map<String, Value>) -> Result<Self, ImportError> {
        if let Some((book, place, is_v3)) = card::find(&mut map) {
            let mut form = card::read(book, &place, is_v3);
            if place == "/data" {
                around::put(&mut form.book, around::ENVELOPE, Value::Object(map));
            }
            return Ok(form);
        }
        let has_entries = map.get("entries").is_some_and(|entries| entries.is_object() || entries.is_array());
        if !has_entries {
            return Err(unknown_shape(&Value::Object(map)));
        }
        if card::is_card_book(&map) {
            let mut form = card::read(map, "", false);
            around::put(&mut form.book, around::IS_CARD, Value::Bool(true));
            return Ok(form);
        }
        Ok(Self::plain(Value::Object(map)))
    }

    fn plain(book: Value) -> Self {
        let origin = WorldbookOrigin::new("", "/entries");
        Self { format: Format::Worldbook, book, origin, diagnostics: Vec::new() }
    }
}

/// Tells whether a value has what only entries of worldbooks have.
fn is_entry(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("content") && (has("key") || has("keys") || has("keysecondary") || has("constant"))
}

fn unknown_shape(value: &Value) -> ImportError {
    ImportError::UnknownShape {
        expected: "a worldbook (an object with `entries`)",
        found: format::describe(value),
        help: None,
    }
}
