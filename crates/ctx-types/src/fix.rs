//! Edits that do what the way out of a finding says.

use serde_json::Value;

/// One edit that does what the way out of a finding says, and is certainly meant or changes no meaning.
///
/// A finding has one only where there is no choice to make. Whoever holds the file applies it and looks again
/// whether the finding is gone.
///
/// ```
/// use ctx_types::{Edit, Fix};
/// use serde_json::json;
///
/// let fix = Fix::value("token-limiter").below("/id");
/// assert_eq!(fix.pointer("/parameters/processors/0"), "/parameters/processors/0/id");
/// assert_eq!(fix.edit, Edit::Value(json!("token-limiter")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Where the edit is, as a JSON pointer from the finding's own place; mostly empty.
    below: String,
    /// What is done there.
    pub edit: Edit,
}

/// What is done to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The value gets another one's place.
    Value(Value),
    /// The last key of the pointer gets another name; its value stays.
    Key(String),
    /// A part of the text at the pointer, which is the first of its kind in the finding's own range, becomes
    /// another one.
    Part {
        /// What stands there.
        old: String,
        /// What shall stand there.
        new: String,
    },
}

impl Fix {
    /// The value gets another one's place.
    pub fn value(value: impl Into<Value>) -> Self {
        Self { below: String::new(), edit: Edit::Value(value.into()) }
    }

    /// The value becomes a text.
    pub fn text(text: &str) -> Self {
        Self::value(text)
    }

    /// The last key of the pointer gets another name.
    pub fn key(name: &str) -> Self {
        Self { below: String::new(), edit: Edit::Key(name.to_owned()) }
    }

    /// The first `old` in the finding's own range becomes `new`.
    pub fn part(old: &str, new: &str) -> Self {
        Self { below: String::new(), edit: Edit::Part { old: old.to_owned(), new: new.to_owned() } }
    }

    /// Reports that the edit is at a value below the finding's own place.
    #[must_use]
    pub fn below(mut self, pointer: &str) -> Self {
        pointer.clone_into(&mut self.below);
        self
    }

    /// Returns the JSON pointer of the edit, for a finding at a pointer.
    pub fn pointer(&self, of_finding: &str) -> String {
        format!("{of_finding}{}", self.below)
    }
}
