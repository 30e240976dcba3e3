//! The evaluator: one walk over the ops, recursive for arguments and chosen branches only.

mod variable;

use std::borrow::Cow;

use ctx_types::{Diagnostic, Source, Span, Text, Trust};

use crate::call::{Argument, Call, Failure, Value};
use crate::env::Env;
use crate::expansion::{self, Expansion, Output, Piece, Writer};
use crate::findings::Findings;
use crate::op::Op;
use crate::state::State;
use crate::template::Template;
use crate::{escape, random};

/// Evaluates a template that has something to evaluate.
pub(crate) fn evaluate(template: &Template, env: &Env, state: &mut State, origin: &Source) -> Expansion {
    let mut run = Run {
        template,
        env,
        state,
        trust: origin.trust,
        source_key: random::source_key(origin),
        findings: Findings::default(),
        original: env.original.clone(),
        is_card: false,
        has_escapes: template.has_escapes(),
        at: 0,
        depth: 0,
        outermost: Outermost::default(),
    };
    let (text, pieces) = run.text();
    Expansion::new(text, pieces, origin, template.registry(), run.findings.finish())
}

struct Run<'a> {
    template: &'a Template,
    env: &'a Env,
    state: &'a mut State,
    /// How far the bytes of the template may be trusted.
    trust: Trust,
    source_key: u64,
    findings: Findings,
    original: Option<Text>,
    /// The text is one of a card.
    is_card: bool,
    /// The result may have escapes.
    has_escapes: bool,
    /// The op that comes next.
    at: usize,
    /// How many calls are being evaluated.
    depth: usize,
    outermost: Outermost,
}

/// The outermost call that is being evaluated.
#[derive(Clone, Copy, Default)]
struct Outermost {
    /// Where it begins in the source.
    start: usize,
    /// How long the output was before it.
    output: usize,
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
            output.truncate(self.outermost.output);
            output.push(self.source(Span::new(self.outermost.start, source.len())), Writer::Template);
        }
        if self.has_escapes {
            escape::remove(&mut output, self.template.registry());
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
        if let Some((Value::Text(text), trust)) = &outcome.value
            && !(self.has_escapes || self.may_escape(definition, text))
        {
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
            if self.depth == 0 {
                self.outermost.output = output.len();
            }
            match *op {
                Op::Text { span, .. } => {
                    output.push(self.source(span), Writer::Template);
                    self.at += 1;
                }
                Op::Call { definition, span, arguments } => {
                    let outcome = self.call(definition, span, arguments)?;
                    self.write(&outcome, output)?;
                }
                Op::If { span, negated, .. } => self.condition(span, negated, output)?,
                Op::Variable { access, span } => self.variable(access, span, output)?,
                Op::Arg { .. } | Op::End => break,
            }
        }
        Ok(())
    }

    fn call(&mut self, definition: usize, span: Span, count: usize) -> Result<Outcome<'a>, Stop> {
        self.enter(span)?;
        let mut arguments = Vec::with_capacity(count);
        for _ in 0..count {
            arguments.push(self.argument()?);
        }
        self.leave(count > 0);
        self.invoke(definition, span, arguments)
    }

    /// Steps over the first op of a call.
    fn enter(&mut self, span: Span) -> Result<(), Stop> {
        if self.depth == 0 {
            self.outermost.start = span.start;
        }
        self.state.take_step(self.depth + 1).map_err(|finding| stop(finding, span))?;
        self.at += 1;
        self.depth += 1;
        Ok(())
    }

    /// Steps over the end of a call.
    fn leave(&mut self, has_end: bool) {
        self.at += usize::from(has_end);
        self.depth -= 1;
    }

    /// Evaluates one branch of a condition, in its place: what trims there trims around the condition.
    fn condition(&mut self, span: Span, negated: bool, output: &mut Output) -> Result<(), Stop> {
        self.enter(span)?;
        let condition = self.argument()?;
        let holds = is_true(&condition.text) != negated;
        let mut is_chosen = holds;
        while let Some(Op::Arg { next, .. }) = self.template.ops().get(self.at) {
            if is_chosen {
                self.at += 1;
                self.sequence(output)?;
            }
            is_chosen = !holds;
            self.at = *next;
        }
        self.leave(true);
        Ok(())
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
            Op::Text { .. } | Op::Call { .. } | Op::If { .. } | Op::Variable { .. } => {
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
        let Some(known) = template.registry().definition(definition) else {
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
            template,
            before: template.text().get(..span.start).unwrap_or_default(),
            original: &mut self.original,
            is_card: self.is_card,
        };
        let value = match (known.expand)(&mut call) {
            Ok(Value::Template(text)) => {
                let trust = call.trust;
                Some(self.expanded(&text, trust, span)?)
            }
            Ok(value) => Some((value, call.trust)),
            Err(Failure { diagnostic, is_limit: true }) => return Err(stop(diagnostic, span)),
            Err(Failure { diagnostic, is_limit: false }) => {
                self.findings.add(|| diagnostic.at_span(span));
                None
            }
        };
        Ok(Outcome { definition, span, arguments, value })
    }

    /// Expands the macros of a card's text.
    fn expanded(&mut self, text: &Text, trust: Trust, span: Span) -> Result<(Value, Trust), Stop> {
        if self.is_card {
            return Ok((Value::EMPTY, trust));
        }
        let template = Template::parse(text, self.template.dialect(), self.template.registry());
        if template.is_plain() {
            return Ok((Value::Text(text.clone()), trust));
        }
        // Reading the text is work of the run, also where nothing is written.
        self.take_output(text.len(), span)?;
        let mut run = Run {
            template: &template,
            env: self.env,
            state: self.state,
            trust,
            source_key: self.source_key,
            findings: Findings::default(),
            original: None,
            is_card: true,
            has_escapes: template.has_escapes(),
            at: 0,
            depth: self.depth + 1,
            outermost: Outermost::default(),
        };
        let mut output = Output::default();
        run.sequence(&mut output).map_err(|Stop(finding)| stop(finding, span))?;
        if run.has_escapes {
            escape::remove(&mut output, template.registry());
        }
        for finding in run.findings.finish() {
            self.findings.add(|| finding.at_span(span));
        }
        let (text, pieces) = output.into_parts();
        let trust = expansion::least_trust(&pieces, trust).unwrap_or(trust);
        Ok((Value::from(text), trust))
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
            Some((value, trust)) => (value.text(), *trust),
        };
        self.take_output(text.len(), outcome.span)?;
        self.has_escapes = self.has_escapes || self.may_escape(outcome.definition, text);
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

    /// Tells whether the value of a macro may have escapes that are taken out of the result.
    fn may_escape(&self, definition: usize, text: &str) -> bool {
        let known = self.template.registry().definition(definition);
        known.is_some_and(|known| known.echoes) && memchr::memchr(b'\\', text.as_bytes()).is_some()
    }

    fn take_output(&mut self, bytes: usize, span: Span) -> Result<(), Stop> {
        self.state.take_output(bytes).map_err(|finding| stop(finding, span))
    }

    fn source(&self, span: Span) -> &'a str {
        self.template.text().get(span.start..span.end).unwrap_or_default()
    }
}

/// Tells whether a text is a true condition: not empty, `0`, `false` or `off`.
fn is_true(text: &str) -> bool {
    let text = crate::space::trim(text);
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    !(text.is_empty() || is("0") || is("false") || is("off"))
}

fn stop(mut finding: Box<Diagnostic>, span: Span) -> Stop {
    finding.location.span = Some(span);
    Stop(finding)
}
