//! Tests of the assembly of presets, conversations and injections.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a panic fails the test")]

mod anchors;
mod case;
mod injections;
mod limits;
mod placement;
mod properties;
