//! `ctx check --explain`: what the code of a finding means.

use anyhow::Result;

use crate::exit::Exit;
use crate::explanations::{self, Explanation};
use crate::{lang, show};
use ctx_project::error::ProjectError;

/// Prints what is said about a code; another one is a usage error.
pub(crate) fn run(code: &str, as_json: bool) -> Result<Exit> {
    let explanation =
        explanations::find(code, |known| translated(*known).title).map_err(ProjectError::Usage)?;
    match as_json {
        true => show::json(&explanation.to_json())?,
        false => show::result(&drawn(&translated(explanation)))?,
    }
    Ok(Exit::Success)
}

/// Says all but the example in the language of the run.
fn translated(known: Explanation) -> Explanation {
    let (title, way_out) = lang::of_code(known.code).unwrap_or((known.title, known.way_out));
    Explanation { title, way_out, cause: lang::cause(known.code).unwrap_or(known.cause), ..known }
}

/// Writes it with headings in the language of the run; what is indented is the example.
fn drawn(explanation: &Explanation) -> String {
    let text = explanation.to_string();
    let lines = text.lines().map(|line| match line.starts_with(' ') {
        true => format!("{line}\n"),
        false => lang::text(line).into_owned() + "\n",
    });
    lines.collect()
}
