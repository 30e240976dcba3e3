use std::sync::Arc;

use ctx_macros::{Expansion, Template};
use ctx_regex::{Flags, Limits, Regex, escape};
use ctx_types::SourceKind;

use super::form::Form;

#[derive(Clone, Debug)]
pub(super) enum Find {
    Fixed(Box<Regex>),
    /// Expanded in each run; `escaped` escapes the values of macros.
    Macros {
        template: Box<Template>,
        escaped: bool,
    },
}

impl Find {
    pub(super) fn is_volatile(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Macros { template, .. } => template.macros().any(|used| used.volatile),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct PatternSyntax {
    pub(super) form: Form,
    /// Override the flags of the pattern.
    pub(super) flags: Option<Arc<str>>,
}

/// Limits of a pattern. The run sets the steps.
pub(super) const LIMITS: Limits = Limits {
    pattern_bytes: 64 << 10,
    build_cost: 2_000,
    compiled_bytes: 1 << 20,
    nest: 128,
    steps: 0,
    branches: 2_000_000,
    output_bytes: 0,
};

impl PatternSyntax {
    /// Accepts a bare pattern or `/pattern/flags`.
    pub(super) fn compile(&self, text: &str) -> Result<Regex, ctx_regex::Error> {
        let literal = self.form.literal(text)?;
        let flags = match &self.flags {
            Some(flags) => Flags::parse(flags)?,
            None => literal.flags,
        };
        Regex::new(literal.pattern, flags, &LIMITS)
    }
}

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
