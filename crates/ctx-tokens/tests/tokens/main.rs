//! Tests of counts and budgets.

#![allow(clippy::unwrap_used, reason = "a broken expectation is a failed test")]

mod agreement;
mod budget;
mod cost;
mod counting;
mod media;
mod models;
