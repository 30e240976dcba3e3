mod braces;

use ctx_types::internal::excerpt;
use ctx_types::{Code, Diagnostic, Fix, Phrase, Span, phrase};

use crate::codes;
use crate::definition::{Arity, Definition, Form};
use crate::diagnostic_list::DiagnosticList;
use crate::dialect::Dialect;
use crate::registry::Registry;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentCount {
    Fits {
        takes_more: bool,
    },
    /// A block may supply the missing argument.
    OneMore,
    Wrong,
}

pub(crate) struct Checker<'a> {
    source: &'a str,
    dialect: Dialect,
    registry: &'a Registry,
    findings: DiagnosticList,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(source: &'a str, dialect: Dialect, registry: &'a Registry) -> Self {
        Self { source, dialect, registry, findings: DiagnosticList::default() }
    }

    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut findings = self.findings.finish();
        findings.sort_by_key(|finding| finding.location.span.map_or(usize::MAX, |span| span.start));
        findings
    }

    pub(crate) fn find(&self, name: Span) -> Option<usize> {
        self.registry.find(self.text(name), self.dialect)
    }

    fn text(&self, span: Span) -> &'a str {
        &self.source[span.start..span.end]
    }

    pub(crate) fn find_name(&self, name: &str) -> Option<usize> {
        self.registry.find(name, self.dialect)
    }

    pub(crate) fn find_callable(&self, name: Span) -> Option<usize> {
        let callable = |index: &usize| {
            let known = self.registry.definition(*index);
            known.arity.min == 0 && known.form == Form::Ordinary
        };
        self.find(name).filter(callable)
    }

    pub(crate) fn form(&self, definition: Option<usize>) -> Form {
        definition.map_or(Form::Ordinary, |index| self.registry.definition(index).form)
    }

    /// Reports a wrong count, unless a block may supply the missing argument.
    pub(crate) fn count(
        &mut self,
        definition: Option<usize>,
        span: Span,
        name: Span,
        arguments: usize,
    ) -> ArgumentCount {
        let Some(known) = definition.map(|index| self.registry.definition(index)) else {
            self.report_unknown(span, name);
            return ArgumentCount::Wrong;
        };
        let Arity { min, max } = known.arity;
        let takes_more = max.is_none_or(|max| arguments < max);
        let is_extra = max.is_some_and(|max| arguments > max);
        if arguments >= min && !is_extra {
            return ArgumentCount::Fits { takes_more };
        }
        if arguments + 1 == min && self.dialect.is_sillytavern() {
            return ArgumentCount::OneMore;
        }
        self.findings.add(|| wrong_count(known, arguments).at_span(span));
        if is_extra && self.dialect.is_aio() {
            ArgumentCount::Fits { takes_more: false }
        } else {
            ArgumentCount::Wrong
        }
    }

    pub(crate) fn report_count(&mut self, definition: usize, span: Span, arguments: usize) {
        let known = self.registry.definition(definition);
        self.findings.add(|| wrong_count(known, arguments).at_span(span));
    }

    pub(crate) fn report_form(&mut self, span: Span, definition: usize, written_like: &str) {
        let name = &self.registry.definition(definition).name;
        let message =
            phrase!("`{name}` is written differently in this macro syntax; it is left unchanged", name);
        self.warn(codes::UNREAD_CALL, span, message, phrase!("write it like `{like}`", like = written_like));
    }

    pub(super) fn warn(&mut self, code: Code, span: Span, message: Phrase, help: Phrase) {
        self.findings.add(|| Diagnostic::warning(code, message).at_span(span).with_help(help));
    }

    pub(crate) fn report_closer(&mut self, span: Span, name: Span) {
        if self.find(name).is_none() {
            return self.report_unknown(span, name);
        }
        let text = self.text(name);
        let message = phrase!("`{{{{/{text}}}}}` closes no block; it is left unchanged", text);
        let help = phrase!("open the block with `{{{{{text} …}}}}` in the same text or argument", text);
        self.warn(codes::UNMATCHED_CLOSER, span, message, help);
    }

    pub(crate) fn report_else(&mut self, span: Span) {
        let text = self.text(span);
        let message = phrase!("`{text}` is outside a condition; it expands to nothing", text);
        let help = phrase!("write `{{{{if …}}}} … {{{{else}}}} … {{{{/if}}}}`, with at most one `else`");
        self.warn(codes::UNMATCHED_CLOSER, span, message, help);
    }

    pub(crate) fn report_pipe(&mut self, span: Span) {
        let message = phrase!("`|` is reserved in arguments; the macro is left unchanged");
        let help = phrase!("use a block instead: `{{{{name}}}}a|b{{{{/name}}}}`");
        self.warn(codes::RESERVED_PIPE, span, message, help);
    }

    pub(crate) fn report_unknown(&mut self, span: Span, name: Span) {
        if name.is_empty() {
            return;
        }
        let name = self.text(name);
        let (registry, dialect) = (self.registry, self.dialect);
        let finding = || {
            let message = phrase!("unknown macro `{name}`", name = excerpt(name));
            let finding = Diagnostic::warning(codes::UNKNOWN_MACRO, message).at_span(span);
            if let Some(near) = registry.nearest(name, dialect) {
                return finding.with_guess(near, |known| Fix::part(name, known));
            }
            match registry.dialect_of(name) {
                Some(other) => {
                    finding.with_help(phrase!("set macro syntax `{other}` to use it", other = other.as_str()))
                }
                None => finding.with_help(phrase!("list all macros with `ctx macros list`")),
            }
        };
        self.findings.add(finding);
    }
}

impl ArgumentCount {
    pub(crate) const fn takes_more(self) -> bool {
        matches!(self, Self::Fits { takes_more: true } | Self::OneMore)
    }
}

pub(crate) fn wrong_count(known: &Definition, given: usize) -> Diagnostic {
    let Definition { name, arity, example, .. } = known;
    let message = phrase!("`{name}` takes {arity}, but {given} given", name, arity = arity.phrase(), given);
    let finding = if given < arity.min {
        Diagnostic::warning(codes::MISSING_ARGUMENT, message)
    } else {
        Diagnostic::warning(codes::EXTRA_ARGUMENT, message)
    };
    if example.is_empty() {
        finding
    } else {
        finding.with_help(phrase!("write it like `{example}`", example))
    }
}
