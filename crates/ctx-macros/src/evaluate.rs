//! The evaluator: one walk over the ops, recursive for arguments only.

use std::borrow::Cow;

use ctx_types::{Diagnostic, Source, Span, Text, Trust};

use crate::call::{Argument, Call, Failure, Value};
use crate::env::Env;
use crate::expansion::{self, Expansion, Output, Piece, Writer};
use crate::findings::Findings;
use crate::op::Op;
use crate::random;
use crate::state::State;
use crate::template::Template;

/// Evaluates a template that has something to evaluate.
pub(crate) fn evaluate(template: &Template, env: &Env, state: &mut State, origin: &Source) -> Expansion {
    let mut run = Run {
        template,
        env,
        state,
        trust: origin.trust,
        source_key: random::source_key(origin),
        findings: Findings::default(),
        at: 0,
        depth: 0,
        call_start: 0,
    };
    let (text, pieces) = run.text();
    Expansion::new(text, pieces, origin, template.definitions(), run.findings.finish())
}

struct Run<'a> {
    template: &'a Template,
    env: &'a Env,
    state: &'a mut State,
    /// How far the bytes of the template may be trusted.
    trust: Trust,
    source_key: u64,
    findings: Findings,
    /// The op that comes next.
    at: usize,
    /// How many calls are being evaluated.
    depth: usize,
    /// Where the outermost of them begins in the source.
    call_start: usize,
}

/// What a call came to.
struct Outcome<'a> {
    definition: usize,
    span: Span,
    arguments: Vec<Argument<'a>>,
    /// The value and its trust; none keeps the call as it is written.
    value: Option<(Value, Trust)>,
}

/// A limit was reached: nothing more is evaluated in this text.
struct Stop(Box<Diagnostic>);

impl<'a> Run<'a> {
    fn text(&mut self) -> (Text, Vec<Piece>) {
        let source = self.template.text();
        let mut output = Output::default();
        let evaluated = match *self.template.ops() {
            [Op::Call { definition, span, arguments }, ..] if span.len() == source.len() => {
                match self.lone_call(definition, span, arguments, &mut output) {
                    Ok(Some(shared)) => return shared,
                    Ok(None) => Ok(()),
                    Err(stop) => Err(stop),
                }
            }
            _ => {
                output = Output::with_capacity(source.len());
                self.sequence(&mut output)
            }
        };
        if let Err(Stop(finding)) = evaluated {
            self.findings.add_always(*finding);
            output.push(self.source(Span::new(self.call_start, source.len())), Writer::Template);
        }
        let (text, pieces) = output.into_parts();
        (Text::from(text), pieces)
    }

    /// Evaluates a template that is one call and nothing else: a shared value is the result without a copy.
    fn lone_call(
        &mut self,
        definition: usize,
        span: Span,
        arguments: usize,
        output: &mut Output,
    ) -> Result<Option<(Text, Vec<Piece>)>, Stop> {
        let outcome = self.call(definition, span, arguments)?;
        if let Some((Value::Text(text), trust)) = &outcome.value {
            self.take_output(text.len(), span)?;
            let pieces = Piece::whole(text, Writer::Macro { definition, trust: *trust });
            return Ok(Some((text.clone(), pieces)));
        }
        self.write(&outcome, output)?;
        Ok(None)
    }

    /// Evaluates ops up to the end of the template or of the argument.
    fn sequence(&mut self, output: &mut Output) -> Result<(), Stop> {
        while let Some(op) = self.template.ops().get(self.at) {
            match *op {
                Op::Text { span, .. } => {
                    output.push(self.source(span), Writer::Template);
                    self.at += 1;
                }
                Op::Call { definition, span, arguments } => {
                    let outcome = self.call(definition, span, arguments)?;
                    self.write(&outcome, output)?;
                }
                Op::Arg { .. } | Op::End => break,
            }
        }
        Ok(())
    }

    fn call(&mut self, definition: usize, span: Span, count: usize) -> Result<Outcome<'a>, Stop> {
        if self.depth == 0 {
            self.call_start = span.start;
        }
        self.state.take_step(self.depth + 1).map_err(|finding| stop(finding, span))?;
        self.at += 1;
        self.depth += 1;
        let mut arguments = Vec::with_capacity(count);
        for _ in 0..count {
            arguments.push(self.argument()?);
        }
        self.at += usize::from(count > 0);
        self.depth -= 1;
        self.invoke(definition, span, arguments)
    }

    fn argument(&mut self) -> Result<Argument<'a>, Stop> {
        let (span, first, second) = match self.template.ops().get(self.at..) {
            Some([Op::Arg { span, .. }, first, rest @ ..]) => (*span, *first, rest.first()),
            _ => (Span::new(0, 0), Op::End, None),
        };
        self.at += 1;
        let is_last = matches!(second, Some(Op::Arg { .. } | Op::End));
        match first {
            Op::Arg { .. } | Op::End => {
                Ok(Argument { text: Cow::Borrowed(""), span, trust: Trust::Preset, is_template: true })
            }
            Op::Text { span: literal, .. } if is_last => {
                self.at += 1;
                let text = Cow::Borrowed(self.source(literal));
                Ok(Argument { text, span, trust: self.trust, is_template: true })
            }
            Op::Text { .. } | Op::Call { .. } => {
                let mut output = Output::default();
                self.sequence(&mut output)?;
                let (text, pieces) = output.into_parts();
                let trust = expansion::least_trust(&pieces, self.trust).unwrap_or(Trust::Preset);
                let is_template = expansion::is_all_template(&pieces);
                Ok(Argument { text: Cow::Owned(text), span, trust, is_template })
            }
        }
    }

    fn invoke(
        &mut self,
        definition: usize,
        span: Span,
        arguments: Vec<Argument<'a>>,
    ) -> Result<Outcome<'a>, Stop> {
        let template = self.template;
        let Some(known) = template.definitions().get(definition) else {
            return Ok(Outcome { definition, span, arguments, value: None });
        };
        let trust = arguments.iter().map(|argument| argument.trust).fold(known.trust, Trust::max);
        let mut call = Call {
            definition: known,
            dialect: template.dialect(),
            span,
            arguments: &arguments,
            env: self.env,
            state: self.state,
            findings: &mut self.findings,
            trust,
            source_key: self.source_key,
        };
        let value = match (known.expand)(&mut call) {
            Ok(value) => Some((value, call.trust)),
            Err(Failure { diagnostic, is_limit: true }) => return Err(stop(diagnostic, span)),
            Err(Failure { diagnostic, is_limit: false }) => {
                self.findings.add(|| diagnostic.at_span(span));
                None
            }
        };
        Ok(Outcome { definition, span, arguments, value })
    }

    fn write(&mut self, outcome: &Outcome<'_>, output: &mut Output) -> Result<(), Stop> {
        let (text, trust) = match &outcome.value {
            None => {
                self.keep(outcome, output);
                return Ok(());
            }
            Some((Value::Trim(set), _)) => {
                output.trim(*set);
                return Ok(());
            }
            Some((Value::Str(text), trust)) => (text.as_ref(), *trust),
            Some((Value::Text(text), trust)) => (text.as_str(), *trust),
        };
        self.take_output(text.len(), outcome.span)?;
        output.push(text, Writer::Macro { definition: outcome.definition, trust });
        Ok(())
    }

    /// Writes a call as it stands in the source; where the dialect expands inside text, with the values of its
    /// arguments in their places.
    fn keep(&self, outcome: &Outcome<'_>, output: &mut Output) {
        let mut from = outcome.span.start;
        if self.template.dialect().expands_inside_text() {
            for argument in &outcome.arguments {
                let writer = match argument.is_template {
                    true => Writer::Template,
                    false => Writer::Macro { definition: outcome.definition, trust: argument.trust },
                };
                output.push(self.source(Span::new(from, argument.span.start)), Writer::Template);
                output.push(&argument.text, writer);
                from = argument.span.end;
            }
        }
        output.push(self.source(Span::new(from, outcome.span.end)), Writer::Template);
    }

    fn take_output(&mut self, bytes: usize, span: Span) -> Result<(), Stop> {
        self.state.take_output(bytes).map_err(|finding| stop(finding, span))
    }

    fn source(&self, span: Span) -> &'a str {
        self.template.text().get(span.start..span.end).unwrap_or_default()
    }
}

fn stop(mut finding: Box<Diagnostic>, span: Span) -> Stop {
    finding.location.span = Some(span);
    Stop(finding)
}
