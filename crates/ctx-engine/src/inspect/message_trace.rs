mod decisions;
mod event;
mod links;
mod sent;
mod subject;

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::report::Decision;
use ctx_types::session::Session;
use ctx_types::{Message, Source};
use serde::Serialize;

use crate::context::Context;
use crate::trace::{Trace, TracedStage};
pub use event::{Event, EventKind};
use links::Links;
pub use sent::{CacheStatus, CostPart, MessageSegment, SentMessage};
use subject::Subject;
pub use subject::UnknownMessage;

/// The trace of one message, whether it is sent or not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Life"))]
#[serde(rename_all = "camelCase")]
pub struct TracedMessage {
    /// Source of the message, as printed in tables.
    pub subject: String,
    /// Display name of the message's entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Sent messages, in context order. Empty if the message is not sent; several if it is placed at several
    /// depths.
    pub messages: Vec<SentMessage>,
    /// Processors that changed the message, in order.
    pub steps: Vec<Step>,
    /// Decisions that no processor made, such as that the message is in another branch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
}

/// The step of one processor for a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Processor id.
    pub stage: String,
    /// Changes of the message.
    pub events: Vec<Event>,
    /// Decisions about the message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
}

impl TracedMessage {
    /// Returns the last decision about an unsent message; `None` if the message is sent.
    pub fn end(&self) -> Option<&Decision> {
        let decided = self.steps.iter().flat_map(|step| &step.decisions).chain(&self.decisions);
        decided.last().filter(|_| self.messages.is_empty())
    }
}

/// Traces of all messages of one assembly.
#[derive(Debug)]
pub struct MessageTrace<'a> {
    context: &'a Context,
    session: &'a Session,
    trace: &'a Trace,
    stages: Vec<(TracedStage<'a>, Links)>,
}

impl<'a> MessageTrace<'a> {
    /// Reads the trace of a context; `None` if the context has no trace. O(processors · messages).
    pub fn read(context: &'a Context, session: &'a Session) -> Option<Self> {
        let trace = context.trace.as_ref()?;
        let linked = |stage: TracedStage<'a>| {
            let before = stage.before.map_or(&[][..], |draft| draft.messages());
            (stage, Links::between(before, stage.after.messages()))
        };
        Some(Self { context, session, trace, stages: trace.steps().map(linked).collect() })
    }

    /// Returns the trace of a message by its number in the context or by its source (`preset:identity`,
    /// `history:n3`), even if it is not sent.
    pub fn find(&self, wanted: &str) -> Result<TracedMessage, UnknownMessage> {
        Ok(match Subject::find(self, wanted)? {
            Subject::Number(number) => self.trace_number(number),
            Subject::Source { name, source } => self.trace_source(&name, source),
        })
    }

    /// Returns the trace of the message with a number in the context; `None` if there is no such message.
    pub fn sent(&self, number: usize) -> Option<TracedMessage> {
        (number < self.context.messages.len()).then(|| self.trace_number(number))
    }

    fn trace_number(&self, number: usize) -> TracedMessage {
        let mut carriers = vec![BTreeSet::new(); self.stages.len()];
        let mut wanted = BTreeSet::from([number]);
        for ((_, links), carriers) in self.stages.iter().zip(&mut carriers).rev() {
            let above = wanted.iter().flat_map(|at| links.parents(*at).iter().copied()).collect();
            *carriers = std::mem::replace(&mut wanted, above);
        }
        let message = self.context.messages.get(number);
        let own = message.map(|message| message.source.to_string()).unwrap_or_default();
        let name = message.and_then(|message| message.source.name()).map(str::to_owned);
        let mut sources = BTreeSet::from([own.clone()]);
        for ((stage, _), carriers) in self.stages.iter().zip(&carriers) {
            let messages = stage.after.messages();
            sources.extend(carriers.iter().filter_map(|at| Some(messages.get(*at)?.source.to_string())));
        }
        TracedMessage {
            subject: own,
            name,
            messages: sent::messages(self.context, &[number], None),
            steps: self.steps(&carriers, &sources),
            decisions: self.late_decisions(&sources),
        }
    }

    fn trace_source(&self, wanted: &str, source: Option<&Source>) -> TracedMessage {
        let carriers: Vec<BTreeSet<usize>> =
            self.stages.iter().map(|(stage, _)| subject::carriers(stage.after.messages(), wanted)).collect();
        let sources = BTreeSet::from([wanted.to_owned()]);
        let numbers: Vec<usize> = carriers.last().into_iter().flatten().copied().collect();
        let mut traced = TracedMessage {
            subject: wanted.to_owned(),
            name: source.and_then(Source::name).map(str::to_owned),
            messages: sent::messages(self.context, &numbers, Some(wanted)),
            steps: self.steps(&carriers, &sources),
            decisions: self.late_decisions(&sources),
        };
        // If a processor silently dropped it, the event of that step explains it.
        if traced.messages.is_empty() && traced.steps.is_empty() && traced.decisions.is_empty() {
            traced.decisions.extend(decisions::other_decisions(self, wanted));
        }
        traced
    }

    /// `carriers` are the indexes of the messages after each processor.
    fn steps(&self, carriers: &[BTreeSet<usize>], sources: &BTreeSet<String>) -> Vec<Step> {
        let none = BTreeSet::new();
        let before = std::iter::once(&none).chain(carriers);
        let step = |(((stage, links), after), before): ((&(TracedStage<'a>, Links), _), _)| {
            let events = event::stage_events(*stage, links, before, after, sources);
            let decisions = decisions::stage_decisions(*stage, &events, sources);
            let step = Step { stage: stage.id.to_owned(), events, decisions };
            (!step.events.is_empty() || !step.decisions.is_empty()).then_some(step)
        };
        self.stages.iter().zip(carriers).zip(before).filter_map(step).collect()
    }

    fn late_decisions(&self, sources: &BTreeSet<String>) -> Vec<Decision> {
        let told = self.stages.last().map_or(0, |(stage, _)| stage.after.decisions().len());
        let late = self.context.report.decisions.iter().skip(told);
        late.filter(|decision| sources.contains(&decision.source.to_string())).cloned().collect()
    }

    fn seen_sources(&self) -> BTreeMap<String, &'a Source> {
        let mut seen = BTreeMap::new();
        let mut see = |source: &'a Source| {
            seen.entry(source.to_string()).or_insert(source);
        };
        for (stage, _) in &self.stages {
            let messages = stage.after.messages().iter();
            messages.flat_map(origins).for_each(&mut see);
            stage.after.injections().iter().for_each(|injection| see(&injection.source));
        }
        self.context.report.decisions.iter().for_each(|decision| see(&decision.source));
        seen
    }
}

fn origins(message: &Message) -> impl Iterator<Item = &Source> {
    let written = message.written.iter();
    let pieces = written.flat_map(|segment| segment.via.iter().chain([&segment.source]));
    std::iter::once(&message.source).chain(pieces)
}
