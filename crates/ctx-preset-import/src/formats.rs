//! The forms of other applications, each with what reads it, which records what became of its fields, and what writes it.

pub(crate) mod aio_hub;
pub(crate) mod lorebook;
pub(crate) mod risu;
pub(crate) mod sillytavern;
