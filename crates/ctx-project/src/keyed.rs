//! Declares objects in project files once, for their readers and their JSON schemas.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Deref;

use ctx_chat::redact_text;
use ctx_types::internal::{NearestName, excerpt};
use ctx_types::{Diagnostic, Fix, Phrase, phrase};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::codes;
use crate::keys::Keys;

/// The type of a key's value: its reader and its JSON schema.
pub trait KeyValue {
    /// Reads the value of a key.
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self;

    /// Describes the values that are read without a diagnostic.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// A text with a restricted syntax, such as a time zone.
pub trait Meaning: Sized {
    /// Parses the text, or explains why it is invalid.
    fn parse(text: &str) -> Result<Self, Meaningless>;

    /// Describes the valid texts.
    fn schema() -> Schema;
}

/// The reason why a text is invalid.
#[derive(Debug)]
pub struct Meaningless {
    /// Reason. The message puts it after the text.
    what: Phrase,
    /// The valid text that is probably meant, and whether that is certain.
    near: Option<(String, bool)>,
    /// Fix if no valid text is similar.
    help: Option<Phrase>,
}

impl Meaningless {
    /// Creates a reason. The message puts it after the text.
    pub fn new(what: Phrase) -> Self {
        Self { what, near: None, help: None }
    }

    /// Suggests a similar text.
    #[must_use]
    pub fn near(mut self, near: Option<NearestName<'_>>) -> Self {
        self.near = near.map(|near| (near.name.to_owned(), near.is_certain));
        self
    }

    /// Sets the fix for a text without a similar valid text.
    #[must_use]
    pub fn otherwise(mut self, help: Phrase) -> Self {
        self.help = Some(help);
        self
    }

    /// Reports a diagnostic about a value in a file.
    pub fn finding(self, text: &str) -> Diagnostic {
        let finding = Diagnostic::error(
            codes::BAD_VALUE,
            phrase!("`{text}` {what}", text = excerpt(&redact_text(text)), what = self.what),
        );
        match (self.near, self.help) {
            (Some((name, is_certain)), _) => {
                finding.with_guess(NearestName { name: &name, is_certain }, Fix::text)
            }
            (None, Some(help)) => finding.with_help(help),
            (None, None) => finding,
        }
    }

    /// Describes the reason and the fix in one line, to be put after the text.
    pub fn line(&self) -> Phrase {
        let what = &self.what;
        match (&self.near, &self.help) {
            (Some((name, _)), _) => phrase!("{what}; did you mean `{name}`?", what, name),
            (None, Some(help)) => phrase!("{what}; {help}", what, help),
            (None, None) => self.what.clone(),
        }
    }
}

/// A non-empty text, such as a path.
#[derive(Clone, Debug)]
pub struct Filled(pub String);

impl Deref for Filled {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// An object or a list that another reader parses.
#[derive(Debug)]
pub struct Shaped<T> {
    /// Unparsed value.
    pub value: Value,
    shape: PhantomData<T>,
}

/// A number of tokens.
#[derive(Clone, Copy, Debug)]
pub struct Tokens(pub u32);

/// A parsed text.
#[derive(Clone, Debug)]
pub struct Parsed<T>(pub T);

impl KeyValue for Option<String> {
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self {
        keys.text(key).map(str::to_owned)
    }

    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "null"] })
    }
}

impl KeyValue for Option<Filled> {
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self {
        keys.filled(key).map(|text| Filled(text.to_owned()))
    }

    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "null"], "minLength": 1 })
    }
}

impl KeyValue for Vec<String> {
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self {
        keys.texts(key)
    }

    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["array", "null"], "items": { "type": "string" } })
    }
}

impl KeyValue for Option<u64> {
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self {
        keys.number(key)
    }

    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "null"], "minimum": 0 })
    }
}

impl KeyValue for Option<Tokens> {
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self {
        keys.tokens(key).map(Tokens)
    }

    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "null"], "minimum": 0, "maximum": ctx_tokens::internal::MAX_TOKENS })
    }
}

impl KeyValue for bool {
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self {
        keys.flag(key)
    }

    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["boolean", "null"] })
    }
}

impl<T: Meaning> KeyValue for Option<Parsed<T>> {
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self {
        keys.parsed(key, T::parse).map(Parsed)
    }

    fn schema(_generator: &mut SchemaGenerator) -> Schema {
        T::schema()
    }
}

impl<T: JsonSchema> KeyValue for Option<Shaped<T>> {
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self {
        keys.structure(key).map(|value| Shaped { value: value.clone(), shape: PhantomData })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<T>(), { "type": "null" }] })
    }
}

impl KeyValue for Option<TextTable> {
    fn read(keys: &mut Keys<'_>, key: &'static str) -> Self {
        keys.table(key).cloned().map(TextTable)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [generator.subschema_for::<TextTable>(), { "type": "null" }] })
    }
}

/// Describes a text that must be one of these words.
pub fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Schema {
    let words = words.into_iter().map(Value::from);
    json_schema!({ "enum": words.chain([Value::Null]).collect::<Vec<Value>>() })
}

/// Describes an object with these keys only. A mistyped key is an error because it has no effect.
pub fn object<const N: usize>(about: &str, keys: [(&str, &str, Schema); N]) -> Schema {
    let describe = |(key, about, mut schema): (&str, &str, Schema)| {
        schema.insert("description".to_owned(), Value::from(about));
        (key.to_owned(), Value::from(schema))
    };
    let properties: Map<String, Value> = keys.into_iter().map(describe).collect();
    json_schema!({
        "type": "object",
        "description": about,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// An object with text values, such as headers.
#[derive(Debug, Default)]
pub struct TextTable(pub Map<String, Value>);

impl JsonSchema for TextTable {
    fn schema_name() -> Cow<'static, str> {
        "TextTable".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": { "type": "string" } })
    }
}

/// Adds the default number to a schema.
pub fn with_default(mut schema: Schema, default: Option<u64>) -> Schema {
    if let Some(default) = default {
        schema.insert("default".to_owned(), Value::from(default));
    }
    schema
}

/// Defines the table of key rules, if the object declares rules.
macro_rules! rows {
    ($( $key:literal is $rule:expr, )+) => {
        /// Keys with their rules.
        pub const ROWS: &'static [$crate::config::KeyRow] =
            &[$( $crate::config::KeyRow { key: $key, rule: $rule } ),+];
    };
    ($( $key:literal, )*) => {};
}
pub(crate) use rows;

/// Returns the number that applies if a key is missing, if its rule has one.
macro_rules! default_of {
    () => {
        None
    };
    ($rule:expr) => {{
        const RULE: $crate::config::KeyRule = $rule;
        RULE.default
    }};
}
pub(crate) use default_of;

/// Declares an object of a file. Keys are read in this order, and editors show their docs.
macro_rules! keyed {
    (
        $(#[doc = $about:literal])*
        pub struct $Name:ident {
            $( $(#[doc = $key_about:literal])* $field:ident : $Type:ty => $key:literal $(is $rule:expr)?, )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug)]
        #[allow(dead_code, reason = "some keys are for people only")]
        pub struct $Name {
            $( $(#[doc = $key_about])* pub $field: $Type, )*
        }

        impl $Name {
            $crate::keyed::rows! { $( $key $(is $rule)?, )* }

            /// Reads all keys. Collects diagnostics in `keys`.
            pub fn read(keys: &mut $crate::keys::Keys<'_>) -> Self {
                Self { $( $field: <$Type as $crate::keyed::KeyValue>::read(keys, $key), )* }
            }
        }

        impl schemars::JsonSchema for $Name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let keys = [$( (
                    $key,
                    concat!($($key_about, "\n"),*),
                    $crate::keyed::with_default(
                        <$Type as $crate::keyed::KeyValue>::schema(generator),
                        $crate::keyed::default_of!($($rule)?),
                    ),
                ) ),*];
                $crate::keyed::object(concat!($($about, "\n"),*), keys)
            }
        }
    };
}
pub(crate) use keyed;
