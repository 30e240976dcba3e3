//! `ctx assemble`: the messages that a model receives.

use anyhow::{Context as _, Result};

use crate::args::{AssembleArguments, Format};
use crate::commands::turn;
use crate::exit::Exit;
use crate::files::{self, Existing};
use crate::show::{self, Sources};

/// Assembles one context and prints it.
pub(crate) fn run(arguments: &AssembleArguments) -> Result<Exit> {
    let mut sources = Sources::default();
    let turn = turn::of_arguments(&arguments.turn, &mut sources)?;
    let context = turn.assemble_or_explain(&sources, arguments.turn.timings)?;
    sources.show(&context.report.diagnostics);
    if let Some(path) = &arguments.report {
        let report = serde_json::to_vec_pretty(&context.report).context("cannot write the report as JSON")?;
        files::write(&[(path.clone(), &report)], Existing::Named, &sources.files_read)?;
    }
    match if arguments.json { Format::Json } else { arguments.format } {
        Format::Table => show::result(&show::context(&context))?,
        Format::Json => show::json(&context.to_json())?,
        Format::Text => show::result(&show::messages(&context.messages))?,
        Format::Snapshot => show::result(&context.to_snapshot())?,
        Format::Openai => {
            let (body, found) = turn.openai(&context);
            sources.show(&turn.unnamed_model().into_iter().chain(found).collect::<Vec<_>>());
            show::json(&body)?;
        }
    }
    if arguments.turn.timings {
        show::timings(&context.timings);
    }
    Ok(Exit::Success)
}
