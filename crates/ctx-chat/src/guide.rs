//! The Rust code of the guide's pages about chats, which is compiled and run as the documentation tests are.

#[doc = include_str!("../../../docs/guide/tauri.md")]
mod tauri {}
