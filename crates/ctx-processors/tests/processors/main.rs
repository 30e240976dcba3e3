//! Tests of the built-in processors.
#![expect(
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests are easier to read"
)]

mod formatters;
mod inputs;
mod limiter;
mod rules;
mod variables;
