use serde_json::Value;

/// An automatic, unambiguous edit that fixes a diagnostic.
///
/// Check the document again afterwards.
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
    /// Relative to the diagnostic's location.
    below: String,
    /// The edit.
    pub edit: Edit,
}

/// A change of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Replaces the value.
    Value(Value),
    /// Adds a missing key with the value.
    Insert(Value),
    /// Renames the last key of the pointer.
    Key(String),
    /// Replaces the first `old` in the diagnostic's text range.
    Part {
        /// The old text.
        old: String,
        /// The new text.
        new: String,
    },
}

impl Fix {
    /// Replaces the value.
    pub fn value(value: impl Into<Value>) -> Self {
        Self { below: String::new(), edit: Edit::Value(value.into()) }
    }

    /// Replaces the value with a text.
    pub fn text(text: &str) -> Self {
        Self::value(text)
    }

    /// Adds a missing key with a value. [`Self::below`] names the key.
    pub fn insert(value: impl Into<Value>) -> Self {
        Self { below: String::new(), edit: Edit::Insert(value.into()) }
    }

    /// Renames the key.
    pub fn key(name: &str) -> Self {
        Self { below: String::new(), edit: Edit::Key(name.to_owned()) }
    }

    /// Replaces the first `old` in the diagnostic's range with `new`.
    pub fn part(old: &str, new: &str) -> Self {
        Self { below: String::new(), edit: Edit::Part { old: old.to_owned(), new: new.to_owned() } }
    }

    /// Moves the edit to a pointer below the diagnostic's location.
    #[must_use]
    pub fn below(mut self, pointer: &str) -> Self {
        pointer.clone_into(&mut self.below);
        self
    }

    /// Returns the JSON pointer of the edit, given the diagnostic's pointer.
    pub fn pointer(&self, of_finding: &str) -> String {
        format!("{of_finding}{}", self.below)
    }
}
