//! Stores, the client and turns, against servers that answer by a script.
#![expect(clippy::unwrap_used, reason = "tests read better so")]

mod assets;
mod client;
mod folder;
#[path = "../server/room.rs"]
mod room;
#[path = "../server/mod.rs"]
mod server;
mod store;
mod turn;
