//! Reads objects in project files key by key.

use ctx_tokens::internal::{MAX_TOKENS, read_tokens};
use ctx_types::internal::{Argument, Divider, excerpt, nearest, pointer_step};
use ctx_types::{Diagnostic, Fix, Phrase, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::keyed::Meaningless;
use crate::secrets::redact_value;

/// Reader of an object. Collects a diagnostic with a pointer for each unknown key and each value of a wrong type.
#[derive(Debug)]
pub struct Keys<'v> {
    values: &'v Map<String, Value>,
    known: Vec<&'static str>,
    found: Vec<Diagnostic>,
    /// Whether the value of a key may be a secret, which no diagnostic repeats.
    is_secret: fn(&str) -> bool,
}

impl<'v> Keys<'v> {
    /// Starts to read a value. Returns an error if it is not an object.
    pub fn of(value: &'v Value) -> Result<Self, Box<Diagnostic>> {
        Self::with_secrets(value, |_| false)
    }

    /// Like [`of`](Self::of), but diagnostics do not repeat the values of keys that may be secrets.
    pub(crate) fn with_secrets(
        value: &'v Value,
        is_secret: fn(&str) -> bool,
    ) -> Result<Self, Box<Diagnostic>> {
        match value {
            Value::Object(values) => Ok(Self { values, known: Vec::new(), found: Vec::new(), is_secret }),
            other => Err(Box::new(wrong("an object with keys", other, is_secret("")).at_pointer(""))),
        }
    }

    /// Reads a text.
    pub fn text(&mut self, key: &'static str) -> Option<&'v str> {
        self.read(key, "a string", Value::as_str)
    }

    /// Reads a text and parses it.
    pub fn parsed<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, Meaningless>,
    ) -> Option<T> {
        let text = self.text(key)?;
        parse(text).map_err(|error| self.report(key, error.finding(text), None)).ok()
    }

    /// Reads a non-empty text.
    pub fn filled(&mut self, key: &'static str) -> Option<&'v str> {
        let text = self.text(key)?;
        if text.is_empty() {
            let wrong = wrong("a string that is not empty", &Value::from(text), false);
            self.report(key, wrong, Some("a string that is not empty".into()));
        }
        Some(text).filter(|text| !text.is_empty())
    }

    /// Reads a non-negative integer.
    pub fn number<T: TryFrom<u64>>(&mut self, key: &'static str) -> Option<T> {
        self.read(key, "a whole number from 0 on", |value| T::try_from(value.as_u64()?).ok())
    }

    /// Reads a number of tokens.
    pub fn tokens(&mut self, key: &'static str) -> Option<u32> {
        self.read(key, tokens_expected(), read_tokens)
    }

    /// Reads a boolean. The default is `false`.
    pub fn flag(&mut self, key: &'static str) -> bool {
        self.read(key, "true or false", Value::as_bool).unwrap_or_default()
    }

    /// Reads a list of texts. The default is an empty list.
    pub fn texts(&mut self, key: &'static str) -> Vec<String> {
        let texts = |value: &Value| {
            let texts = value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>()
        };
        self.read(key, "a list of strings", texts).unwrap_or_default()
    }

    /// Returns a table of texts without checking its values.
    pub fn table(&mut self, key: &'static str) -> Option<&'v Map<String, Value>> {
        self.read(key, "a table whose values are strings", Value::as_object)
    }

    /// Returns an object or a list without parsing it.
    pub fn structure(&mut self, key: &'static str) -> Option<&'v Value> {
        self.read(key, "an object or a list", |value| {
            (value.is_object() || value.is_array()).then_some(value)
        })
    }

    /// Returns all diagnostics, with a warning for each unknown key.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        for key in self.values.keys().filter(|key| !self.known.contains(&key.as_str())) {
            let unknown =
                Diagnostic::warning(codes::UNKNOWN_KEY, phrase!("unknown key `{key}`", key = excerpt(key)))
                    .about_key();
            let unknown = match nearest(key, self.known.iter().copied()) {
                Some(near) if self.values.contains_key(near.name) => unknown
                    .with_help(phrase!("remove this key or `{near}`, which is also set", near = near.name)),
                Some(near) => unknown.with_guess(near, Fix::key),
                None => {
                    let known = Argument::names(&self.known, Divider::Comma);
                    unknown.with_help(phrase!("use one of {known}", known))
                }
            };
            let pointer = format!("/{}", pointer_step(key));
            self.found.push(unknown.at_pointer(pointer));
        }
        self.found
    }

    /// Reports the value of a key, by its name. Without another fix, the fix is to write what is expected.
    fn report(&mut self, key: &'static str, mut finding: Diagnostic, expected: Option<Phrase>) {
        finding.message = phrase!("`{key}`: {message}", key, message = finding.message);
        if finding.help.is_none() {
            finding.help = Some(match expected {
                Some(expected) => phrase!("write {expected}, or remove `{key}`", expected, key),
                None => phrase!("correct the value, or remove `{key}`", key),
            });
        }
        self.found.push(finding.at_pointer(format!("/{key}")));
    }

    /// Reads the value of a key. Treats null as missing.
    fn read<T>(
        &mut self,
        key: &'static str,
        expected: impl Into<Phrase>,
        read: impl Fn(&'v Value) -> Option<T>,
    ) -> Option<T> {
        self.known.push(key);
        let value = self.values.get(key).filter(|value| !value.is_null())?;
        let known = read(value);
        if known.is_none() {
            let expected = expected.into();
            let wrong = wrong(expected.clone(), value, (self.is_secret)(key));
            self.report(key, wrong, Some(expected));
        }
        known
    }
}

/// Describes a valid number of tokens.
fn tokens_expected() -> Phrase {
    phrase!("a whole number from 0 to {most}", most = MAX_TOKENS)
}

fn wrong(expected: impl Into<Phrase>, found: &Value, is_secret: bool) -> Diagnostic {
    let expected = expected.into();
    if is_secret {
        return Diagnostic::error(codes::BAD_VALUE, phrase!("expected {expected}", expected));
    }
    // A table or list may contain secrets.
    let message = match found {
        Value::Object(_) => {
            phrase!("expected {expected}, found {found}", expected, found = phrase!("a table"))
        }
        Value::Array(_) => phrase!("expected {expected}, found {found}", expected, found = phrase!("a list")),
        found => {
            let shown = redact_value(found).to_string();
            phrase!("expected {expected}, found `{value}`", expected, value = excerpt(&shown))
        }
    };
    Diagnostic::error(codes::BAD_VALUE, message)
}
