//! Tests of the gateway over HTTP, with a scripted provider.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends where something is not as expected")]

mod attacks;
mod bytes;
mod calls;
mod conversations;
mod dialects;
mod processes;
mod prompt_cache;
mod running;
#[path = "../../../ctx-chat/tests/server/mod.rs"]
mod server;
mod streams;
mod test_gateway;
