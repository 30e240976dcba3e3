//! Translates the messages of the `ctx` crates, and explains diagnostic codes.
//!
//! Library messages are [`Phrase`]s: English templates with named arguments. The template is the lookup key of its
//! translation. Pass the language with each call, so that users of one process can have different languages.
//!
//! ```
//! use ctx_language::Language;
//! use ctx_types::phrase;
//!
//! let missing = phrase!("the preset has no anchor `{name}`", name = "lore");
//! assert_eq!(Language::En.say(&missing), "the preset has no anchor `lore`");
//! assert_eq!(Language::Zh.say(&missing), "预设没有锚点 `lore`");
//! assert_eq!(Language::of_name("zh_CN.UTF-8"), Some(Language::Zh));
//! assert_eq!(Language::En.code("CTX0100").unwrap().title, "wrong type");
//! assert_eq!(Language::Zh.code("CTX0100").unwrap().title, "类型错误");
//! ```
#![warn(clippy::disallowed_methods)]

mod catalogue;
mod chinese;
mod explanations;

use std::borrow::Cow;

use ctx_types::{Decision, Phrase};

pub use catalogue::{Catalogue, spaced};
pub use explanations::{Explanation, Shown};

/// A language in which people are spoken to. What programs read is the same in all: JSON, request bodies, codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// English, which templates are written in.
    #[default]
    En,
    /// Simplified Chinese.
    Zh,
}

impl Language {
    /// Reads a name as people write it into settings and variables, or as a locale: `zh`, `ZH`, `zh-CN`,
    /// `zh_CN.UTF-8`; `None` for a language that there is not.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.trim().split(['_', '-', '.', '@']).next()?;
        let is = |own: &str| name.eq_ignore_ascii_case(own);
        match name {
            _ if is("en") => Some(Self::En),
            _ if is("zh") => Some(Self::Zh),
            _ => None,
        }
    }

    /// Returns the name of the language in the pages of the web: `en`, `zh-CN`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }

    /// Returns the texts of the language; `None` for English, which needs none.
    pub fn catalogue(self) -> Option<&'static Catalogue> {
        match self {
            Self::En => None,
            Self::Zh => Some(chinese::catalogue()),
        }
    }

    /// Writes what a library says; in English where there is no translation.
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

    /// Writes a fixed text that is no phrase: an outcome, a severity, what a macro does.
    pub fn word(self, english: &str) -> Cow<'_, str> {
        let other = self.catalogue().and_then(|catalogue| catalogue.word(english));
        other.map_or_else(|| Cow::Owned(english.to_owned()), Cow::Borrowed)
    }

    /// Writes a decision on one line.
    pub fn decision(self, decision: &Decision) -> String {
        if self == Self::En {
            return decision.to_string();
        }
        let outcome = self.word(decision.outcome.as_str());
        let more = match decision.count {
            0 | 1 => String::new(),
            count => format!(" 等 {count} 条"),
        };
        format!("{outcome} {}{more}：{}", decision.source, self.say(&decision.reason))
    }

    /// Returns the title and the way out of a code such as `CTX0200`; `None` for one that there is not.
    pub fn code(self, code: &str) -> Option<CodeText> {
        self.explanation(code).map(|known| CodeText { title: known.title, way_out: known.way_out })
    }

    /// Returns what causes the findings of a code, in Markdown; `None` as [`Language::code`].
    pub fn cause(self, code: &str) -> Option<&'static str> {
        self.explanation(code).map(|known| known.cause)
    }

    /// Explains a code: all that is known of it; `None` as [`Language::code`]. O(log codes).
    pub fn explanation(self, code: &str) -> Option<Explanation> {
        let known = explanations::english();
        let at = known.binary_search_by(|known| known.code.cmp(code)).ok()?;
        known.get(at).map(|known| self.translated(*known))
    }

    /// Explains every code, in the order of the codes.
    pub fn explanations(self) -> impl Iterator<Item = Explanation> {
        explanations::english().iter().map(move |known| self.translated(*known))
    }

    /// Puts what the language says above the English texts; examples are the same in all.
    fn translated(self, english: Explanation) -> Explanation {
        let Some(catalogue) = self.catalogue() else { return english };
        let own = CodeText { title: english.title, way_out: english.way_out };
        let CodeText { title, way_out } = catalogue.code(english.code).unwrap_or(own);
        Explanation {
            title,
            way_out,
            cause: catalogue.cause(english.code).unwrap_or(english.cause),
            ..english
        }
    }

    /// Writes things that stand side by side, with commas.
    pub fn list(self, things: &[impl AsRef<str>]) -> String {
        let comma = match self {
            Self::En => ", ",
            Self::Zh => "，",
        };
        things.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(comma)
    }
}

/// What a code means, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeText {
    /// A few words.
    pub title: &'static str,
    /// What to do about it.
    pub way_out: &'static str,
}
