//! Documents that hold a worldbook.

pub(crate) mod around;
pub(crate) mod card;
mod export;
pub(crate) mod fields;
mod origin;
mod world_info;

use ctx_types::internal::{check_worldbook_keys, excerpt};
use ctx_types::worldbook::Worldbook;
use ctx_types::{Diagnostic, Persist, Reader};
use ctx_worldbook::{Book, Level, codes};
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::ImportError;
use crate::format::{self, Format};
use crate::formats::lorebook;
use crate::imported::Imported;
use crate::loose::Object;
use crate::source::{Source, SourceNode};

pub(crate) use card::take as take_card_book;
pub use export::{export_card_book, export_lorebook, export_worldbook};
pub use origin::WorldbookOrigin;

/// Reads a worldbook from any form that people have one in.
///
/// Forms: world info of SillyTavern and AIO Hub (entries as an object or a list), a bare list of entries, the book
/// inside of a character card (versions 2 and 3) and the standalone lorebook of version 3, and the lorebooks of
/// NovelAI, Agnai and RisuAI. What a form holds beyond a worldbook is kept under `imported`.
///
/// A book of version 3 has the dialect `ccv3`, by which all its decorators count.
///
/// ```
/// use ctx_preset_import::{Format, read_worldbook};
///
/// let file = br#"{ "spec": "lorebook_v3", "data": { "entries": [{ "keys": ["moon"], "content": "It is hollow." }] } }"#;
/// let book = read_worldbook(file, "sky.json")?;
/// assert_eq!(book.format, Format::CardBook);
/// assert_eq!(&*book.value.entries.iter().next().unwrap().1.key[0], "moon");
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
pub fn read_worldbook(bytes: &[u8], name: &str) -> Result<Imported<Worldbook>, ImportError> {
    worldbook_of(Document::read(bytes, name)?, name).map(|(book, _)| book)
}

/// Reads a worldbook from a document. Also returns the way back into the document, for later diagnostics.
pub fn worldbook_of(
    document: Document,
    name: &str,
) -> Result<(Imported<Worldbook>, WorldbookOrigin), ImportError> {
    let guess = format::weakly_told(&document.value, Format::is_worldbook);
    let form = Form::take(SourceNode::new(&document.value).source(), "");
    let (mut imported, origin) = read_form(form.map_err(|error| error.or_invalid_json(document.json_error))?);
    imported.diagnostics.splice(..0, document.diagnostics.into_iter().chain(guess));
    Ok((imported.named(name), origin))
}

/// Reads a worldbook from the value of a document that is imported.
pub(crate) fn read_value(value: &Value) -> Result<Imported<Worldbook>, ImportError> {
    Form::take(SourceNode::new(value).source(), "").map(finish)
}

/// Makes a worldbook that is imported of one in the unified form.
///
/// Also reports duplicate uids and decorators without effect, which other commands report when they use the book.
pub(crate) fn finish(form: Form) -> Imported<Worldbook> {
    let (mut imported, origin) = read_form(form);
    let name = excerpt(imported.value.name.as_deref().unwrap_or("worldbook"));
    let (_, mut found) = Book::read(&*name, Level::Global, &imported.value);
    found.retain(|finding| [codes::DUPLICATE_UID, codes::BAD_DECORATOR].contains(&finding.code));
    for location in found.iter_mut().map(|finding| &mut finding.location) {
        location.document = None;
        location.pointer = location.pointer.take().map(|pointer| origin.pointer(&pointer));
    }
    imported.diagnostics.extend(found);
    imported
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
        found.extend(check_worldbook_keys(&book));
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
    /// A book whose document has the entries at a pointer, under the names that they have here.
    fn plain(book: Object, entries: &str) -> Self {
        let origin = WorldbookOrigin::new("", entries);
        Self { format: Format::Worldbook, book: Value::Object(book), origin, diagnostics: Vec::new() }
    }

    /// Takes the fields of a document that holds a book in any form, which goes to a place.
    pub(crate) fn take(file: Source<'_>, place: &str) -> Result<Self, ImportError> {
        if let Some(form) = lorebook::read(file, place) {
            return Ok(form);
        }
        match file.value() {
            Some(entries @ Value::Array(items)) if items.iter().any(is_entry) => {
                file.keep_at(format!("{place}/entries"));
                world_info::take_entries(file, place);
                Ok(Self::plain(Map::from_iter([("entries".to_owned(), entries.clone())]), ""))
            }
            Some(Value::Object(map)) => Self::take_object(file, map, place),
            value => Err(unknown_shape(value.unwrap_or(&Value::Null))),
        }
    }

    fn take_object(file: Source<'_>, map: &Object, place: &str) -> Result<Self, ImportError> {
        if let Some((at, is_v3)) = card::find(map) {
            let file = file.lead_to(place).keep_at(format!("{place}/imported/envelope"));
            file.at("spec").named(&["lorebook_v3"]).into("/dialect");
            let mut form = take_card_book(file.at(at), place, &format!("/{at}"), is_v3);
            if at == "data" {
                let mut outside = map.clone();
                outside.insert(at.to_owned(), Value::Object(Map::new()));
                around::put(&mut form.book, around::ENVELOPE, outside.into());
            }
            return Ok(form);
        }
        let entries = map.get("entries");
        if !entries.is_some_and(|entries| entries.is_object() || entries.is_array()) {
            return Err(unknown_shape(file.value().unwrap_or(&Value::Null)));
        }
        if card::is_card_book(map) {
            let mut form = take_card_book(file, place, "", false);
            around::put(&mut form.book, around::IS_CARD, Value::Bool(true));
            return Ok(form);
        }
        world_info::take(file, place);
        Ok(Self::plain(map.clone(), "/entries"))
    }
}

/// Returns whether a value has what only entries of worldbooks have.
fn is_entry(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("content") && (has("key") || has("keys") || has("keysecondary") || has("constant"))
}

fn unknown_shape(value: &Value) -> ImportError {
    ImportError::UnknownShape {
        expected: "a worldbook (an object with `entries`)",
        found: format::describe(value),
        help: format::help_for_text(value),
    }
}
