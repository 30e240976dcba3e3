//! Tests of the data types and their files.

#![allow(
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a panic fails the test"
)]

mod config_field;
mod misspelled_keys;
mod persist;
mod persist_property;
mod placement;
mod session;
mod worldbook;
