//! The evaluator: one walk over the ops, recursive for arguments and chosen branches only.

mod variable;

use std::borrow::Cow;

use ctx_types::{Diagnostic, Source, Span, Text, Trust};

use crate::call::{Argument, Call, Failure, Place, Value};
use crate::definition::Definition;
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
        place: Place::default(),
        original: env.original.clone(),
        is_card: false,
        has_escapes: template.has_escapes(),
        at: 0,
        depth: 0,
        outermost: Outermost::default(),
        lone: Lone::default(),
        constants: Vec::new(),
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
    place: Place,
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
    lone: Lone,
    /// What constant macros gave, by the number of their definition.
    constants: Vec<Option<(Text, Writer)>>,
}

/// A value that is the whole result and is shared, not copied.
#[derive(Default)]
struct Lone {
    /// The template is one call and nothing else.
    is_possible: bool,
    value: Option<(Text, Writer)>,
}

/// The outermost call that is being evaluated.
#[derive(Clone, Copy, Default)]
struct Outermost {
    /// Where it begins in the source.
    start: usize,
    /// How long the output was before it.
    output: usize,
}

/// A call that has a value.
#[derive(Clone, Copy)]
struct ValuedCall<'k> {
    known: &'k Definition,
    writer: Writer,
    span: Span,
}

/// A limit was reached: nothing more is evaluated in this text.
struct Stop(Box<Diagnostic>);

impl<'a> Run<'a> {
    fn text(&mut self) -> (Text, Vec<Piece>) {
        let source = self.template.text();
        let ops = self.template.ops();
        self.lone.is_possible =
            matches!(ops, [Op::Call { span, .. }, ..] if span.len() == source.len()) && !self.has_escapes;
        let mut output = match self.lone.is_possible {
            true => Output::default(),
            false => Output::with_capacity(self.template.usual_len(), ops.len()),
        };
        let evaluated = self.sequence(&mut output);
        if let Some((text, writer)) = self.lone.value.take() {
            let pieces = Piece::whole(&text, writer);
            return (text, pieces);
        }
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

    /// Evaluates ops up to the end of the template or of the argument.
    fn sequence(&mut self, output: &mut Output) -> Result<(), Stop> {
        let ops = self.template.ops();
        while let Some(op) = ops.get(self.at) {
            if self.depth == 0 {
                self.outermost.output = output.len();
            }
            match *op {
                Op::Text { span, .. } => {
                    output.push(self.source(span), Writer::Template);
                    self.at += 1;
                }
                Op::Call { definition, span, arguments } => {
                    self.call(definition, span, arguments, output)?;
                }
                Op::If { span, negated, .. } => self.condition(span, negated, output)?,
                Op::Variable { access, span } => self.variable(access, span, output)?,
                Op::Arg { .. } | Op::End => break,
            }
        }
        Ok(())
    }

    fn call(&mut self, definition: usize, span: Span, count: usize, output: &mut Output) -> Result<(), Stop> {
        self.enter(span)?;
        if count == 0 {
            self.leave(false);
            return self.bare_call(definition, span, output);
        }
        let mut arguments = Vec::with_capacity(count);
        for _ in 0..count {
            arguments.push(self.argument()?);
        }
        self.leave(true);
        self.invoke(definition, span, &arguments, output)
    }

    /// Makes a call without arguments, of a constant macro only the first time.
    #[inline]
    fn bare_call(&mut self, definition: usize, span: Span, output: &mut Output) -> Result<(), Stop> {
        if let Some(Some((text, writer))) = self.constants.get(definition) {
            self.state.take_output(text.len()).map_err(|finding| stop(finding, span))?;
            output.push(text, *writer);
            return Ok(());
        }
        self.invoke(definition, span, &[], output)
    }

    /// Remembers what a macro gives at all its calls without arguments.
    fn remember(&mut self, definition: usize, value: Text, writer: Writer) {
        if self.constants.is_empty() {
            self.constants.resize(self.template.registry().len(), None);
        }
        if let Some(place) = self.constants.get_mut(definition) {
            *place = Some((value, writer));
        }
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

    /// Evaluates one branch of a condition; what trims at its ends trims around the condition.
    fn condition(&mut self, span: Span, negated: bool, output: &mut Output) -> Result<(), Stop> {
        self.enter(span)?;
        let condition = self.argument()?;
        let holds = is_true(&condition.text) != negated;
        let mut is_chosen = holds;
        while let Some(Op::Arg { next, trims, .. }) = self.template.ops().get(self.at) {
            if is_chosen {
                self.at += 1;
                self.branch(*trims, output)?;
            }
            is_chosen = !holds;
            self.at = *next;
        }
        self.leave(true);
        Ok(())
    }

    fn branch(&mut self, trims: bool, output: &mut Output) -> Result<(), Stop> {
        if !trims {
            return self.sequence(output);
        }
        let mut branch = Output::default();
        self.sequence(&mut branch)?;
        branch.trim_ends();
        output.append(&branch);
        Ok(())
    }

    fn argument(&mut self) -> Result<Argument<'a>, Stop> {
        let (span, trims, first, second) = match self.template.ops().get(self.at..) {
            Some([Op::Arg { span, trims, .. }, first, rest @ ..]) => (*span, *trims, *first, rest.first()),
            _ => (Span::new(0, 0), false, Op::End, None),
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
                if trims {
                    output.trim_ends();
                }
                let (text, pieces) = output.into_parts();
                let trust = expansion::least_trust(&pieces, self.trust).unwrap_or(Trust::Preset);
                let is_template = expansion::is_all_template(&pieces);
                Ok(Argument { text: Cow::Owned(text), span, trust, is_template })
            }
        }
    }

    /// Calls a macro and writes its value; a call without one stays as it is written.
    fn invoke(
        &mut self,
        definition: usize,
        span: Span,
        arguments: &[Argument<'_>],
        output: &mut Output,
    ) -> Result<(), Stop> {
        let template = self.template;
        let Some(known) = template.registry().definition(definition) else {
            self.keep(span, arguments, |trust| Writer::of_macro(definition, trust), output);
            return Ok(());
        };
        let trust = arguments.iter().map(|argument| argument.trust).fold(known.trust, Trust::max);
        let mut call = Call {
            definition: known,
            dialect: template.dialect(),
            span,
            arguments,
            env: self.env,
            state: self.state,
            findings: &mut self.findings,
            trust,
            source_key: self.source_key,
            template,
            text: template.text(),
            place: &mut self.place,
            original: &mut self.original,
            is_card: self.is_card,
        };
        let value = (known.expand)(&mut call);
        let made = ValuedCall { known, writer: Writer::of_macro(definition, call.trust), span };
        match &value {
            Ok(Value::Text(text)) => {
                if known.constant && arguments.is_empty() && !known.echoes {
                    self.remember(definition, text.clone(), made.writer);
                }
                self.write_shared(made, text, output)
            }
            Ok(Value::Str(text)) => self.write(made, text, output),
            Ok(Value::Template(text)) => {
                let (text, writer) = self.expanded(text, made)?;
                self.write_shared(ValuedCall { writer, ..made }, &text, output)
            }
            Ok(Value::Trim(set)) => {
                output.trim(*set);
                Ok(())
            }
            Err(Failure { diagnostic, is_limit: true }) => Err(stop(diagnostic.clone(), span)),
            Err(Failure { diagnostic, is_limit: false }) => {
                self.findings.add(|| diagnostic.clone().at_span(span));
                self.keep(span, arguments, |trust| Writer::of_macro(definition, trust), output);
                Ok(())
            }
        }
    }

    /// Writes a shared text, which is not copied where the call is the whole template.
    #[inline]
    fn write_shared(&mut self, made: ValuedCall<'_>, text: &Text, output: &mut Output) -> Result<(), Stop> {
        if self.lone.is_possible && self.depth == 0 && !may_escape(made.known, text) {
            self.take_output(text.len(), made.span)?;
            self.lone.value = Some((text.clone(), made.writer));
            return Ok(());
        }
        self.write(made, text, output)
    }

    #[inline]
    fn write(&mut self, made: ValuedCall<'_>, text: &str, output: &mut Output) -> Result<(), Stop> {
        self.take_output(text.len(), made.span)?;
        self.has_escapes = self.has_escapes || may_escape(made.known, text);
        output.push(text, made.writer);
        Ok(())
    }

    /// Expands the macros of a card's text.
    fn expanded(
        &mut self,
        text: &Text,
        ValuedCall { writer, span, .. }: ValuedCall<'_>,
    ) -> Result<(Text, Writer), Stop> {
        let Writer::Macro { definition, trust } = writer else { return Ok((text.clone(), writer)) };
        if self.is_card {
            return Ok((Text::default(), writer));
        }
        let (dialect, registry) = (self.template.dialect(), self.template.registry());
        let template = self.state.known_texts().template(text, dialect, registry);
        if template.is_plain() {
            return Ok((text.clone(), writer));
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
            place: Place::default(),
            original: None,
            is_card: true,
            has_escapes: template.has_escapes(),
            at: 0,
            depth: self.depth + 1,
            outermost: Outermost::default(),
            lone: Lone::default(),
            constants: Vec::new(),
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
        Ok((Text::from(text), Writer::Macro { definition, trust }))
    }

    /// Writes a call as it stands in the source; where the dialect expands inside text, with the values of its
    /// arguments in their places.
    fn keep(
        &self,
        span: Span,
        arguments: &[Argument<'_>],
        writer: impl Fn(Trust) -> Writer,
        output: &mut Output,
    ) {
        let mut from = span.start;
        if self.template.dialect().expands_inside_text() {
            for argument in arguments {
                let writer = match argument.is_template {
                    true => Writer::Template,
                    false => writer(argument.trust),
                };
                output.push(self.source(Span::new(from, argument.span.start)), Writer::Template);
                output.push(&argument.text, writer);
                from = argument.span.end;
            }
        }
        output.push(self.source(Span::new(from, span.end)), Writer::Template);
    }

    fn take_output(&mut self, bytes: usize, span: Span) -> Result<(), Stop> {
        self.state.take_output(bytes).map_err(|finding| stop(finding, span))
    }

    fn source(&self, span: Span) -> &'a str {
        self.template.text().get(span.start..span.end).unwrap_or_default()
    }
}

/// Tells whether the value of a macro may have escapes that are taken out of the result.
fn may_escape(known: &Definition, text: &str) -> bool {
    known.echoes && memchr::memchr(b'\\', text.as_bytes()).is_some()
}

/// Tells whether a text is a true condition: not empty, `0`, `false` or `off`, in any letters and whatever white space
/// is around it.
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

fn stop(mut finding: Box<Diagnostic>, span: Span) -> Stop {
    finding.location.span = Some(span);
    Stop(finding)
}
