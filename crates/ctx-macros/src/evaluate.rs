mod variable;

use std::borrow::Cow;

use ctx_types::{Source, Span, Text, Trust};

use crate::call::{self, Failure, Value};
use crate::definition::Definition;
use crate::diagnostic_list::DiagnosticList;
use crate::env::Env;
use crate::escape;
use crate::expansion::{self, Expansion, Output, OutputSegment, Writer};
use crate::run::{EvaluationError, Run};
use crate::state::State;
use crate::template::Template;
use crate::tree::{Argument, CallNode, Node, Target};

pub(crate) fn evaluate(template: &Template, env: &Env, state: &mut State, origin: &Source) -> Expansion {
    let mut evaluator = Evaluator::new(Run::new(template, env, state, origin), 0);
    let (text, pieces) = evaluator.text();
    Expansion::new(text, pieces, origin, template.registry(), evaluator.run.findings.finish())
}

struct Evaluator<'a> {
    run: Run<'a>,
    has_escapes: bool,
    depth: usize,
    outermost: OutermostCall,
    /// By definition index.
    constants: Vec<Option<(Text, Writer)>>,
}

#[derive(Clone, Copy, Default)]
struct OutermostCall {
    /// Source offset.
    start: usize,
    /// Output length before the call.
    output: usize,
}

#[derive(Clone, Copy)]
struct ValuedCall<'k> {
    known: &'k Definition,
    writer: Writer,
    span: Span,
}

impl<'a> Evaluator<'a> {
    fn new(run: Run<'a>, depth: usize) -> Self {
        let has_escapes = run.template.has_escapes();
        Self { run, has_escapes, depth, outermost: OutermostCall::default(), constants: Vec::new() }
    }

    fn text(&mut self) -> (Text, Vec<OutputSegment>) {
        let template = self.run.template;
        let (source, nodes) = (template.text(), template.nodes());
        let mut output = Output::with_capacity(template.usual_len(), nodes.len());
        let evaluated = self.sequence(nodes, &mut output);
        if let Err(EvaluationError(finding)) = evaluated {
            self.run.findings.add_always(*finding);
            output.truncate(self.outermost.output);
            output.push(self.source(Span::new(self.outermost.start, source.len())), Writer::Template);
        }
        if self.has_escapes {
            escape::remove(&mut output, template.registry());
        }
        let (text, pieces) = output.into_parts();
        (Text::from(text), pieces)
    }

    fn sequence(&mut self, nodes: &'a [Node], output: &mut Output) -> Result<(), EvaluationError> {
        for node in nodes {
            if self.depth == 0 {
                self.outermost.output = output.len();
            }
            match node {
                Node::Text(span) => output.push(self.source(*span), Writer::Template),
                Node::Call(call) => self.call(call, output)?,
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &'a CallNode, output: &mut Output) -> Result<(), EvaluationError> {
        let CallNode { span, ref arguments, .. } = *call;
        if self.depth == 0 {
            self.outermost.start = span.start;
        }
        let depth = if call.target == Target::TooDeep { usize::MAX } else { self.depth + 1 };
        self.run.state.take_step(depth).map_err(|finding| EvaluationError::at(finding, span))?;
        match call.target {
            Target::Macro(definition) if arguments.is_empty() => self.bare_call(definition, span, output),
            Target::Macro(definition) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.argument(argument)?);
                }
                self.invoke(definition, span, &values, output)
            }
            Target::If { negated, .. } => self.condition(arguments, negated, output),
            Target::Variable(access) => self.variable(access, span, arguments.first(), output),
            Target::TooDeep => Ok(()),
        }
    }

    #[inline]
    fn bare_call(
        &mut self,
        definition: usize,
        span: Span,
        output: &mut Output,
    ) -> Result<(), EvaluationError> {
        if let Some(Some((text, writer))) = self.constants.get(definition) {
            self.run.state.take_output(text.len()).map_err(|finding| EvaluationError::at(finding, span))?;
            output.push(text, *writer);
            return Ok(());
        }
        self.invoke(definition, span, &[], output)
    }

    fn remember(&mut self, definition: usize, value: Text, writer: Writer) {
        if self.constants.is_empty() {
            self.constants.resize(self.run.template.registry().len(), None);
        }
        self.constants[definition] = Some((value, writer));
    }

    /// A trim at the ends of a branch applies around the condition.
    fn condition(
        &mut self,
        arguments: &'a [Argument],
        negated: bool,
        output: &mut Output,
    ) -> Result<(), EvaluationError> {
        let [condition, branches @ ..] = arguments else { return Ok(()) };
        let condition = self.argument(condition)?;
        let chosen = usize::from(is_true(&condition.text) == negated);
        let Some(Argument { nodes, trims, .. }) = branches.get(chosen) else { return Ok(()) };
        self.depth += 1;
        if *trims {
            let mut branch = Output::default();
            self.sequence(nodes, &mut branch)?;
            branch.trim_ends();
            output.append(&branch);
        } else {
            self.sequence(nodes, output)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn argument(&mut self, argument: &'a Argument) -> Result<call::Argument<'a>, EvaluationError> {
        let Argument { span, ref nodes, trims, .. } = *argument;
        let (text, trust) = match nodes.as_slice() {
            [] => ("", Trust::Preset),
            [Node::Text(literal)] => (self.source(*literal), self.run.trust),
            nodes => {
                let mut output = Output::default();
                self.depth += 1;
                self.sequence(nodes, &mut output)?;
                self.depth -= 1;
                if trims {
                    output.trim_ends();
                }
                let (text, pieces) = output.into_parts();
                let trust = expansion::least_trust(&pieces, self.run.trust).unwrap_or(Trust::Preset);
                let is_template = expansion::is_all_template(&pieces);
                return Ok(call::Argument { text: Cow::Owned(text), span, trust, is_template });
            }
        };
        Ok(call::Argument { text: Cow::Borrowed(text), span, trust, is_template: true })
    }

    fn invoke(
        &mut self,
        definition: usize,
        span: Span,
        arguments: &[call::Argument<'_>],
        output: &mut Output,
    ) -> Result<(), EvaluationError> {
        let template = self.run.template;
        let known = template.registry().definition(definition);
        let (value, trust) = self.run.invoke(known, template.text(), span, arguments);
        let made = ValuedCall { known, writer: Writer::from_macro(definition, trust), span };
        match &value {
            Ok(Value::Text(text)) => {
                if known.constant && arguments.is_empty() && !known.echoes {
                    self.remember(definition, text.clone(), made.writer);
                }
                self.write(made, text, output)
            }
            Ok(Value::Str(text)) => self.write(made, text, output),
            Ok(Value::Template(text)) => {
                let depth = self.depth + 1;
                let expand = |run: Run<'_>| Evaluator::new(run, depth).card_text();
                let (text, trust) = self.run.card_text(text, trust, span, expand)?;
                self.write(
                    ValuedCall { writer: Writer::from_macro(definition, trust), ..made },
                    &text,
                    output,
                )
            }
            Ok(Value::Trim(set)) => {
                output.trim(*set);
                Ok(())
            }
            Err(Failure { diagnostic, is_limit: true }) => Err(EvaluationError::at(diagnostic.clone(), span)),
            Err(Failure { diagnostic, is_limit: false }) => {
                self.run.findings.add(|| diagnostic.clone().at_span(span));
                self.keep(span, arguments, |trust| Writer::from_macro(definition, trust), output);
                Ok(())
            }
        }
    }

    #[inline]
    fn write(
        &mut self,
        made: ValuedCall<'_>,
        text: &str,
        output: &mut Output,
    ) -> Result<(), EvaluationError> {
        self.take_output(text.len(), made.span)?;
        self.has_escapes = self.has_escapes || may_escape(made.known, text);
        output.push(text, made.writer);
        Ok(())
    }

    fn card_text(mut self) -> Result<(Output, DiagnosticList), EvaluationError> {
        let mut output = Output::default();
        self.sequence(self.run.template.nodes(), &mut output)?;
        if self.has_escapes {
            escape::remove(&mut output, self.run.template.registry());
        }
        Ok((output, self.run.findings))
    }

    /// Writes the source of a call, with expanded arguments if the macro syntax expands nested calls.
    fn keep(
        &self,
        span: Span,
        arguments: &[call::Argument<'_>],
        writer: impl Fn(Trust) -> Writer,
        output: &mut Output,
    ) {
        let mut from = span.start;
        if self.run.template.dialect().is_sillytavern() {
            for argument in arguments {
                let writer = if argument.is_template { Writer::Template } else { writer(argument.trust) };
                output.push(self.source(Span::new(from, argument.span.start)), Writer::Template);
                output.push(&argument.text, writer);
                from = argument.span.end;
            }
        }
        output.push(self.source(Span::new(from, span.end)), Writer::Template);
    }

    fn take_output(&mut self, bytes: usize, span: Span) -> Result<(), EvaluationError> {
        self.run.state.take_output(bytes).map_err(|finding| EvaluationError::at(finding, span))
    }

    fn source(&self, span: Span) -> &'a str {
        &self.run.template.text()[span.start..span.end]
    }
}

fn may_escape(known: &Definition, text: &str) -> bool {
    known.echoes && memchr::memchr(b'\\', text.as_bytes()).is_some()
}

/// Returns whether a condition is true: not empty, `0`, `false`, or `off`. Ignores case and surrounding white
/// space.
///
/// ```
/// use ctx_macros::is_true;
///
/// assert!(is_true("no"));
/// assert!(!is_true(" OFF "));
/// ```
pub fn is_true(text: &str) -> bool {
    let text = ctx_types::space::trim(text);
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    !(text.is_empty() || is("0") || is("false") || is("off"))
}
