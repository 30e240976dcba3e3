//! Regex rules, with and without the pipeline.

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
