//! What evaluators share that rewrite a whole text in passes, one macro after the other.
//!
//! They reproduce applications whose macros are replacements in a text: what a pass wrote is read by the
//! passes behind it. Who wrote which bytes is kept through all of them.

use std::borrow::Cow;
use std::ops::Range;

use ctx_types::{Source, Span, Text, Trust};

use crate::call::{Argument, Failure, Value};
use crate::expansion::{Expansion, Output, Writer};
use crate::run::{Run, Stop};

/// A call in the text of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassCall<'t> {
    pub(crate) range: Range<usize>,
    /// The texts of its arguments with their places.
    pub(crate) arguments: Vec<(Cow<'t, str>, Range<usize>)>,
}

impl Run<'_> {
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
        let span = Span::new(found.range.start, found.range.end);
        let (value, trust) = self.invoke(known, before.text(), span, &arguments);
        match value {
            Ok(value) => {
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
