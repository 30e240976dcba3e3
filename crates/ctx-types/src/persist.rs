//! Lossless files: typed fields over the original JSON value.
//!
//! Unknown keys and values of the wrong type are kept. Saving an unchanged file restores the same JSON value,
//! in the same key order.
//!
//! To save memory, reading moves texts and lists out of the original value and leaves an empty placeholder of
//! the same type.

mod unknown_keys;

pub use unknown_keys::UnknownKeys;
pub(crate) use unknown_keys::UnknownKeysCache;

use crate::Phrase;
use crate::internal::{Argument, Divider};
use crate::phrase;
use serde_json::{Map, Value};

use crate::codes;
use crate::diagnostic::{Diagnostic, Severity};
use crate::fix::Fix;
use crate::message::Role;
use crate::pointer::pointer_step;
use crate::suggest::{NearestName, nearest};
use crate::wording::excerpt;

/// A type with a lossless JSON format.
pub trait Persist: Sized {
    /// Reads a value. Invalid parts are kept and reported.
    fn read(value: Value, reader: &mut Reader) -> Self;

    /// Writes the value, including unknown keys.
    fn write(&self) -> Value;
}

impl<T: Persist> Persist for Box<T> {
    fn read(value: Value, reader: &mut Reader) -> Self {
        Self::new(T::read(value, reader))
    }

    fn write(&self) -> Value {
        (**self).write()
    }
}

/// Collects diagnostics and tracks the JSON pointer while reading.
///
/// Reports at most 1,000 diagnostics and 1 MiB per document, and counts the others.
#[derive(Debug, Default)]
pub struct Reader {
    pointer: String,
    diagnostics: Vec<Diagnostic>,
    bytes: usize,
    suppressed: usize,
    /// Highest severity of the suppressed diagnostics.
    worst: Option<Severity>,
    pub(crate) comparisons: usize,
}

const MAX_DIAGNOSTICS: usize = 1_000;

/// Includes pointers: keys have any length.
const MAX_DIAGNOSTIC_BYTES: usize = 1 << 20;

impl Reader {
    /// Creates a reader at the root of a document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the diagnostics, in reading order.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        if let Some(severity) = self.worst {
            let more = Diagnostic::more(self.suppressed, "this document");
            self.diagnostics.push(Diagnostic { severity, ..more });
        }
        self.diagnostics
    }

    /// Returns the current JSON pointer.
    pub fn pointer(&self) -> String {
        self.pointer.clone()
    }

    /// Adds a diagnostic, at the current pointer unless it has one.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.suppress(diagnostic.severity) {
            return;
        }
        let placed = diagnostic.location.pointer.is_some();
        let diagnostic = if placed { diagnostic } else { diagnostic.at_pointer(self.pointer()) };
        let pointer = diagnostic.location.pointer.as_ref().map_or(0, String::len);
        self.bytes = self.bytes.saturating_add(diagnostic.message.to_string().len()).saturating_add(pointer);
        self.diagnostics.push(diagnostic);
    }

    /// Counts a diagnostic and returns true if the limit is reached.
    pub(crate) fn suppress(&mut self, severity: Severity) -> bool {
        if self.is_full() {
            self.suppressed += 1;
            self.worst = self.worst.max(Some(severity));
        }
        self.is_full()
    }

    /// Reports an invalid type.
    pub fn wrong_type(&mut self, expected: impl Into<Phrase>, found: &Value) {
        self.wrong_type_for(expected, found, None);
    }

    /// Like [`Reader::wrong_type`], with the corrected value as a fix.
    pub(crate) fn wrong_type_for(
        &mut self,
        expected: impl Into<Phrase>,
        found: &Value,
        meant: Option<Value>,
    ) {
        let message = phrase!(
            "expected {expected}, found {found}",
            expected = expected.into(),
            found = describe(found)
        );
        let help = match &meant {
            Some(Value::String(_)) if found.is_number() => {
                phrase!("put the value in quotes to make it a string; it is ignored until then")
            }
            Some(Value::Array(_)) => {
                phrase!("put the value in brackets to make it a list; it is ignored until then")
            }
            Some(Value::String(word)) => {
                phrase!("did you mean `{word}`? The value is ignored until then", word)
            }
            _ => phrase!("correct the value; it is ignored until then"),
        };
        let mut wrong = Diagnostic::error(codes::WRONG_TYPE, message).with_help(help);
        wrong.fix = meant.map(|meant| Box::new(Fix::value(meant)));
        self.report(wrong);
    }

    /// Reports an unknown role, with the role that was probably meant.
    pub fn unknown_role(&mut self, found: &Value, meant: Option<&str>) {
        let is_greeting = self.pointer().starts_with("/greetings/");
        let role = if is_greeting { Role::Assistant } else { Role::default() };
        let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        let (found, role) = (excerpt(&found), role.as_str());
        let message = phrase!("unknown role `{found}`; the message is sent as `{role}`", found, role);
        let help = match meant {
            Some(word) => phrase!("did you mean `{word}`?", word),
            None => phrase!("use {roles}", roles = Argument::names(Role::WORDS, Divider::Or)),
        };
        let mut unknown = Diagnostic::error(codes::WRONG_TYPE, message).with_help(help);
        unknown.fix = meant.map(|meant| Box::new(Fix::value(Value::from(meant))));
        self.report(unknown);
    }

    /// Reports an invalid type that was converted to `meant`.
    pub(crate) fn loose_type(&mut self, expected: impl Into<Phrase>, found: &Value, meant: Value) {
        let message = phrase!(
            "expected {expected}, found {found}, which is converted",
            expected = expected.into(),
            found = describe(found)
        );
        self.report(Diagnostic::warning(codes::LOOSE_TYPE, message).with_fix(Fix::value(meant)));
    }

    /// Reads a known key of an object; null counts as missing. Reports `wrong` if `read` rejects the value.
    pub fn field<'v, T>(
        &mut self,
        object: &'v Map<String, Value>,
        key: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
        wrong: impl FnOnce(&Value) -> Diagnostic,
    ) -> Option<T> {
        let value = object.get(key).filter(|value| !value.is_null())?;
        let result = read(value);
        if result.is_none() {
            self.at_key(key, |reader| reader.report(wrong(value)));
        }
        result
    }

    /// Reports keys of an object that are not known, with the most similar known key.
    pub fn unknown_fields(
        &mut self,
        object: &Map<String, Value>,
        known: &[&str],
        unknown: impl Fn(&str, Option<NearestName<'_>>) -> Diagnostic,
    ) {
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            let near = nearest(key, known.iter().copied());
            self.at_key(key, |reader| reader.report(unknown(key, near).about_key()));
        }
    }

    /// Runs `read` with the pointer at a key.
    pub fn at_key<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.enter_key(key);
        let result = read(self);
        self.leave(before);
        result
    }

    /// Runs `read` with the pointer at an index.
    pub fn at_index<T>(&mut self, index: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.enter_index(index);
        let result = read(self);
        self.leave(before);
        result
    }

    /// Moves to a key. Pass the result to [`Reader::leave`].
    pub fn enter_key(&mut self, key: &str) -> usize {
        self.enter(&pointer_step(key))
    }

    /// Moves the pointer to an index, like [`Reader::enter_key`].
    pub fn enter_index(&mut self, index: usize) -> usize {
        self.enter(&index.to_string())
    }

    /// Moves the pointer back.
    pub fn leave(&mut self, before: usize) {
        self.pointer.truncate(before);
    }

    fn enter(&mut self, step: &str) -> usize {
        let before = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        before
    }

    fn is_full(&self) -> bool {
        self.diagnostics.len() >= MAX_DIAGNOSTICS || self.bytes >= MAX_DIAGNOSTIC_BYTES
    }
}

fn describe(value: &Value) -> Phrase {
    match value {
        Value::Null => phrase!("null"),
        Value::Bool(value) => phrase!("the boolean `{value}`", value = value.to_string()),
        Value::Number(value) => phrase!("the number `{value}`", value = value.to_string()),
        Value::String(text) => phrase!("the string `{text}`", text = excerpt(text)),
        Value::Array(items) => phrase!("a list of {count}", count = items.len()),
        Value::Object(_) => phrase!("an object"),
    }
}

/// `take` reads a slot of the original value and may leave a placeholder. `put` writes the field; an
/// unchanged field keeps the slot.
pub(crate) trait Field: Sized {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self;
    fn put(&self, map: &mut Map<String, Value>, key: &str);

    #[cfg(feature = "schema")]
    fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema;
}

/// The other keys of an object, and those with a typed field.
pub(crate) trait KnownKeys {
    fn known_keys(&self) -> (&UnknownKeys, &'static [&'static str]);
}

pub(crate) fn take_at<T: Field>(key: &str, slot: Option<&mut Value>, reader: &mut Reader) -> T {
    match slot {
        None => T::take(None, reader),
        Some(slot) => reader.at_key(key, |reader| T::take(Some(slot), reader)),
    }
}

pub(crate) fn put_if_changed<T: Field + PartialEq>(
    field: &T,
    map: &mut Map<String, Value>,
    key: &str,
    value: Option<Value>,
) {
    let mut slot = map.get(key).cloned();
    if T::take(slot.as_mut(), &mut Reader::new()) == *field {
        return;
    }
    put_value(map, key, value);
}

pub(crate) fn put_value(map: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    match value {
        Some(value) => {
            map.insert(key.to_owned(), value);
        }
        None => {
            map.shift_remove(key);
        }
    }
}

#[cfg(feature = "schema")]
pub(crate) use schemars::JsonSchema as MaybeJsonSchema;

#[cfg(not(feature = "schema"))]
pub(crate) trait MaybeJsonSchema {}

#[cfg(not(feature = "schema"))]
impl<T> MaybeJsonSchema for T {}

/// Declares a field of one JSON type. Reports other formats, and reads those that `$loose` understands.
macro_rules! loose_field {
    ($Type:ty, $expected:literal, $schema:expr, $strict:expr, $loose:expr, $write:expr) => {
        impl crate::persist::Field for Option<$Type> {
            fn take(slot: Option<&mut Value>, reader: &mut crate::persist::Reader) -> Self {
                let strict: fn(&Value) -> Option<$Type> = $strict;
                let loose: fn(&Value) -> Option<$Type> = $loose;
                let write: fn(&$Type) -> Value = $write;
                let value = slot.filter(|value| !value.is_null())?;
                if let Some(found) = strict(value) {
                    return Some(found);
                }
                if let Some(found) = loose(value) {
                    reader.loose_type($expected, value, write(&found));
                    return Some(found);
                }
                // Suggest the value without quotes.
                let unquoted = value.as_str().and_then(|text| serde_json::from_str(text.trim()).ok());
                let meant = unquoted.filter(|meant| strict(meant).is_some());
                reader.wrong_type_for($expected, value, meant);
                None
            }

            fn put(&self, map: &mut Map<String, Value>, key: &str) {
                let write: fn(&$Type) -> Value = $write;
                crate::persist::put_if_changed(self, map, key, self.as_ref().map(write));
            }

            #[cfg(feature = "schema")]
            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema = $schema;
                schema(generator)
            }
        }
    };
}
pub(crate) use loose_field;

#[cfg(feature = "schema")]
macro_rules! field_schema {
    ($generator:ident, $Type:ty) => {
        <$Type as $crate::persist::Field>::schema($generator)
    };
    ($generator:ident, $Type:ty, one_of $words:expr) => {
        $crate::schema::one_of(&$words, <$Type as $crate::persist::Field>::schema($generator))
    };
    ($generator:ident, $Type:ty, at_least $minimum:expr) => {
        $crate::schema::at_least($minimum, <$Type as $crate::persist::Field>::schema($generator))
    };
    ($generator:ident, $Type:ty, such_as $words:expr) => {
        $crate::schema::such_as(&$words, <$Type as $crate::persist::Field>::schema($generator))
    };
}
#[cfg(feature = "schema")]
pub(crate) use field_schema;

/// Declares a struct of typed fields over the original JSON value.
///
/// Doc comments are also the descriptions in its JSON Schema. A key may be followed by known values, `[one_of
/// WORDS]` if others are reported or `[such_as WORDS]`, or by a minimum, `[at_least NUMBER]`.
macro_rules! data_type {
    (
        $(#[doc = $about:literal])*
        pub struct $Name:ident {
            $( $(#[doc = $field_about:literal])* $field:ident : $Type:ty => $key:literal $([$which:ident $words:expr])?, )*
        }
    ) => {
        $(#[doc = $about])*
        ///
        /// Two values are equal if they write equal JSON, in any key order.
        #[derive(Clone, Debug, Default)]
        pub struct $Name {
            $( $(#[doc = $field_about])* pub $field: $Type, )*
            /// Unknown keys of the file.
            pub kept: $crate::persist::UnknownKeys,
        }

        impl $Name {
            /// The keys with a typed field.
            pub const KEYS: &'static [&'static str] = &[$($key),*];
        }

        impl $crate::persist::KnownKeys for $Name {
            fn known_keys(&self) -> (&$crate::persist::UnknownKeys, &'static [&'static str]) {
                (&self.kept, Self::KEYS)
            }
        }

        impl $crate::persist::Persist for $Name {
            fn read(mut value: serde_json::Value, reader: &mut $crate::persist::Reader) -> Self {
                let serde_json::Value::Object(map) = &mut value else {
                    reader.wrong_type("an object", &value);
                    return Self { kept: $crate::persist::UnknownKeys::new(value), ..Self::default() };
                };
                // Files contain few of the keys; a hash lookup is slower.
                $( let mut $field = None; )*
                for (key, slot) in map.iter_mut() {
                    match key.as_str() {
                        $( $key => $field = Some(slot), )*
                        _ => {}
                    }
                }
                $( let $field: $Type = $crate::persist::take_at($key, $field, reader); )*
                Self { $( $field, )* kept: $crate::persist::UnknownKeys::new(value) }
            }

            fn write(&self) -> serde_json::Value {
                let mut map = self.kept.map().cloned().unwrap_or_default();
                $( $crate::persist::Field::put(&self.$field, &mut map, $key); )*
                match self.kept.malformed() {
                    Some(value) if map.is_empty() => value.clone(),
                    _ => serde_json::Value::Object(map),
                }
            }
        }

        impl PartialEq for $Name {
            fn eq(&self, other: &Self) -> bool {
                use $crate::persist::Persist as _;
                // Only fields that came from a file have placeholders.
                $( self.$field == other.$field && )*
                    (self.kept == other.kept || self.write() == other.write())
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $Name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let properties = [$( (
                    $key,
                    concat!($($field_about, "\n"),*),
                    $crate::persist::field_schema!(generator, $Type $(, $which $words)?),
                ) ),*];
                $crate::schema::object(concat!($($about, "\n"),*), properties)
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&$crate::persist::Persist::write(self), serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = <serde_json::Value as serde::Deserialize>::deserialize(deserializer)?;
                let mut reader = $crate::persist::Reader::new();
                Ok(<Self as $crate::persist::Persist>::read(value, &mut reader))
            }
        }
    };
}
pub(crate) use data_type;
