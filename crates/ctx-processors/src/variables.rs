//! Session variables, independent of the pipeline.
//!
//! An agent defines variables. Tags such as `<svar name="hp" op="-" value="5"/>` in messages change them, and
//! `$[hp]` in a text inserts a value.

mod definitions;
mod listing;
mod reference;
mod state;
mod tag;
mod value;

pub use definitions::{VariableDefinition, VariableDefinitions};
pub(crate) use reference::{References, UnknownReference};
pub use state::Variables;
pub use value::VariableValue;
