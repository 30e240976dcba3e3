//! `ctx explain`: how a context came about.

use anyhow::Result;
use serde_json::json;

use crate::args::ExplainArguments;
use crate::commands::turn;
use crate::exit::Exit;
use crate::show::{self, Sources};

/// Assembles one context and prints what explains it.
pub(crate) fn run(arguments: &ExplainArguments) -> Result<Exit> {
    let with_timings = arguments.turn.timings;
    let mut sources = Sources::default();
    let turn = turn::of_arguments(&arguments.turn, &mut sources)?;
    let context = turn.assemble_or_explain(&sources, with_timings)?;
    sources.show(&context.report.diagnostics);
    if !arguments.json {
        show::result(&show::explanation(&context, with_timings))?;
        return Ok(Exit::Success);
    }
    show::json(&json!(context.report))?;
    if with_timings {
        show::timings(&context.timings);
    }
    Ok(Exit::Success)
}
