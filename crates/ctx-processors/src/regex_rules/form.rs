mod aiohub;
mod sillytavern;

use ctx_regex::{Error, Literal, Replacement};
use ctx_types::{Diagnostic, RegexRule};

use super::rule::unknown_value;

/// Syntax of a rule, selected by its `dialect`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Aio,
    SillyTavern,
}

impl Form {
    /// Reports an unknown name and returns the default.
    pub(super) fn read(rule: &RegexRule, report: &mut dyn FnMut(&str, Diagnostic)) -> Self {
        match rule.dialect.as_deref() {
            None | Some("aio") => Self::Aio,
            Some("sillytavern") => Self::SillyTavern,
            Some(name) => {
                report("/dialect", unknown_value("dialect", name, &RegexRule::DIALECTS));
                Self::Aio
            }
        }
    }

    pub(super) fn literal(self, text: &str) -> Result<Literal<'_>, Error> {
        match self {
            Self::Aio => Ok(aiohub::literal(text)),
            Self::SillyTavern => sillytavern::literal(text),
        }
    }

    pub(super) fn replacement(self, text: &str) -> Replacement {
        match self {
            Self::Aio => aiohub::replacement(text),
            Self::SillyTavern => sillytavern::replacement(text),
        }
    }

    /// Macro-like name of the match in a replacement, without braces.
    pub(super) const fn match_macro(self) -> Option<&'static str> {
        match self {
            Self::Aio => None,
            Self::SillyTavern => Some(sillytavern::MATCH),
        }
    }
}

#[cfg(test)]
mod tests {
    use ctx_regex::{Flags, Limits, Regex};

    use super::*;

    #[track_caller]
    pub(super) fn check(read: fn(&str) -> Replacement, replacement: &str, expected: &str) {
        let regex = Regex::new(r"(?<word>\w+) (\d+)(x)?", Flags::NONE, &Limits::default()).unwrap();
        assert_eq!(
            regex.replace("<ab 12>", &read(replacement)).unwrap(),
            format!("<{expected}>"),
            "{replacement}"
        );
    }
}
