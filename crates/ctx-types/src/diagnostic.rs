use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::codes;
use crate::fix::{Edit, Fix};
use crate::phrase;
use crate::phrasing::{self, Phrase};
use crate::suggest::NearestName;
use crate::wording::excerpt;
use crate::words;

/// An error, a warning, or an info about a file, a conversation, or a request.
///
/// Invalid user content produces a diagnostic, never an `Err` or a panic. Processing continues.
///
/// ```
/// use ctx_types::{Code, Diagnostic, Severity, phrase};
///
/// const UNKNOWN_TARGET: Code = Code::new(9999, "unknown anchor target");
/// let diagnostic = Diagnostic::warning(UNKNOWN_TARGET, phrase!("no anchor `{name}`", name = "lore"))
///     .at_pointer("/presetMessages/3")
///     .with_help(phrase!("add an entry of type `placeholder` with id `{name}`", name = "lore"));
/// assert_eq!(diagnostic.severity, Severity::Warning);
/// assert_eq!(diagnostic.to_string(), "warning[CTX9999]: no anchor `lore` (at /presetMessages/3)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnostic {
    /// Stable code of this kind of diagnostic, used in documentation and tests.
    pub code: Code,
    /// Severity of the diagnostic.
    pub severity: Severity,
    /// Message in one sentence: lower case, no final period, names in backticks.
    #[serde(flatten, serialize_with = "phrasing::as_message")]
    #[cfg_attr(feature = "schema", schemars(with = "phrasing::fields::Message"))]
    pub message: Phrase,
    /// Location of the problem.
    #[serde(skip_serializing_if = "Location::is_empty")]
    pub location: Location,
    /// Suggested fix.
    #[serde(flatten, serialize_with = "phrasing::as_help")]
    #[cfg_attr(feature = "schema", schemars(with = "phrasing::fields::Help"))]
    pub help: Option<Phrase>,
    /// Edit that applies the only possible fix. Not in the JSON.
    #[serde(skip)]
    pub fix: Option<Box<Fix>>,
}

impl Diagnostic {
    /// Creates an error: the content does not work as intended.
    pub fn error(code: Code, message: Phrase) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// Creates a warning: the content probably does not work as intended.
    pub fn warning(code: Code, message: Phrase) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    /// Creates an info diagnostic: a notable action.
    pub fn info(code: Code, message: Phrase) -> Self {
        Self::new(code, Severity::Info, message)
    }

    /// Creates a diagnostic about suppressed ones in a place such as `this document`.
    pub fn more(count: usize, place: impl Into<Phrase>) -> Self {
        let place = place.into();
        let message = if count == 1 {
            phrase!("1 more diagnostic in {place} is not shown", place)
        } else {
            phrase!("{count} more diagnostics in {place} are not shown", count, place)
        };
        Self::info(codes::MORE_FINDINGS, message)
    }

    fn new(code: Code, severity: Severity, message: Phrase) -> Self {
        Self { code, severity, message, location: Location::default(), help: None, fix: None }
    }

    /// Sets the JSON pointer (RFC 6901) of the value.
    #[must_use]
    pub fn at_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.location.pointer = Some(pointer.into());
        self
    }

    /// Marks the diagnostic as being about the pointer's last key, not its value.
    #[must_use]
    pub fn about_key(mut self) -> Self {
        self.location.is_key = true;
        self
    }

    /// Sets the byte range in the text at the pointer.
    #[must_use]
    pub fn at_span(mut self, span: Span) -> Self {
        self.location.span = Some(span);
        self
    }

    /// Sets the file or document name.
    #[must_use]
    pub fn in_document(mut self, document: impl Into<Arc<str>>) -> Self {
        self.location.document = Some(document.into());
        self
    }

    /// Sets the help text.
    #[must_use]
    pub fn with_help(mut self, help: Phrase) -> Self {
        self.help = Some(help);
        self
    }

    /// Sets the automatic edit. Only for unambiguous fixes.
    #[must_use]
    pub fn with_fix(mut self, fix: Fix) -> Self {
        self.location.is_key |= matches!(fix.edit, Edit::Key(_));
        self.fix = Some(Box::new(fix));
        self
    }

    /// Suggests a known name as the help text.
    #[must_use]
    pub fn with_suggestion(self, name: &str) -> Self {
        self.with_help(did_you_mean(name))
    }

    /// Returns whether the help text suggests a known name.
    pub fn has_suggestion(&self) -> bool {
        self.help.as_ref().is_some_and(|help| help.template() == DID_YOU_MEAN)
    }

    /// Suggests a similar name, with `fix` if the match is certain.
    #[must_use]
    pub fn with_guess(self, near: NearestName<'_>, fix: impl FnOnce(&str) -> Fix) -> Self {
        let asked = self.with_suggestion(near.name);
        if near.is_certain { asked.with_fix(fix(near.name)) } else { asked }
    }

    /// Suggests a similar name; without one, adds `help`.
    #[must_use]
    pub fn with_guess_or(
        self,
        near: Option<NearestName<'_>>,
        fix: impl FnOnce(&str) -> Fix,
        help: impl FnOnce() -> Phrase,
    ) -> Self {
        match near {
            Some(near) => self.with_guess(near, fix),
            None => self.with_help(help()),
        }
    }
}

const DID_YOU_MEAN: &str = "did you mean `{name}`?";

pub(crate) fn did_you_mean(name: &str) -> Phrase {
    phrase!(DID_YOU_MEAN, name = excerpt(name))
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)?;
        if !self.location.is_empty() {
            write!(f, " (at {})", self.location)?;
        }
        Ok(())
    }
}

/// The stable code of a kind of diagnostic, written `CTX0123`. Each crate has its own range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    number: u16,
    title: &'static str,
}

impl Code {
    /// Creates a code from its number (1 to 9999) and title.
    pub const fn new(number: u16, title: &'static str) -> Self {
        Self { number, title }
    }

    /// Returns the number.
    pub const fn number(self) -> u16 {
        self.number
    }

    /// Returns the title.
    pub const fn title(self) -> &'static str {
        self.title
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CTX{:04}", self.number)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Code {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^CTX[0-9]{4}$" })
    }
}

words! {
    /// The severity of a diagnostic, in ascending order.
    #[derive(Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum Severity: [as_str] {
        /// A notable action.
        Info = "info",
        /// The content probably does not work as intended.
        Warning = "warning",
        /// The content does not work as intended. Processing continued.
        Error = "error",
    }
}

/// The location of a diagnostic: a document, a JSON pointer in it, and a byte range in the text there.
///
/// With the source text, lines and columns can be derived from the pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Location {
    /// Name of the file or document, from the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Arc<str>>,
    /// JSON pointer (RFC 6901) into the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Byte range in the text at the pointer. Without a pointer: in the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// Whether the diagnostic is about the JSON key at the end of the pointer, not its value.
    #[serde(skip)]
    pub is_key: bool,
}

impl Location {
    /// Returns whether the location is unknown.
    pub fn is_empty(&self) -> bool {
        self.document.is_none() && self.pointer.is_none() && self.span.is_none()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = self.pointer.as_deref().map(|pointer| if pointer.is_empty() { "/" } else { pointer });
        let span = self.span.map(|span| format!("bytes {}..{}", span.start, span.end));
        let parts = [self.document.as_deref(), pointer, span.as_deref()];
        for (index, part) in parts.into_iter().flatten().enumerate() {
            f.write_str(if index == 0 { "" } else { " " })?;
            f.write_str(part)?;
        }
        Ok(())
    }
}

/// A byte range in a text: `start` inclusive, `end` exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// End, exclusive.
    pub end: usize,
}

impl Span {
    /// Creates the range `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Returns the length in bytes.
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Returns whether the range is empty.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}
