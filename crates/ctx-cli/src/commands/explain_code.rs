//! `ctx check --explain`: what the code of a finding means.

use anyhow::Result;
use ctx_language::{CodeText, Language};
use ctx_types::phrase;

use crate::exit::Exit;
use crate::explanations::{self, Explanation, Shown};
use crate::{lang, show};
use ctx_project::error::ProjectError;

/// Prints what is said about a code; another one is a usage error.
pub(crate) fn run(language: Language, code: &str, as_json: bool) -> Result<Exit> {
    let explanation =
        explanations::find(code, |known| translated(language, *known).title).map_err(ProjectError::Usage)?;
    match as_json {
        true => show::json(&explanation.to_json())?,
        false => show::result(&drawn(language, &translated(language, explanation)))?,
    }
    Ok(Exit::Success)
}

/// Writes all but the example in the language of the run.
fn translated(language: Language, known: Explanation) -> Explanation {
    let own = CodeText { title: known.title, way_out: known.way_out };
    let CodeText { title, way_out } = language.code(known.code).unwrap_or(own);
    Explanation { title, way_out, cause: language.cause(known.code).unwrap_or(known.cause), ..known }
}

/// Writes it with headings in the language of the run.
fn drawn(language: Language, explanation: &Explanation) -> String {
    let Explanation { code, title, cause, example, file, shown, way_out } = *explanation;
    let heading = match file {
        Some(file) => phrase!("Example, {file}:", file),
        None => phrase!("Example:"),
    };
    let example = format!("  {}\n", example.lines().collect::<Vec<_>>().join("\n  "));
    let shown = match shown {
        Shown::By(command) if file.is_some() => Some(phrase!("Shown by: {command}", command)),
        Shown::By(_) => None,
        Shown::ByPrograms => Some(phrase!("No command shows it: it takes a program that uses the library.")),
        Shown::WithServer => Some(phrase!("No command shows it alone: it takes a server.")),
    };
    let shown = shown.map(|line| lang::say(language, &line) + "\n").unwrap_or_default();
    let (heading, way_out) = (lang::say(language, &heading), phrase!("Way out: {way_out}", way_out));
    format!("{code}: {title}\n\n{cause}\n\n{heading}\n{example}{shown}\n{}\n", lang::say(language, &way_out))
}
