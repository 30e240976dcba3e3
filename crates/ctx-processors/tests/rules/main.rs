//! Regex rules on texts, without the pipeline, and the processor that runs them on messages.
#![expect(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests read better so")]

mod case;
mod files;
mod findings;
mod limits;
mod macros;
mod processor;
mod properties;
mod provenance;
mod replacing;
mod scopes;
