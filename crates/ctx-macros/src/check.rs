//! Checks calls while a text is compiled, and reports those that are none.

use ctx_types::{Diagnostic, Span, excerpt};

use crate::codes;
use crate::definition::{Arity, Definition};
use crate::dialect::Dialect;
use crate::findings::Findings;
use crate::registry::Registry;

pub(crate) struct Checker<'a> {
    source: &'a str,
    dialect: Dialect,
    registry: &'a Registry,
    findings: Findings,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(source: &'a str, dialect: Dialect, registry: &'a Registry) -> Self {
        Self { source, dialect, registry, findings: Findings::default() }
    }

    /// Returns the findings in the order of their places.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut findings = self.findings.finish();
        findings.sort_by_key(|finding| finding.location.span.map_or(usize::MAX, |span| span.start));
        findings
    }

    /// Returns the number of the definition that a name in the source stands for.
    pub(crate) fn find(&self, name: Span) -> Option<usize> {
        self.registry.find(self.text(name), self.dialect)
    }

    fn text(&self, span: Span) -> &'a str {
        self.source.get(span.start..span.end).unwrap_or_default()
    }

    /// Returns the definition if the call is one, else reports why it is not.
    pub(crate) fn checked(
        &mut self,
        definition: Option<usize>,
        span: Span,
        name: Span,
        arguments: usize,
    ) -> Option<usize> {
        let known = definition.and_then(|index| self.registry.definition(index));
        let Some(known) = known else {
            self.report_unknown(span, name);
            return None;
        };
        let Arity { min, max } = known.arity;
        let is_extra = max.is_some_and(|max| arguments > max);
        if arguments >= min && !is_extra {
            return definition;
        }
        self.findings.add(|| wrong_count(known, arguments).at_span(span));
        if is_extra && self.dialect.ignores_extra_arguments() { definition } else { None }
    }

    fn report_unknown(&mut self, span: Span, name: Span) {
        if name.is_empty() {
            return;
        }
        let name = self.text(name);
        let (registry, dialect) = (self.registry, self.dialect);
        let finding = || {
            let message = format!("no macro is called `{}`", excerpt(name));
            let finding = Diagnostic::warning(codes::UNKNOWN_MACRO, message).at_span(span);
            match registry.nearest(name, dialect) {
                Some(known) => finding.with_help(format!("did you mean `{known}`?")),
                None => finding,
            }
        };
        self.findings.add(finding);
    }

    /// Reports a call of a known macro without closing braces.
    pub(crate) fn report_unclosed(&mut self, start: usize, name: Span) {
        if self.find(name).is_none() {
            return;
        }
        let text = self.text(name);
        let span = Span::new(start, name.end);
        let finding = || {
            let message = format!("`{{{{{text}` is not a complete call and stays as it is written");
            let finding = Diagnostic::warning(codes::UNCLOSED_CALL, message).at_span(span);
            finding.with_help("close it with `}}`")
        };
        self.findings.add(finding);
    }
}

fn wrong_count(known: &Definition, given: usize) -> Diagnostic {
    let Definition { name, arity, example, .. } = known;
    let message = format!("`{name}` takes {arity}, {given} given");
    let finding = if given < arity.min {
        Diagnostic::warning(codes::MISSING_ARGUMENT, message)
    } else {
        Diagnostic::warning(codes::EXTRA_ARGUMENT, message)
    };
    if example.is_empty() { finding } else { finding.with_help(format!("write it like `{example}`")) }
}
