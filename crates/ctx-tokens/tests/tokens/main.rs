//! Tests of counts and budgets.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

mod agreement;
mod budget;
mod cost;
mod counting;
mod media;
mod models;
