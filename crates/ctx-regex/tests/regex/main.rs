//! Tests of regular expressions against the results of JavaScript.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]

mod catastrophic;
mod errors;
mod limits;
mod literal;
mod node;
mod properties;
mod replacement;
