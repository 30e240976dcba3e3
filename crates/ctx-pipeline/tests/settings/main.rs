//! Settings of processors: layers, spellings, findings, and what a user stores.
#![expect(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests read better so")]

mod case;
mod findings;
mod limits;
mod merge;
mod old;
mod order;
mod registry;
mod stored;
mod values;
