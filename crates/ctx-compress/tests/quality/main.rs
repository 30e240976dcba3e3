//! The quality report through the public API: on the labelled conversations, on cases written by hand, and on
//! whatever comes along.

#![expect(clippy::unwrap_used, reason = "a broken expectation is a failed test")]

mod cases;
mod dialogues;
mod labels;
mod property;
mod recalled;
mod set;
