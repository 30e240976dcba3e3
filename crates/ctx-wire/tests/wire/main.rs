//! Request bodies, replies and the linter.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a broken expectation is a failed test")]

mod anthropic;
mod lint;
mod lint_parameters;
mod openai_chat;
mod pairing;
mod properties;
mod recorded;
mod replies;
mod request;
mod rules;
