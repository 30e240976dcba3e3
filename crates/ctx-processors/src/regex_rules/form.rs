mod aiohub;
mod sillytavern;

use ctx_regex::{Error, Flags, Literal, Replacement};
use ctx_types::{Diagnostic, RegexRule};

use super::rule::unknown_value;

/// Syntax of a rule, selected by its `dialect` in [`FORMS`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    literal: fn(&str) -> Result<Literal<'_>, Error>,
    /// Flags of a pattern without flags.
    bare_flags: Flags,
    replacement: fn(&str) -> Replacement,
    /// Macro-like name of the match in a replacement, without braces.
    pub(super) match_macro: Option<&'static str>,
}

/// The first is the default.
const FORMS: [(&str, Form); 2] = [
    (
        RegexRule::DIALECTS[0],
        Form {
            literal: |text| Ok(aiohub::literal(text)),
            bare_flags: Flags::GLOBAL.with(Flags::MULTILINE),
            replacement: aiohub::replacement,
            match_macro: None,
        },
    ),
    (
        RegexRule::DIALECTS[1],
        Form {
            literal: sillytavern::literal,
            bare_flags: Flags::NONE,
            replacement: sillytavern::replacement,
            match_macro: Some(sillytavern::MATCH),
        },
    ),
];

impl Form {
    /// Reports an unknown name and returns the default.
    pub(super) fn read(rule: &RegexRule, report: &mut dyn FnMut(&str, Diagnostic)) -> Self {
        let [(_, default), ..] = FORMS;
        let Some(name) = rule.dialect.as_deref() else { return default };
        if let Some((_, form)) = FORMS.iter().find(|(known, _)| *known == name) {
            return *form;
        }
        report("/dialect", unknown_value("dialect", name, &RegexRule::DIALECTS));
        default
    }

    pub(super) fn literal(self, text: &str) -> Result<Literal<'_>, Error> {
        let mut literal = (self.literal)(text)?;
        if literal.flags == Flags::NONE {
            literal.flags = self.bare_flags;
        }
        Ok(literal)
    }

    pub(super) fn replacement(self, text: &str) -> Replacement {
        (self.replacement)(text)
    }
}

#[cfg(test)]
mod tests {
    use ctx_regex::{Limits, Regex};

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
