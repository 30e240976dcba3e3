//! The server over its own socket: who may ask, files, previews, imports, and what survives.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test ends where something is not as expected")]

mod api;
mod attached;
mod client;
mod differences;
mod file_actions;
mod files;
mod imports;
mod previews;
mod requests;
mod security;
mod settings;
mod sockets;
mod survival;
mod talk;
