//! Goldens: cases whose results were observed in another program, run through the public API of ours.
//!
//! A file holds `{"cases": [{"id", "kind", "input", "output"}]}`. Each kind of case has one entry in [`KINDS`]:
//! a function from `input` to a value of the shape of `output`. Nothing here knows a case by its name.

mod case;
mod chat_completion;
mod macros;
mod recorded_request;
mod regex;
mod report;
mod world_info;

pub use case::{Case, GoldenFile, read_folder};
pub use report::{Outcome, Report, run};

use serde_json::Value;

/// A kind of case.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What a case writes in `kind`.
    pub name: &'static str,
    /// Makes the output of an input.
    pub run: fn(&Value) -> anyhow::Result<Value>,
}

/// Every kind that can be run; a case of another kind fails.
pub const KINDS: &[Kind] = &[
    Kind { name: "macro", run: macros::run },
    Kind { name: "regex_run", run: regex::run },
    Kind { name: "regex_gate", run: regex::gate },
    Kind { name: "regex_depth", run: regex::depth },
    Kind { name: "world_info_scan", run: world_info::run },
    Kind { name: "chat_completion_assembly", run: chat_completion::run },
    Kind { name: "recorded_request", run: recorded_request::run },
];
