//! The language in which the command speaks to people: English, or Chinese from catalogues.
//!
//! Only `--lang` and `CTX_LANG` choose it, so that no result depends on the locale of a machine; it is handed to
//! whatever speaks, and kept nowhere. What libraries say is in `ctx-language`, what the command says itself is here:
//! phrases are found by their templates, fixed words as a whole; nothing recognises a sentence.
//! What programs read is the same in all languages: JSON, snapshots, request bodies, codes.

pub(crate) mod help;
pub(crate) mod usage;

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::OnceLock;

use clap::ValueEnum as _;
use ctx_language::{Language, internal::Catalogue};
use ctx_types::Phrase;

use crate::args::LanguageName;

/// Returns what the arguments and `CTX_LANG` ask for, before anything is parsed, so that errors are told in it too.
///
/// A language that there is not is left to the parser, which refuses it; as the variable it means English.
pub(crate) fn asked(arguments: &[OsString], variable: Option<OsString>) -> Language {
    let texts: Vec<Cow<'_, str>> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let own = texts.iter().take_while(|text| *text != "--").enumerate().find_map(|(at, text)| {
        let following = || texts.get(at + 1).map(|text| &**text);
        let value = if text == "--lang" { following() } else { text.strip_prefix("--lang=") };
        LanguageName::from_str(value?, false).ok().map(Language::from)
    });
    own.or_else(|| Language::parse(&variable?.to_string_lossy())).unwrap_or_default()
}

/// Writes a phrase, of the command itself or of a library, in the language of the run.
pub(crate) fn say(language: Language, phrase: &Phrase) -> String {
    catalogue(language).map_or_else(|| phrase.to_string(), |catalogue| catalogue.say(phrase))
}

/// Writes a fixed text (a heading, a state, the title of a column) in the language of the run.
pub(crate) fn word(language: Language, english: &str) -> Cow<'_, str> {
    catalogue(language)
        .and_then(|catalogue| catalogue.word(english))
        .map_or(Cow::Borrowed(english), Cow::Borrowed)
}

/// Writes several fixed texts as [`word`] does, a line each; their indents stay.
pub(crate) fn lines(language: Language, english: &str) -> String {
    let line = |line: &str| match line.trim() {
        "" => line.to_owned(),
        own => line.replacen(own, &word(language, own), 1),
    };
    english.split_inclusive('\n').map(line).collect()
}

/// Writes a fixed text of a page as [`word`] does, or in words that only pages have.
pub(crate) fn page(language: Language, english: &str) -> Cow<'_, str> {
    static PAGE: OnceLock<Catalogue> = OnceLock::new();
    if language != Language::Zh {
        return Cow::Borrowed(english);
    }
    let own = PAGE.get_or_init(|| Catalogue::read(&[include_str!("lang/zh/page.txt")])).word(english);
    own.map_or_else(|| word(language, english), Cow::Borrowed)
}

/// The command's own catalogue of a language, above that of the libraries; none for English.
fn catalogue(language: Language) -> Option<&'static Catalogue> {
    static CHINESE: OnceLock<Catalogue> = OnceLock::new();
    let below = language.catalogue()?;
    Some(CHINESE.get_or_init(|| Catalogue::read(&[include_str!("lang/zh/texts.txt")]).with_fallback(below)))
}

#[cfg(test)]
mod tests;
