//! `ctx check --explain`: what the code of a finding means.

use anyhow::Result;

use crate::exit::{Exit, UsageError};
use crate::{explanations, show};

/// Prints what is said about a code; another one is a usage error.
pub(crate) fn run(code: &str, as_json: bool) -> Result<Exit> {
    let explanation = explanations::find(code).map_err(UsageError)?;
    match as_json {
        true => show::json(&explanation.to_json())?,
        false => show::result(&explanation.to_string())?,
    }
    Ok(Exit::Success)
}
