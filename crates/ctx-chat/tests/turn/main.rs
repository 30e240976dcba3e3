//! Turns: what is stored, what is sent, what is told, against a server that answers by a script.
#![expect(clippy::unwrap_used, reason = "a broken expectation is a failed test")]

mod briefing;
mod endings;
mod order;
mod recovery;
mod room;
#[path = "../server/mod.rs"]
mod server;
mod sizes;
mod summaries;
mod tools;
