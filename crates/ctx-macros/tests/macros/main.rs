//! Tests of macro expansion in all syntaxes.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod aio;
mod aio_host;
mod aio_random;
mod aio_time;
mod allocations;
mod bad_arguments;
mod bad_input;
mod dice;
mod findings;
mod limits;
mod properties;
mod provenance;
mod registration;
mod sillytavern;
mod sillytavern_macros;
mod support;
