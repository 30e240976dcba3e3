//! The language in which the command speaks to people: English, or Chinese from a catalogue.
//!
//! Only `--lang` and `CTX_LANG` choose it, so that no result depends on the locale of a machine. What programs
//! read is the same in all languages: JSON, snapshots, request bodies, codes.

mod catalogue;
pub(crate) mod help;

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::OnceLock;

use clap::ValueEnum;
use ctx_types::{Decision, Phrase};

use catalogue::Catalogue;

/// A language of the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// English
    #[default]
    En,
    /// Chinese
    Zh,
}

/// What a person has chosen; English until then.
static CHOSEN: OnceLock<Language> = OnceLock::new();

/// Chooses the language of the run, once.
pub(crate) fn choose(language: Language) {
    CHOSEN.get_or_init(|| language);
}

/// Returns what the arguments and `CTX_LANG` ask for, before anything is parsed, so that errors are told in it too.
///
/// A language that there is not is left to the parser, which refuses it; as the variable it means English.
pub(crate) fn asked(arguments: &[OsString], variable: Option<OsString>) -> Language {
    let texts: Vec<Cow<'_, str>> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let own = texts.iter().take_while(|text| *text != "--").enumerate().find_map(|(at, text)| {
        let following = || texts.get(at + 1).map(|text| &**text);
        let value = if text == "--lang" { following() } else { text.strip_prefix("--lang=") };
        Language::from_str(value?, false).ok()
    });
    own.or_else(|| of_variable(&variable?.to_string_lossy())).unwrap_or_default()
}

/// Reads a language as people write it into variables: `zh`, `ZH`, `zh-CN`, `zh_CN.UTF-8`.
fn of_variable(name: &str) -> Option<Language> {
    Language::from_str(name.trim().split(['_', '-', '.', '@']).next()?, true).ok()
}

/// Writes a line of the command itself (a heading, a count, an error, a note) in the language of the run.
pub(crate) fn text(english: &str) -> Cow<'_, str> {
    translated(english, |catalogue| catalogue.text(english))
}

/// Writes a part of a line as [`text`] does, in words that only what is written here may have.
pub(crate) fn phrase(english: &str) -> Cow<'_, str> {
    translated(english, |catalogue| catalogue.phrase(english))
}

/// Tells whether the run is in English.
pub(crate) fn is_english() -> bool {
    catalogue().is_none()
}

/// Writes things that stand side by side, with commas.
pub(crate) fn list(things: &[impl AsRef<str>]) -> String {
    let comma = if catalogue().is_some() { "，" } else { ", " };
    things.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(comma)
}

/// Writes a text of a page as [`phrase`] does, or in words that only pages have.
pub(crate) fn page(english: &str) -> Cow<'_, str> {
    translated(english, |catalogue| catalogue.page(english))
}

/// Names the language of the run as pages do.
pub(crate) fn tag() -> &'static str {
    if catalogue().is_some() { "zh-CN" } else { "en" }
}

/// Writes several lines of the command itself, each as [`text`] does; their indents stay.
pub(crate) fn lines(english: &str) -> Cow<'_, str> {
    let Some(catalogue) = catalogue() else { return Cow::Borrowed(english) };
    let translated = english.split_inclusive('\n').map(|line| {
        let own = line.trim();
        match catalogue.text(own) {
            Some(other) if !own.is_empty() => line.replacen(own, &other, 1),
            _ => line.to_owned(),
        }
    });
    Cow::Owned(translated.collect())
}

/// Writes a cell of a list, or a part of one, in words that would be something else on a line.
pub(crate) fn cell(english: &str) -> Cow<'_, str> {
    translated(english, |catalogue| catalogue.cell(english))
}

/// Writes what a library says (a finding, a reason, a line of a log) in the language of the run.
pub(crate) fn say(phrase: &Phrase) -> String {
    catalogue().map_or_else(|| phrase.to_string(), |catalogue| catalogue.say(phrase))
}

/// Writes a decision in the language of the run, on one line.
pub(crate) fn decision(decision: &Decision) -> String {
    let Some(catalogue) = catalogue() else { return decision.to_string() };
    let outcome = catalogue.text(decision.outcome.as_str());
    let outcome = outcome.unwrap_or_else(|| decision.outcome.to_string());
    let more = match decision.count {
        0 | 1 => String::new(),
        count => format!(" 等 {count} 条"),
    };
    let reason = catalogue.say(&decision.reason);
    format!("{outcome} {}{more}：{reason}", decision.source)
}

/// Returns the title and the way out of a code, in another language than English.
pub(crate) fn of_code(code: &str) -> Option<(&'static str, &'static str)> {
    catalogue()?.explanation(code)
}

/// Returns what causes the findings of a code, in another language than English.
pub(crate) fn cause(code: &str) -> Option<&'static str> {
    catalogue()?.cause(code)
}

fn translated(english: &str, translate: impl FnOnce(&Catalogue) -> Option<String>) -> Cow<'_, str> {
    catalogue().and_then(translate).map_or(Cow::Borrowed(english), Cow::Owned)
}

/// The catalogue of the language of the run; none for English.
fn catalogue() -> Option<&'static Catalogue> {
    match CHOSEN.get() {
        Some(Language::Zh) => Some(catalogue::chinese()),
        Some(Language::En) | None => None,
    }
}

#[cfg(test)]
mod tests;
