use ctx_types::{Diagnostic, Source, Span, Text, Trust};

use crate::call::{Argument, Call, CallPosition, Failure, Value};
use crate::definition::Definition;
use crate::diagnostic_list::DiagnosticList;
use crate::env::Env;
use crate::expansion::{self, Output};
use crate::random;
use crate::state::State;
use crate::template::Template;

pub(crate) struct Run<'a> {
    pub(crate) template: &'a Template,
    pub(crate) env: &'a Env,
    pub(crate) state: &'a mut State,
    pub(crate) findings: DiagnosticList,
    /// Trust of the template.
    pub(crate) trust: Trust,
    source_key: u64,
    pub(crate) place: CallPosition,
    original: Option<Text>,
    pub(crate) is_card: bool,
}

/// A limit was reached.
pub(crate) struct EvaluationError(pub(crate) Box<Diagnostic>);

impl EvaluationError {
    pub(crate) fn at(mut finding: Box<Diagnostic>, span: Span) -> Self {
        finding.location.span = Some(span);
        Self(finding)
    }
}

impl<'a> Run<'a> {
    pub(crate) fn new(template: &'a Template, env: &'a Env, state: &'a mut State, origin: &Source) -> Self {
        Self {
            template,
            env,
            state,
            findings: DiagnosticList::default(),
            trust: origin.trust,
            source_key: random::source_key(origin),
            place: CallPosition::default(),
            original: env.original.clone(),
            is_card: false,
        }
    }

    pub(crate) fn invoke(
        &mut self,
        definition: &Definition,
        text: &str,
        span: Span,
        arguments: &[Argument<'_>],
    ) -> (Result<Value, Failure>, Trust) {
        let trust = arguments.iter().map(|argument| argument.trust).fold(definition.trust, Trust::max);
        let mut call = Call {
            definition,
            dialect: self.template.dialect(),
            span,
            arguments,
            env: self.env,
            state: self.state,
            findings: &mut self.findings,
            trust,
            source_key: self.source_key,
            template: self.template,
            text,
            place: &mut self.place,
            original: &mut self.original,
            is_card: self.is_card,
        };
        let value = (definition.expand)(&mut call);
        (value, call.trust)
    }

    /// Other card texts are empty inside it.
    pub(crate) fn card_text(
        &mut self,
        text: &Text,
        trust: Trust,
        span: Span,
        expand: impl FnOnce(Run<'_>) -> Result<(Output, DiagnosticList), EvaluationError>,
    ) -> Result<(Text, Trust), EvaluationError> {
        if self.is_card {
            return Ok((Text::default(), trust));
        }
        let (dialect, registry) = (self.template.dialect(), self.template.registry());
        let template = self.state.derived_texts().template(text, dialect, registry);
        if template.is_plain() {
            return Ok((text.clone(), trust));
        }
        // Reading the text counts as output, even if it expands to nothing.
        self.state.take_output(text.len()).map_err(|finding| EvaluationError::at(finding, span))?;
        let run = Run {
            template: &template,
            env: self.env,
            state: self.state,
            findings: DiagnosticList::default(),
            trust,
            source_key: self.source_key,
            place: CallPosition::default(),
            original: None,
            is_card: true,
        };
        let (output, findings) =
            expand(run).map_err(|EvaluationError(finding)| EvaluationError::at(finding, span))?;
        for finding in findings.finish() {
            self.findings.add(|| finding.at_span(span));
        }
        let (text, pieces) = output.into_parts();
        let trust = expansion::least_trust(&pieces, trust).unwrap_or(trust);
        Ok((Text::from(text), trust))
    }
}
