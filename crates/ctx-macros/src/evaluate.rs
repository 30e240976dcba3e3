mod variable;

use std::borrow::Cow;

use ctx_types::{Source, Span, Text, Trust};

use crate::call::{self, Call, CallPosition, Failure, Value};
use crate::definition::Definition;
use crate::diagnostic_list::DiagnosticList;
use crate::env::Env;
use crate::expansion::{self, Expansion, Output, OutputSegment, Writer};
use crate::state::State;
use crate::template::Template;
use crate::tree::{Argument, CallNode, Node, Target};
use crate::{escape, random};

pub(crate) fn evaluate(template: &Template, env: &Env, state: &mut State, origin: &Source) -> Expansion {
    let mut evaluator = Evaluator::new(template, env, state, origin.trust, random::source_key(origin));
    evaluator.original.clone_from(&env.original);
    let (text, pieces) = evaluator.text();
    Expansion::new(text, pieces, origin, template.registry(), evaluator.findings.finish())
}

/// An error is a limit that was reached.
struct Evaluator<'a> {
    template: &'a Template,
    env: &'a Env,
    state: &'a mut State,
    findings: DiagnosticList,
    /// Trust of the template.
    trust: Trust,
    source_key: u64,
    place: CallPosition,
    original: Option<Text>,
    is_card: bool,
    has_escapes: bool,
    depth: usize,
    outermost: OutermostCall,
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
    fn new(
        template: &'a Template,
        env: &'a Env,
        state: &'a mut State,
        trust: Trust,
        source_key: u64,
    ) -> Self {
        Self {
            template,
            env,
            state,
            findings: DiagnosticList::default(),
            trust,
            source_key,
            place: CallPosition::default(),
            original: None,
            is_card: false,
            has_escapes: template.has_escapes(),
            depth: 0,
            outermost: OutermostCall::default(),
        }
    }

    fn text(&mut self) -> (Text, Vec<OutputSegment>) {
        let (source, nodes) = (self.template.text(), self.template.nodes());
        let mut output = Output::with_capacity(self.template.usual_len(), nodes.len());
        if let Err(limit) = self.sequence(nodes, &mut output) {
            self.findings.add_always(*limit.diagnostic);
            output.truncate(self.outermost.output);
            output.push(self.source(Span::new(self.outermost.start, source.len())), Writer::Template);
        }
        if self.has_escapes {
            escape::remove(&mut output, self.template.registry());
        }
        let (text, pieces) = output.into_parts();
        (Text::from(text), pieces)
    }

    fn sequence(&mut self, nodes: &'a [Node], output: &mut Output) -> Result<(), Failure> {
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

    fn call(&mut self, call: &'a CallNode, output: &mut Output) -> Result<(), Failure> {
        let CallNode { span, ref arguments, .. } = *call;
        if self.depth == 0 {
            self.outermost.start = span.start;
        }
        let depth = if call.target == Target::TooDeep { usize::MAX } else { self.depth + 1 };
        self.state.take_step(depth).map_err(|limit| limit.at(span))?;
        match call.target {
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

    /// A trim at the ends of a branch applies around the condition.
    fn condition(
        &mut self,
        arguments: &'a [Argument],
        negated: bool,
        output: &mut Output,
    ) -> Result<(), Failure> {
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

    fn argument(&mut self, argument: &'a Argument) -> Result<call::Argument<'a>, Failure> {
        let Argument { span, ref nodes, trims, .. } = *argument;
        let (text, trust) = match nodes.as_slice() {
            [] => ("", Trust::Preset),
            [Node::Text(literal)] => (self.source(*literal), self.trust),
            nodes => {
                let mut output = Output::default();
                self.depth += 1;
                self.sequence(nodes, &mut output)?;
                self.depth -= 1;
                if trims {
                    output.trim_ends();
                }
                let (text, pieces) = output.into_parts();
                let trust = expansion::least_trust(&pieces, self.trust).unwrap_or(Trust::Preset);
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
    ) -> Result<(), Failure> {
        let known = self.template.registry().definition(definition);
        let mut call = Call {
            definition: known,
            dialect: self.template.dialect(),
            span,
            arguments,
            env: self.env,
            state: self.state,
            findings: &mut self.findings,
            trust: arguments.iter().map(|argument| argument.trust).fold(known.trust, Trust::max),
            source_key: self.source_key,
            template: self.template,
            place: &mut self.place,
            original: &mut self.original,
            is_card: self.is_card,
        };
        let value = (known.expand)(&mut call);
        let trust = call.trust;
        let made = ValuedCall { known, writer: Writer::from_macro(definition, trust), span };
        match value {
            Ok(Value::Text(text)) => self.write(made, &text, output),
            Ok(Value::Str(text)) => self.write(made, &text, output),
            Ok(Value::Template(text)) => {
                let (text, trust) = self.card_text(&text, trust, span).map_err(|limit| limit.at(span))?;
                let writer = Writer::from_macro(definition, trust);
                self.write(ValuedCall { writer, ..made }, &text, output)
            }
            Ok(Value::Trim(set)) => {
                output.trim(set);
                Ok(())
            }
            Err(limit) if limit.is_limit => Err(limit.at(span)),
            Err(failure) => {
                self.findings.add(|| failure.at(span).into_diagnostic());
                self.keep(span, arguments, |trust| Writer::from_macro(definition, trust), output);
                Ok(())
            }
        }
    }

    #[inline]
    fn write(&mut self, made: ValuedCall<'_>, text: &str, output: &mut Output) -> Result<(), Failure> {
        self.take_output(text.len(), made.span)?;
        self.has_escapes = self.has_escapes || may_escape(made.known, text);
        output.push(text, made.writer);
        Ok(())
    }

    /// Expands a text of the card. Other card texts are empty inside it.
    fn card_text(&mut self, text: &Text, trust: Trust, span: Span) -> Result<(Text, Trust), Failure> {
        if self.is_card {
            return Ok((Text::default(), trust));
        }
        let (dialect, registry) = (self.template.dialect(), self.template.registry());
        let template = self.state.derived_texts().template(text, dialect, registry);
        if template.is_plain() {
            return Ok((text.clone(), trust));
        }
        // Reading the text counts as output, even if it expands to nothing.
        self.state.take_output(text.len())?;
        let mut inner = Evaluator::new(&template, self.env, self.state, trust, self.source_key);
        inner.is_card = true;
        inner.depth = self.depth + 1;
        let mut output = Output::default();
        inner.sequence(template.nodes(), &mut output)?;
        if inner.has_escapes {
            escape::remove(&mut output, registry);
        }
        for finding in inner.findings.finish() {
            self.findings.add(|| finding.at_span(span));
        }
        let (text, pieces) = output.into_parts();
        let trust = expansion::least_trust(&pieces, trust).unwrap_or(trust);
        Ok((Text::from(text), trust))
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
        if self.template.dialect().is_sillytavern() {
            for argument in arguments {
                let writer = if argument.is_template { Writer::Template } else { writer(argument.trust) };
                output.push(self.source(Span::new(from, argument.span.start)), Writer::Template);
                output.push(&argument.text, writer);
                from = argument.span.end;
            }
        }
        output.push(self.source(Span::new(from, span.end)), Writer::Template);
    }

    fn take_output(&mut self, bytes: usize, span: Span) -> Result<(), Failure> {
        self.state.take_output(bytes).map_err(|limit| limit.at(span))
    }

    fn source(&self, span: Span) -> &'a str {
        &self.template.text()[span.start..span.end]
    }
}

fn may_escape(known: &Definition, text: &str) -> bool {
    known.echoes && memchr::memchr(b'\\', text.as_bytes()).is_some()
}

/// Returns whether a condition is true: not empty, `0`, `false`, or `off`. Ignores case and surrounding white
/// space.
pub fn is_true(text: &str) -> bool {
    let text = ctx_types::space::trim(text);
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    !(text.is_empty() || is("0") || is("false") || is("off"))
}
