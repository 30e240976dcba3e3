//! What evaluators share that rewrite a whole text in passes, one macro after the other.
//!
//! They reproduce applications whose macros are replacements in a text: what a pass wrote is read by the
//! passes behind it. Who wrote which bytes is kept through all of them.

use std::borrow::Cow;
use std::ops::Range;

use ctx_types::{Diagnostic, Source, Span, Text, Trust};

use crate::call::{Argument, Call, Failure, Place, Value};
use crate::env::Env;
use crate::expansion::{Expansion, Output, Writer};
use crate::findings::Findings;
use crate::random;
use crate::state::State;
use crate::template::Template;

/// A run of passes over one text.
pub(crate) struct Passes<'a> {
    pub(crate) template: &'a Template,
    pub(crate) env: &'a Env,
    pub(crate) state: &'a mut State,
    pub(crate) findings: Findings,
    /// How far the bytes of the template may be trusted.
    pub(crate) trust: Trust,
    pub(crate) source_key: u64,
    pub(crate) place: Place,
    pub(crate) original: Option<Text>,
    /// The text is one of a card.
    pub(crate) is_card: bool,
}

/// A call in the text of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassCall<'t> {
    pub(crate) range: Range<usize>,
    /// The texts of its arguments with their places.
    pub(crate) arguments: Vec<(Cow<'t, str>, Range<usize>)>,
}

/// A limit was reached: the text stays as it is now.
pub(crate) struct Stop(pub(crate) Box<Diagnostic>);

impl<'a> Passes<'a> {
    pub(crate) fn new(template: &'a Template, env: &'a Env, state: &'a mut State, origin: &Source) -> Self {
        Self {
            template,
            env,
            state,
            findings: Findings::default(),
            trust: origin.trust,
            source_key: random::source_key(origin),
            place: Place::default(),
            original: env.original.clone(),
            is_card: false,
        }
    }

    /// Returns what the passes came to. Findings have no place: a pass reads what others wrote.
    pub(crate) fn finish(mut self, output: Output, stopped: Option<Stop>, origin: &Source) -> Expansion {
        if let Some(Stop(finding)) = stopped {
            self.findings.add_always(*finding);
        }
        let mut findings = self.findings.finish();
        for finding in &mut findings {
            finding.location.span = None;
        }
        let (text, pieces) = output.into_parts();
        Expansion::new(Text::from(text), pieces, origin, self.template.registry(), findings)
    }

    /// Rewrites every call that `next` finds from a place on, from left to right, with the value that `write`
    /// gives; a call without one stays.
    ///
    /// Linear in the text besides the cost of both.
    pub(crate) fn pass(
        &mut self,
        output: &mut Output,
        mut next: impl for<'t> FnMut(&'t str, usize) -> Option<PassCall<'t>>,
        mut write: impl FnMut(&mut Self, &Output, &PassCall<'_>) -> Result<Option<(Value, Writer)>, Stop>,
    ) -> Result<(), Stop> {
        let before = std::mem::take(output);
        let mut copier = before.copier();
        let mut at = 0;
        self.place.begin();
        while let Some(found) = next(before.text(), at) {
            copier.copy(at..found.range.start, output);
            at = found.range.end;
            match write(self, &before, &found) {
                Ok(Some((Value::Trim(set), _))) => output.trim(set),
                Ok(Some((value, writer))) => output.push(value.text(), writer),
                Ok(None) => copier.copy(found.range, output),
                Err(stop) => {
                    copier.copy(found.range.start..before.len(), output);
                    return Err(stop);
                }
            }
        }
        copier.copy(at..before.len(), output);
        Ok(())
    }

    /// Calls a macro; `before` is the text of the pass. `Value::Template` is left to the caller.
    pub(crate) fn call(
        &mut self,
        definition: usize,
        before: &Output,
        found: &PassCall<'_>,
    ) -> Result<Option<(Value, Trust)>, Stop> {
        self.state.take_step(1).map_err(Stop)?;
        let Some(known) = self.template.registry().definition(definition) else {
            return Ok(None);
        };
        let arguments: Vec<Argument<'_>> =
            found.arguments.iter().map(|(text, range)| self.argument(text, range, before)).collect();
        let trust = arguments.iter().map(|argument| argument.trust).fold(known.trust, Trust::max);
        let mut call = Call {
            definition: known,
            dialect: self.template.dialect(),
            span: Span::new(found.range.start, found.range.end),
            arguments: &arguments,
            env: self.env,
            state: self.state,
            findings: &mut self.findings,
            trust,
            source_key: self.source_key,
            template: self.template,
            text: before.text(),
            place: &mut self.place,
            original: &mut self.original,
            is_card: self.is_card,
        };
        match (known.expand)(&mut call) {
            Ok(value) => {
                let trust = call.trust;
                self.state.take_output(value.text().len()).map_err(Stop)?;
                Ok(Some((value, trust)))
            }
            Err(Failure { diagnostic, is_limit: true }) => Err(Stop(diagnostic)),
            Err(Failure { diagnostic, is_limit: false }) => {
                self.findings.add(|| *diagnostic);
                Ok(None)
            }
        }
    }

    fn argument<'t>(&self, text: &'t str, range: &Range<usize>, before: &Output) -> Argument<'t> {
        let trust = before.trust_of(range.clone(), self.trust);
        let span = Span::new(range.start, range.end);
        Argument { text: Cow::Borrowed(text), span, trust, is_template: false }
    }
}
