//! Documents that hold a user profile.

use ctx_types::internal::check_profile_keys;
use ctx_types::{Diagnostic, Persist, Reader, Text, UserProfile, phrase};
use serde_json::Value;

use crate::codes;
use crate::document::{self, Document, Syntax};
use crate::error::ImportError;
use crate::format::{self, Format};
use crate::imported::Imported;
use crate::limits::Limits;

/// Reads a user profile: an object with `name` and `content`, or a text that is the content.
///
/// A text is a document that is neither JSON nor a YAML object with a key of a profile, or a `.txt` or `.md` file
/// without a JSON object. Invalid YAML in a `.yaml` file is an error.
///
/// ```
/// use ctx_preset_import::read_profile;
///
/// let profile = read_profile(b"name: Kim\ncontent: Likes tea.", "kim.yaml")?.value;
/// assert_eq!(profile.name.as_deref(), Some("Kim"));
/// let profile = read_profile(b"Likes tea: green, black.", "kim.txt")?.value;
/// assert_eq!(profile.content.as_deref(), Some("Likes tea: green, black."));
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
pub fn read_profile(bytes: &[u8], name: &str) -> Result<Imported<UserProfile>, ImportError> {
    let (text, limits) = (document::decode(bytes)?, &Limits::default());
    let is_plain = document::ends_with(name, PLAIN);
    let document = match Document::parse(&text, name, limits) {
        Ok(document) => document,
        Err(ImportError::Yaml { .. }) if !document::ends_with(name, &["yaml", "yml"]) => {
            return Ok(read_text(&text, name));
        }
        Err(ImportError::Json { .. }) if is_plain => {
            document::check_size(&text, limits, Syntax::PlainText)?;
            return Ok(read_text(&text, name));
        }
        Err(error) => return Err(error),
    };
    let is_yaml = document.syntax == Syntax::Yaml;
    let has_keys = is_yaml && !is_plain || document.syntax == Syntax::Json;
    if has_keys && is_profile(&document.value) {
        let mut found = document.diagnostics;
        found.extend(format::weakly_told(&document.value, |format| format == Format::Profile));
        let mut profile = read_value(document.value);
        profile.diagnostics.splice(..0, found);
        return Ok(profile.named(name));
    }
    if is_yaml { Ok(read_text(&text, name)) } else { Err(unknown_shape(&document.value)) }
}

const PLAIN: &[&str] = &["txt", "md"];

fn is_profile(value: &Value) -> bool {
    let known = matches!(format::shape(value), None | Some(Format::Profile));
    known && value.as_object().is_some_and(format::is_profile)
}

/// Reads a profile from the value of a document, whatever it holds.
pub(crate) fn read_value(value: Value) -> Imported<UserProfile> {
    let mut reader = Reader::new();
    let profile = UserProfile::read(value, &mut reader);
    let diagnostics = [reader.finish(), check_profile_keys(&profile)].concat();
    Imported { value: profile, format: Format::Profile, diagnostics }
}

/// Reads a profile from a text that is its content.
pub(crate) fn read_text(text: &str, name: &str) -> Imported<UserProfile> {
    let profile = UserProfile { content: Some(Text::from(text)), ..UserProfile::default() };
    let mut diagnostics = Vec::new();
    if !document::ends_with(name, PLAIN) {
        let message = phrase!("the whole text is read as the content of an unnamed profile");
        let help = phrase!("to name the profile, write an object with `name` and `content`");
        diagnostics.push(Diagnostic::info(codes::PLAIN_PROFILE, message).with_help(help));
    }
    Imported { value: profile, format: Format::PlainText, diagnostics }.named(name)
}

pub(crate) fn unknown_shape(value: &Value) -> ImportError {
    ImportError::UnknownShape {
        expected: "a user profile (an object with `name` and `content`, or a plain text)",
        found: format::describe(value),
        help: None,
    }
}
