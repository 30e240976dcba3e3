//! The forms in which applications write the texts of a rule, as options.

use ctx_regex::{Error, Flags, Literal, Replacement};
use ctx_types::{Diagnostic, RegexRule};

use super::rule::unknown_value;

/// How the expression and the replacement of a rule are read.
///
/// A rule names its form as `dialect`; [`FORMS`] says what each name means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    expression: ExpressionForm,
    /// The flags of an expression that says none.
    bare_flags: Flags,
    replacement: ReplacementForm,
    /// What stands for the match in a replacement and looks like a macro, without its braces.
    pub(super) match_macro: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
enum ExpressionForm {
    /// `/pattern/flags` as in JavaScript's source, and anything else is a bare pattern.
    Literal,
    /// The first line; `/pattern/flags` up to the last slash, and what follows the flags is ignored.
    Line,
}

#[derive(Clone, Copy, Debug)]
enum ReplacementForm {
    /// JavaScript's, with `\n`, `\t` and `${1}`.
    Escaped,
    /// Only `$0`, `$1`, `$<name>` and the macro of the match.
    Plain,
}

/// The names of the forms in files; the first is what a rule without a name has.
const FORMS: [(&str, Form); 2] = [
    (
        RegexRule::DIALECTS[0],
        Form {
            expression: ExpressionForm::Literal,
            bare_flags: Flags::GLOBAL.with(Flags::MULTILINE),
            replacement: ReplacementForm::Escaped,
            match_macro: None,
        },
    ),
    (
        RegexRule::DIALECTS[1],
        Form {
            expression: ExpressionForm::Line,
            bare_flags: Flags::NONE,
            replacement: ReplacementForm::Plain,
            match_macro: Some("match"),
        },
    ),
];

impl Form {
    /// Finds the form that a rule names; one that is not known is reported, and the first counts.
    pub(super) fn of(rule: &RegexRule, report: &mut dyn FnMut(&str, Diagnostic)) -> Self {
        let [(_, default), ..] = FORMS;
        let Some(name) = rule.dialect.as_deref() else { return default };
        if let Some((_, form)) = FORMS.iter().find(|(known, _)| *known == name) {
            return *form;
        }
        report("/dialect", unknown_value("dialect", name, &RegexRule::DIALECTS));
        default
    }

    /// Splits an expression into its pattern and its flags.
    pub(super) fn literal(self, text: &str) -> Result<Literal<'_>, Error> {
        let mut literal = match self.expression {
            ExpressionForm::Line => Literal::sillytavern(text)?,
            ExpressionForm::Literal => {
                Literal::parse(text).unwrap_or(Literal { pattern: text, flags: Flags::NONE })
            }
        };
        if literal.flags == Flags::NONE {
            literal.flags = self.bare_flags;
        }
        Ok(literal)
    }

    /// Reads a replacement.
    pub(super) fn replacement(self, text: &str) -> Replacement {
        match self.replacement {
            ReplacementForm::Escaped => Replacement::aiohub(text),
            ReplacementForm::Plain => Replacement::sillytavern(text),
        }
    }
}
