//! `ctx check --explain`: what the code of a finding means.

use anyhow::Result;

use crate::exit::{Exit, UsageError};
use crate::explanations::{self, Explanation};
use crate::{lang, show};

/// Prints what is said about a code; another one is a usage error.
pub(crate) fn run(code: &str, as_json: bool) -> Result<Exit> {
    let explanation = explanations::find(code, title).map_err(UsageError)?;
    match as_json {
        true => show::json(&explanation.to_json())?,
        false => show::result(&translated(&explanation))?,
    }
    Ok(Exit::Success)
}

/// The title of a code in the language of the run.
fn title(known: &Explanation) -> &'static str {
    lang::of_code(known.code).map_or(known.title, |(title, _)| title)
}

/// Writes all but the example in the language of the run.
fn translated(explanation: &Explanation) -> String {
    let (english, code) = (explanation.to_string(), explanation.code);
    let Some((title, way_out)) = lang::of_code(code) else { return english };
    let english = english.replacen(explanation.cause, lang::cause(code).unwrap_or(explanation.cause), 1);
    let line = |(index, line): (usize, &str)| match line {
        _ if index == 0 => format!("{code}: {title}\n"),
        line if line.starts_with("Way out: ") => {
            lang::text(&format!("Way out: {way_out}")).into_owned() + "\n"
        }
        line if line.starts_with(' ') => format!("{line}\n"),
        line => lang::text(line).into_owned() + "\n",
    };
    english.lines().enumerate().map(line).collect()
}
