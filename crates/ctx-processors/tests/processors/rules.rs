//! Regex rules on texts, without the pipeline, and the processor that runs them on messages.

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
