//! A client and a server, both scripted, with the proxy between them. All bytes are compared in both directions.

mod bodies;
mod endings;
mod heads;
mod log;
mod websocket;
mod wire;
