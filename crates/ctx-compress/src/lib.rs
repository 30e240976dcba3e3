//! Compression of conversations that can be undone, explained and measured.
//!
//! Layer L2, pure: it knows no pipeline, no LLM client, no clock and no store.
#![warn(clippy::disallowed_methods)]
