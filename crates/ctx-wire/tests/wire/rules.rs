//! The rules of the providers, dialect by dialect: a table of messages, what is written, and what is reported.

mod anthropic;
mod case;
mod chat;
mod completion;
mod everywhere;
mod gemini;
mod responses;
