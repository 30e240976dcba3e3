//! Translates messages of the `ctx` crates, and explains diagnostic codes.
//!
//! Start with [`Language::say`]. Messages are [`Phrase`]s: English templates with named arguments.
//!
//! ```
//! use ctx_language::Language;
//! use ctx_types::phrase;
//!
//! let missing = phrase!("the preset has no anchor `{name}`", name = "lore");
//! assert_eq!(Language::En.say(&missing), "the preset has no anchor `lore`");
//! assert_eq!(Language::Zh.say(&missing), "预设没有锚点 `lore`");
//! assert_eq!(Language::parse("zh_CN.UTF-8"), Some(Language::Zh));
//! assert_eq!(Language::En.explanation("CTX0100").unwrap().title, "wrong type");
//! assert_eq!(Language::Zh.explanation("CTX0100").unwrap().title, "类型错误");
//! ```
#![warn(clippy::disallowed_methods)]

mod catalogue;
mod explanations;

use std::borrow::Cow;
use std::sync::OnceLock;

use ctx_types::Phrase;
use ctx_types::report::Decision;

// Not part of the API: may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::catalogue::Catalogue;
    pub use crate::explanations::{Explanation, Reproduction};
}

use catalogue::Catalogue;
use explanations::Explanation;

const CHINESE_FILES: [&str; 6] = [
    include_str!("zh/library.txt"),
    include_str!("zh/errors.txt"),
    include_str!("zh/words.txt"),
    include_str!("zh/macros.txt"),
    include_str!("zh/codes.txt"),
    include_str!("zh/causes.txt"),
];

/// Language of messages. JSON, request bodies and codes do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// English, the language of templates.
    #[default]
    En,
    /// Simplified Chinese.
    Zh,
}

impl Language {
    /// Parses a language or locale name: `zh`, `zh-CN`, `zh_CN.UTF-8`; ignores case.
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.trim().split(['_', '-', '.', '@']).next()?;
        let is = |own: &str| name.eq_ignore_ascii_case(own);
        match name {
            _ if is("en") => Some(Self::En),
            _ if is("zh") => Some(Self::Zh),
            _ => None,
        }
    }

    /// Returns the HTML language tag: `en`, `zh-CN`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }

    /// Returns the translations; `None` for English.
    pub fn catalogue(self) -> Option<&'static Catalogue> {
        static CHINESE: OnceLock<Catalogue> = OnceLock::new();
        match self {
            Self::En => None,
            Self::Zh => Some(CHINESE.get_or_init(|| Catalogue::read(&CHINESE_FILES))),
        }
    }

    /// Translates a phrase; untranslated parts stay in English.
    ///
    /// ```
    /// use ctx_language::Language;
    /// use ctx_types::phrase;
    ///
    /// assert_eq!(Language::Zh.say(&phrase!("nobody translated this")), "nobody translated this");
    /// ```
    pub fn say(self, phrase: &Phrase) -> String {
        self.catalogue().map_or_else(|| phrase.to_string(), |catalogue| catalogue.say(phrase))
    }

    /// Translates a fixed text, such as an outcome or a severity.
    pub fn word(self, english: &str) -> Cow<'_, str> {
        let other = self.catalogue().and_then(|catalogue| catalogue.word(english));
        other.map_or_else(|| Cow::Owned(english.to_owned()), Cow::Borrowed)
    }

    /// Formats a decision on one line.
    pub fn decision(self, decision: &Decision) -> String {
        if self == Self::En {
            return decision.to_string();
        }
        let outcome = self.word(decision.outcome.as_str());
        format!("{outcome} {}：{}", self.source(decision), self.say(&decision.reason))
    }

    /// Names the source of a decision and the number of further sources.
    ///
    /// ```
    /// use ctx_language::Language;
    /// use ctx_types::{Role, Source, phrase};
    /// use ctx_types::report::{Decision, Outcome};
    ///
    /// let source = Source::history("n1", Role::User);
    /// let mut hidden = Decision::new(Outcome::Hidden, source, phrase!("hidden by a summary"));
    /// hidden.count = 3;
    /// assert_eq!(Language::En.source(&hidden), "history:n1 and 2 more");
    /// assert_eq!(Language::Zh.source(&hidden), "history:n1 等 3 条");
    /// ```
    pub fn source(self, decision: &Decision) -> String {
        let Decision { source, count, .. } = decision;
        match self {
            _ if *count < 2 => source.to_string(),
            Self::En => format!("{source} and {} more", count - 1),
            Self::Zh => format!("{source} 等 {count} 条"),
        }
    }

    /// Returns the explanation of a code such as `CTX0200`; `None` if unknown. O(log codes).
    pub fn explanation(self, code: &str) -> Option<Explanation> {
        let known = explanations::english();
        let at = known.binary_search_by(|known| known.code.cmp(code)).ok()?;
        known.get(at).map(|known| self.translated(*known))
    }

    /// Returns all explanations, sorted by code.
    pub fn explanations(self) -> impl Iterator<Item = Explanation> {
        explanations::english().iter().map(move |known| self.translated(*known))
    }

    /// Uses English for missing translations.
    fn translated(self, english: Explanation) -> Explanation {
        let Some(catalogue) = self.catalogue() else { return english };
        let own = CodeText { title: english.title, way_out: english.way_out };
        let CodeText { title, way_out } = catalogue.code(english.code).unwrap_or(own);
        let cause = catalogue.cause(english.code).unwrap_or(english.cause);
        Explanation { title, cause, way_out, ..english }
    }

    /// Joins items with commas.
    pub fn list(self, things: &[impl AsRef<str>]) -> String {
        let comma = match self {
            Self::En => ", ",
            Self::Zh => "，",
        };
        things.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(comma)
    }
}

/// Translated title and fix of a code.
#[derive(Clone, Copy, Debug)]
struct CodeText {
    title: &'static str,
    way_out: &'static str,
}
