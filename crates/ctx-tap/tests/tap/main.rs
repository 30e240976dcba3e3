//! A client and a server, both scripted, with the proxy between them. All bytes are compared in both directions.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test ends where something is not as expected, and its numbers are small"
)]

mod bodies;
mod endings;
mod heads;
mod log;
mod websocket;
mod wire;
