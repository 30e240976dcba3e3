//! Tests of compiling and assembling agents.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a panic fails the test")]

mod append_only;
mod append_only_conversations;
mod append_only_costs;
mod appended_messages;
mod attachments;
mod block_order;
mod catastrophic_patterns;
mod determinism;
mod generate;
mod imported;
mod limits;
mod lint_rules;
mod pipeline;
mod properties;
mod repeats;
mod request_fields;
mod stable;
