//! Tests of scans.
#![expect(clippy::unwrap_used, reason = "a broken expectation is a failed test")]
#![expect(clippy::needless_pass_by_value, reason = "cases read better where they are given")]

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
