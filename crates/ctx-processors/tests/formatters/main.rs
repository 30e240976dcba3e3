//! The formatters, each alone and all together.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "tests read better so"
)]

mod alternating;
mod case;
mod consecutive;
mod convert;
mod head;
mod injections;
mod property;
mod provenance;
mod together;
