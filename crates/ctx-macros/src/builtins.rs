//! The built-in macros, one module for each family.
//!
//! Adding one: a `Definition` in its family's list and the function that makes its value.

mod core;
mod text;
mod time;
mod variables;

use crate::definition::Definition;

/// Returns all built-in macros in the order in which they are listed.
pub(crate) fn all() -> impl Iterator<Item = Definition> {
    [core::definitions(), text::definitions(), variables::definitions(), time::definitions()]
        .into_iter()
        .flatten()
}
