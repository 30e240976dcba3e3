//! Turns: what is stored, what is sent, what is told, against a server that answers by a script.

mod briefing;
mod endings;
mod order;
mod recovery;
mod sizes;
mod summaries;
mod tools;
