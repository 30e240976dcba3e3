//! Session variables: what the messages of a conversation set, and what texts show of it.
//!
//! Pure: definitions come from an agent's file, changes from tags such as `<svar name="hp" op="-" value="5"/>` in
//! messages, and `$[hp]` in a text stands for a value. Nothing here knows the pipeline.

mod definitions;
mod listing;
mod reference;
mod state;
mod tag;
mod value;

pub use definitions::{VariableDefinition, VariableDefinitions};
pub(crate) use reference::{References, Unknown};
pub use state::Variables;
pub use value::VariableValue;
