//! Tests of the runner and of processor settings.
#![expect(
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests are easier to read"
)]

mod run;
mod settings;
