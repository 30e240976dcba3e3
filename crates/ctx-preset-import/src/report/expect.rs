//! What a field must be for its rule to hold.

use serde_json::Value;

use crate::loose::whole_of;

/// What a field must be for its rule to hold; null always does, and means that the field is not there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expect {
    Any,
    Text,
    /// A text that is one of these.
    Named(&'static [&'static str]),
    /// A number, and no text that is one.
    PlainNumber,
    /// A whole number that is not below this, or a text that is one.
    Whole(i64),
    /// One of these whole numbers, or a text that is one.
    Among(&'static [i64]),
    Flag,
}

impl Expect {
    /// Tells whether a value is that.
    pub(super) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            _ if value.is_null() => true,
            Self::Text => value.is_string(),
            Self::Named(names) => value.as_str().is_some_and(|name| names.contains(&name)),
            Self::PlainNumber => value.is_number(),
            Self::Whole(least) => whole_of(value).is_some_and(|whole| whole >= least),
            Self::Among(numbers) => whole_of(value).is_some_and(|whole| numbers.contains(&whole)),
            Self::Flag => value.is_boolean(),
        }
    }
}
