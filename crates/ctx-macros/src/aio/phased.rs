//! AIO Hub's own evaluator: three passes over the whole text, in each of which equal calls are made once.
//!
//! It is for texts that rely on it. What it gives is inserted as it is, though: `$&` and its like are text.

use std::collections::{HashMap, HashSet};

use ctx_types::{Diagnostic, Source, phrase, space};
use memchr::{memchr, memchr_iter, memmem};

use crate::call::Value;
use crate::check;
use crate::codes;
use crate::definition::Phase;
use crate::env::Env;
use crate::expansion::{Expansion, Output, Writer};
use crate::passes::PassCall;
use crate::run::{Run, Stop};
use crate::state::State;
use crate::template::Template;

/// How many bytes the passes over one text may rewrite.
const MAX_WORK: usize = 8 << 20;

/// Evaluates a text in passes.
pub(crate) fn evaluate(template: &Template, env: &Env, state: &mut State, origin: &Source) -> Expansion {
    let mut phased = Phased { run: Run::new(template, env, state, origin), work: 0 };
    let mut output = Output::of_template(template.text());
    let phases = [Phase::Before, Phase::Substitute, Phase::After];
    let stopped = phases.into_iter().try_for_each(|phase| phased.phase(phase, &mut output)).err();
    if stopped.is_none() {
        unescape(&mut output);
    }
    phased.run.finish(output, stopped, origin)
}

struct Phased<'a> {
    run: Run<'a>,
    /// How many bytes were rewritten.
    work: usize,
}

/// What every occurrence of a call becomes.
struct Known {
    /// The call as it is written.
    call: String,
    value: Value,
    writer: Writer,
}

impl Phased<'_> {
    /// Makes each different call of a phase once, in the order in which they first appear, then puts the values
    /// in their places.
    fn phase(&mut self, phase: Phase, output: &mut Output) -> Result<(), Stop> {
        let mut known = Vec::new();
        for found in distinct_calls(output.text()) {
            known.extend(self.make(phase, &found, output)?);
        }
        let (trims, known): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|known| matches!(known.value, Value::Trim(_)));
        // Values with braces may hold, or make, a call that comes later in the list.
        for batch in known
            .chunk_by(|left, right| left.is_closed() && right.is_closed())
            .chain(std::iter::once(&trims[..]))
        {
            self.replace(batch, output)?;
        }
        Ok(())
    }

    fn make(&mut self, phase: Phase, found: &PassCall<'_>, output: &Output) -> Result<Option<Known>, Stop> {
        let call = output.text().get(found.range.clone()).unwrap_or_default();
        let name = split(call).first().map_or("", |(name, _)| *name);
        let registry = self.run.template.registry();
        let definition = registry.find(name, self.run.template.dialect());
        let Some((definition, declared)) =
            definition.and_then(|index| Some((index, registry.definition(index)?)))
        else {
            return Ok(None);
        };
        if declared.phase != phase {
            return Ok(None);
        }
        if found.arguments.len() < declared.arity.min {
            self.run.findings.add(|| check::wrong_count(declared, found.arguments.len()));
            return Ok(None);
        }
        if declared.arity.max.is_some_and(|max| found.arguments.len() > max) {
            self.run.findings.add(|| check::wrong_count(declared, found.arguments.len()));
        }
        let made = self.run.call(definition, output, found)?;
        let call = call.to_owned();
        Ok(made.map(|(value, trust)| Known { call, value, writer: Writer::of_macro(definition, trust) }))
    }

    /// Puts values in the places of their calls. O(text), for all of them together.
    fn replace(&mut self, batch: &[Known], output: &mut Output) -> Result<(), Stop> {
        if batch.is_empty() {
            return Ok(());
        }
        self.work = self.work.saturating_add(output.len());
        if self.work > MAX_WORK {
            let message = phrase!("the passes over a text rewrite more than {limit} bytes", limit = MAX_WORK);
            return Err(Stop(Box::new(Diagnostic::error(codes::STEP_LIMIT, message))));
        }
        let by_call: HashMap<&str, &Known> = batch.iter().map(|known| (known.call.as_str(), known)).collect();
        let mut closing = Closing::default();
        self.run.pass(
            output,
            |text, at| next_of(text, at, &by_call, &mut closing),
            |run, before, found| {
                let call = before.text().get(found.range.clone()).unwrap_or_default();
                let Some(known) = by_call.get(call) else { return Ok(None) };
                run.state.take_output(known.value.text().len()).map_err(Stop)?;
                Ok(Some((known.value.clone(), known.writer)))
            },
        )
    }
}

impl Known {
    /// Returns whether the value can be no part of a call.
    fn is_closed(&self) -> bool {
        !self.value.text().contains(['{', '}', '\\'])
    }
}

/// Returns the first of each of the calls of a text that are written alike.
fn distinct_calls(text: &str) -> Vec<PassCall<'_>> {
    let mut seen = HashSet::new();
    let (mut calls, mut at, mut closing) = (Vec::new(), 0, Closing::default());
    while let Some(start) = next_opening(text, at).filter(|_| !closing.is_over(text)) {
        let Some(end) = closing.of(text, start) else {
            at = start + 1;
            continue;
        };
        at = end;
        let call = text.get(start..end).unwrap_or_default();
        if seen.insert(call) {
            let arguments = split(call).into_iter().skip(1);
            let arguments = arguments.map(|(argument, offset)| {
                let from = start + offset;
                (argument.into(), from..from + argument.len())
            });
            calls.push(PassCall { range: start..end, arguments: arguments.collect() });
        }
    }
    calls
}

/// Returns the next call from a place on that is one of those that are known.
fn next_of<'t>(
    text: &'t str,
    mut at: usize,
    known: &HashMap<&str, &Known>,
    closing: &mut Closing,
) -> Option<PassCall<'t>> {
    loop {
        let start = next_opening(text, at).filter(|_| !closing.is_over(text))?;
        if let Some(end) = closing.of(text, start)
            && text.get(start..end).is_some_and(|call| known.contains_key(call))
        {
            return Some(PassCall { range: start..end, arguments: Vec::new() });
        }
        at = start + 1;
    }
}

/// Returns the next place of two braces without a backslash before them.
fn next_opening(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let braces = memchr_iter(b'{', bytes.get(from..)?).map(|found| from + found);
    let is_escaped = |at: usize| at > 0 && bytes.get(at - 1) == Some(&b'\\');
    let mut openings = braces.filter(|at| bytes.get(at + 1) == Some(&b'{') && !is_escaped(*at));
    openings.next()
}

/// Where the next closing brace is; asked for places that only grow, so that no byte is read twice.
#[derive(Default)]
struct Closing(Option<usize>);

impl Closing {
    /// Returns whether there is none any more.
    fn is_over(&self, text: &str) -> bool {
        self.0 == Some(text.len())
    }

    /// Returns the end of the call that begins at `start`: its first closing brace must be one of two, and there
    /// must be something before them.
    fn of(&mut self, text: &str, start: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let inner = start + 2;
        if self.0.is_none_or(|brace| brace < inner) {
            let rest = bytes.get(inner..)?;
            self.0 = Some(memchr(b'}', rest).map_or(bytes.len(), |found| inner + found));
        }
        let brace = self.0?;
        (brace > inner && bytes.get(brace + 1) == Some(&b'}')).then_some(brace + 2)
    }
}

/// Splits a call into its name and arguments, trimmed, each with its place in the call.
fn split(call: &str) -> Vec<(&str, usize)> {
    let inner = call.get(2..call.len().saturating_sub(2)).unwrap_or_default();
    let mut from = 2;
    let parts = inner.split("::").map(|part| {
        let trimmed = space::trim(part);
        let skipped = part.len() - space::trim_start(part).len();
        let place = from + if trimmed.is_empty() { 0 } else { skipped };
        from += part.len() + 2;
        (trimmed, place)
    });
    parts.collect()
}

/// Takes the backslashes before two braces out.
fn unescape(output: &mut Output) {
    let text = output.text();
    let places: Vec<usize> = memmem::find_iter(text.as_bytes(), b"\\{{").collect();
    if !places.is_empty() {
        output.remove(&places);
    }
}
