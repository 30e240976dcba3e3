//! `ctx check --explain`: what the code of a finding means.

use ctx_language::{
    Language,
    internal::{Explanation, Reproduction},
};
use ctx_project::error::{ProjectError, Result};
use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, phrase};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::{lang, show};

/// Prints what is said about a code; another one is a usage error.
pub(crate) fn run(language: Language, code: &str, as_json: bool) -> Result<Exit> {
    let code = code_of(code).map_err(ProjectError::Usage)?;
    let unknown = || ProjectError::Usage(nothing(language, &code));
    if as_json {
        show::json(&json(&Language::En.explanation(&code).ok_or_else(unknown)?))?;
    } else {
        show::result(&drawn(language, &language.explanation(&code).ok_or_else(unknown)?))?;
    }
    Ok(Exit::Success)
}

/// Reads a code as people write it: `CTX0200`, `ctx0200` or `200`.
fn code_of(asked: &str) -> Result<String, Phrase> {
    let digits = match asked.split_at_checked(3) {
        Some((letters, digits)) if letters.eq_ignore_ascii_case("ctx") => digits,
        _ => asked,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| digits.parse::<u16>().ok()).flatten();
    let number = number
        .ok_or_else(|| phrase!("`{asked}` is not a diagnostic code; use a code such as `CTX0200`", asked))?;
    Ok(format!("CTX{number:04}"))
}

/// Reports that there is no such code, and names the first codes that differ in one digit.
fn nothing(language: Language, code: &str) -> Phrase {
    let is_near = |known: &Explanation| {
        known.code.bytes().zip(code.bytes()).filter(|(own, other)| own != other).count() == 1
    };
    let near = language.explanations().filter(is_near).take(MAX_NEAR);
    let near: Vec<Phrase> =
        near.map(|known| phrase!("`{code}` ({title})", code = known.code, title = known.title)).collect();
    if near.is_empty() {
        return phrase!("unknown code `{code}`; docs/diagnostics.md lists all codes", code);
    }
    phrase!("unknown code `{code}`; did you mean {near}?", code, near = Argument::list(&near, Divider::Or))
}

/// Maximum number of similar codes.
const MAX_NEAR: usize = 3;

/// Writes all of it as JSON.
fn json(explanation: &Explanation) -> Value {
    let (shown_by, needs) = match explanation.shown {
        Reproduction::Command(command) => (Some(command), None),
        Reproduction::Library => (None, Some("program")),
        Reproduction::Server => (None, Some("server")),
    };
    json!({
        "code": explanation.code,
        "title": explanation.title,
        "cause": explanation.cause,
        "example": explanation.example,
        "file": explanation.file,
        "shownBy": shown_by,
        "needs": needs,
        "wayOut": explanation.way_out,
    })
}

/// Writes it with headings in the language of the run.
fn drawn(language: Language, explanation: &Explanation) -> String {
    let Explanation { code, title, cause, example, file, shown, way_out, .. } = *explanation;
    let heading = match file {
        Some(file) => phrase!("Example, {file}:", file),
        None => phrase!("Example:"),
    };
    let example = format!("  {}\n", example.lines().collect::<Vec<_>>().join("\n  "));
    let shown = match shown {
        Reproduction::Command(command) if file.is_some() => Some(phrase!("Reported by: {command}", command)),
        Reproduction::Command(_) => None,
        Reproduction::Library => Some(phrase!("Only programs that use the library report it.")),
        Reproduction::Server => Some(phrase!("Only a running server reports it.")),
    };
    let shown = shown.map(|line| lang::say(language, &line) + "\n").unwrap_or_default();
    let (heading, way_out) = (lang::say(language, &heading), phrase!("Fix: {way_out}", way_out));
    let colon = show::colon(language);
    format!(
        "{code}{colon}{title}\n\n{cause}\n\n{heading}\n{example}{shown}\n{}\n",
        lang::say(language, &way_out)
    )
}
