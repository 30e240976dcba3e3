//! What becomes of each field of `SillyTavern`'s files.
//!
//! Rules are data; which of them hold for a document is asked of what reads it, so that no row says of a field that
//! it is mapped where the importer took another one.

pub(crate) mod chat;
