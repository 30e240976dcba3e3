//! Lossless files: typed fields over the JSON value that the file held.
//!
//! A noun reads the keys it knows and keeps all the others. A known key of the wrong type stays as it is,
//! with a diagnostic at its JSON pointer. On save every key that did not change comes back as it was, in its
//! place: load followed by save is the identity on JSON values.
//!
//! Bodies are not held twice: reading moves texts and lists out of the kept value and leaves an empty
//! placeholder of the same type, which marks the key's place.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::codes;
use crate::diagnostic::Diagnostic;

/// A noun that is stored as a JSON value.
pub trait Persist: Sized {
    /// Reads the noun; what cannot be read is kept and reported, so that reading always succeeds.
    fn read(value: Value, reader: &mut Reader) -> Self;

    /// Writes the noun, with everything that its file held.
    fn write(&self) -> Value;
}

/// Collects diagnostics while a document is read, and knows the place in it.
#[derive(Debug, Default)]
pub struct Reader {
    path: Vec<Step>,
    diagnostics: Vec<Diagnostic>,
    suppressed: usize,
}

#[derive(Debug)]
enum Step {
    Key(Arc<str>),
    Index(usize),
}

/// How many findings one document reports before the rest is only counted.
const MAX_DIAGNOSTICS: usize = 1_000;

impl Reader {
    /// Creates a reader at the root of a document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what was found, in document order.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        if self.suppressed > 0 {
            let message = format!("{} more findings in this document are not shown", self.suppressed);
            self.diagnostics.push(Diagnostic::info(codes::MORE_FINDINGS, message));
        }
        self.diagnostics
    }

    /// Returns the JSON pointer of the value being read.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            pointer.push('/');
            match step {
                Step::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Step::Index(index) => pointer.push_str(&index.to_string()),
            }
        }
        pointer
    }

    /// Reports a finding at the value being read, unless it names a place already.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() >= MAX_DIAGNOSTICS {
            self.suppressed += 1;
            return;
        }
        let placed = diagnostic.location.pointer.is_some();
        let diagnostic = if placed { diagnostic } else { diagnostic.at_pointer(self.pointer()) };
        self.diagnostics.push(diagnostic);
    }

    /// Reports that the value being read is not of the type it should have.
    pub fn wrong_type(&mut self, expected: &str, found: &Value) {
        let message = format!("expected {expected}, found {}", describe(found));
        let help = "the value is kept as it is and otherwise ignored";
        self.report(Diagnostic::warning(codes::WRONG_TYPE, message).with_help(help));
    }

    /// Runs `read` one step down at `key`.
    pub fn at_key<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Step::Key(Arc::from(key)));
        let result = read(self);
        self.path.pop();
        result
    }

    /// Runs `read` one step down at `index`.
    pub fn at_index<T>(&mut self, index: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Step::Index(index));
        let result = read(self);
        self.path.pop();
        result
    }
}

/// Names a JSON value's type and, if short, the value.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("the boolean `{value}`"),
        Value::Number(value) => format!("the number `{value}`"),
        Value::String(text) if text.chars().count() <= 40 => format!("the text `{}`", text.escape_debug()),
        Value::String(_) => "a text".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// What a noun's file held beside its typed fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept(pub(crate) Value);

impl Default for Kept {
    fn default() -> Self {
        Self(Value::Object(Map::new()))
    }
}

impl Kept {
    /// Returns the value of a key that the noun has no typed field for.
    ///
    /// Keys with a typed field may hold an empty placeholder here.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Sets a key that the noun has no typed field for.
    pub fn set(&mut self, key: &str, value: Value) {
        if let Value::Object(map) = &mut self.0 {
            map.insert(key.to_owned(), value);
        }
    }

    /// Tells whether the file held something else than an object where the noun should stand.
    pub fn is_malformed(&self) -> bool {
        !self.0.is_object()
    }
}

/// A typed field of a noun.
///
/// `take` reads the slot of the kept value and may move its body out, leaving an empty value of the same
/// type; `put` writes the field back. An unchanged field leaves the slot as the file had it.
pub(crate) trait Field: Sized {
    fn take(slot: Option<&mut Value>, reader: &mut Reader) -> Self;
    fn put(&self, map: &mut Map<String, Value>, key: &str);
}

/// Writes a field of a small type: only if reading the slot again would give another value.
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

/// Sets or removes a key, keeping the order of the others.
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

/// Declares a noun: a struct of typed fields over the kept value of its file.
macro_rules! noun {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident {
            $( $(#[$field_meta:meta])* $field:ident : $Type:ty => $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $Name {
            $( $(#[$field_meta])* pub $field: $Type, )*
            /// Everything else that the file held.
            pub kept: $crate::persist::Kept,
        }

        impl $crate::persist::Persist for $Name {
            fn read(mut value: serde_json::Value, reader: &mut $crate::persist::Reader) -> Self {
                let serde_json::Value::Object(map) = &mut value else {
                    reader.wrong_type("an object", &value);
                    return Self { kept: $crate::persist::Kept(value), ..Self::default() };
                };
                $( let $field = reader.at_key($key, |reader| {
                    <$Type as $crate::persist::Field>::take(map.get_mut($key), reader)
                }); )*
                Self { $( $field, )* kept: $crate::persist::Kept(value) }
            }

            fn write(&self) -> serde_json::Value {
                let mut map = self.kept.0.as_object().cloned().unwrap_or_default();
                $( $crate::persist::Field::put(&self.$field, &mut map, $key); )*
                if self.kept.is_malformed() && map.is_empty() {
                    return self.kept.0.clone();
                }
                serde_json::Value::Object(map)
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
pub(crate) use noun;
