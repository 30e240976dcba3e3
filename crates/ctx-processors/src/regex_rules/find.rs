//! What a rule looks for: an expression that is fixed, or one in which macros are expanded first.

use std::sync::Arc;

use ctx_macros::{Expansion, Template};
use ctx_regex::{Flags, Limits, Regex, escape};
use ctx_types::SourceKind;

use super::form::Form;

/// What a rule looks for.
#[derive(Clone, Debug)]
pub(super) enum Find {
    Fixed(Box<Regex>),
    /// Macros make the expression, in each run anew; `escaped` lets their values stand for themselves.
    Macros {
        template: Box<Template>,
        escaped: bool,
    },
}

impl Find {
    /// Returns whether it is the same expression in each turn.
    pub(super) const fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// Returns whether a macro in the expression differs from turn to turn.
    pub(super) fn is_volatile(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Macros { template, .. } => template.macros().any(|used| used.volatile),
        }
    }
}

/// How an expression is read.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) form: Form,
    /// Flags that stand over those of the expression.
    pub(super) flags: Option<Arc<str>>,
}

/// What an expression may cost, but for the steps, which the run lends.
pub(super) const LIMITS: Limits = Limits {
    pattern_bytes: 64 << 10,
    positions: 2_000,
    building: 2_000,
    compiled_bytes: 1 << 20,
    nest: 128,
    steps: 0,
    branches: 2_000_000,
    output_bytes: 0,
};

impl Reading {
    /// Compiles an expression, bare or as `/pattern/flags`.
    pub(super) fn compile(&self, text: &str) -> Result<Regex, ctx_regex::Error> {
        let literal = self.form.literal(text)?;
        let flags = match &self.flags {
            Some(flags) => Flags::parse(flags)?,
            None => literal.flags,
        };
        Regex::new(literal.pattern, flags, &LIMITS)
    }
}

/// The text of an expression whose macros were expanded.
pub(super) fn expanded(expansion: &Expansion, escaped: bool) -> String {
    if !escaped {
        return expansion.text.to_string();
    }
    let segments = expansion.segments();
    if segments.is_empty() {
        return expansion.text.to_string();
    }
    let pieces = segments.iter().map(|segment| {
        let piece = expansion.text.get(segment.span.start..segment.span.end).unwrap_or_default();
        match segment.source.kind {
            SourceKind::Macro => escape(piece),
            _ => piece.to_owned(),
        }
    });
    pieces.collect()
}
