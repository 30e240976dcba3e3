//! Tests of scans.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::needless_pass_by_value, reason = "call sites are easier to read")]

mod bad_input;
mod budget;
mod case;
mod decorators;
mod filters;
mod groups;
mod keys;
mod lint;
mod output;
mod properties;
mod recursion;
mod timed;
