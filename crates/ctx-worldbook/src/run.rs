mod admit;
mod consider;
mod find;
mod groups;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use ctx_types::{Diagnostic, count_of, phrase};

use crate::budget::Budget;
use crate::codes;
use crate::input::{EntryPart, Ports, ScanInput};
use crate::keys::ExpandedKey;
use crate::reason::{Cause, GaveUp, Reason};
use crate::scan::Status;
use crate::scan::{Activation, PassKind, Scan};
use crate::set::{BookSet, Member};
use crate::texts::Texts;
use crate::timed::TimedEffects;

use consider::Verdict;

pub(crate) struct Run<'r, 'p> {
    set: &'r BookSet,
    input: &'r ScanInput<'r>,
    ports: Ports<'p>,
    texts: Texts<'r>,
    timed: TimedEffects,
    budget: Budget<'p>,
    book_tokens: Vec<u64>,
    statuses: Vec<Status>,
    is_open: Vec<bool>,
    activations: Vec<Activation>,
    /// By `Member::first_with_uid`.
    active_uids: BTreeMap<usize, usize>,
    length: u64,
    /// Additional messages for `min_activations`.
    skew: u64,
    /// Highest recursion level that can activate.
    level: u32,
    /// For all regular expressions.
    steps_left: u64,
    /// By member number.
    dynamic: BTreeMap<(usize, EntryPart), Rc<ExpandedKey>>,
    /// Stopped searches by regular expression: the smallest depth, and why.
    given_up: BTreeMap<Arc<str>, (usize, GaveUp)>,
    findings: Vec<Diagnostic>,
    /// Number of unlisted diagnostics.
    hidden: usize,
}

#[derive(Clone, Debug)]
struct Candidate {
    member: usize,
    cause: Cause,
}

impl<'r, 'p> Run<'r, 'p> {
    pub(crate) fn new(set: &'r BookSet, input: &'r ScanInput<'r>, ports: Ports<'p>) -> Self {
        let length = input.length.unwrap_or_default().max(input.messages.len() as u64);
        let count = set.members().len();
        Self {
            set,
            input,
            texts: Texts::new(set, input),
            timed: TimedEffects::begin(set, input.state, length),
            budget: Budget::new(set.settings(), input.max_context, ports.counter),
            book_tokens: vec![0; set.books().len()],
            statuses: vec![Status::NotActivated(Reason::NotConsidered); count],
            is_open: vec![true; count],
            activations: Vec::new(),
            active_uids: BTreeMap::new(),
            length,
            skew: 0,
            level: 0,
            steps_left: set.limits().regex_steps,
            dynamic: BTreeMap::new(),
            given_up: BTreeMap::new(),
            findings: Vec::new(),
            hidden: 0,
            ports,
        }
    }

    pub(crate) fn run(mut self) -> Scan {
        let mut levels = self.set.levels().into_iter();
        self.level = levels.next().unwrap_or_default();
        let mut passes = Vec::new();
        let mut next = Some(PassKind::Initial);
        while let Some(kind) = next.filter(|_| !self.is_over(passes.len())) {
            passes.push(kind);
            let first_new = self.activations.len();
            self.pass(kind, passes.len());
            next = self.next(kind, first_new, &passes, &mut levels);
            if next.is_some() {
                self.add_recursion_texts(first_new);
            }
        }
        self.finish(passes)
    }

    fn is_over(&mut self, passes: usize) -> bool {
        let wanted = self.set.settings().max_recursion_steps;
        if wanted > 0 && passes as u64 >= wanted {
            return true;
        }
        let limits = self.set.limits();
        let limit = limits.passes.min(limits.considered / self.set.members().len().max(1)).max(1);
        if passes >= limit {
            let message = phrase!(
                "entries were scanned {times}, the limit; further entries are not activated",
                times = count_of!(limit, "time")
            );
            let finding = Diagnostic::warning(codes::TOO_MANY_PASSES, message);
            self.findings.push(
                finding.with_help(phrase!("set `max_recursion_steps`, or let fewer entries activate others")),
            );
        }
        passes >= limit
    }

    fn next(
        &mut self,
        kind: PassKind,
        first_new: usize,
        passes: &[PassKind],
        levels: &mut dyn Iterator<Item = u32>,
    ) -> Option<PassKind> {
        let settings = self.set.settings();
        let may_recurse = settings.recursive && !self.budget.is_full;
        let mut new = self.activations.iter().skip(first_new);
        let feeds = new.any(|activation| !self.member(activation.member).entry.prevents_recursion);
        // The new message was searched without texts of entries.
        if may_recurse && (feeds || kind == PassKind::MinActivations) {
            return Some(PassKind::Recursion);
        }
        if !self.budget.is_full && self.wants_more() {
            self.skew += 1;
            return Some(PassKind::MinActivations);
        }
        if let Some(level) = levels.next() {
            self.level = level;
            return Some(PassKind::Recursion);
        }
        // The first recursion level gets a pass even without other recursion.
        let is_due = settings.recursive && self.level > 0 && !passes.contains(&PassKind::Recursion);
        is_due.then_some(PassKind::Recursion)
    }

    /// Checks `min_activations`.
    fn wants_more(&self) -> bool {
        let settings = self.set.settings();
        let depth = settings.depth.saturating_add(self.skew);
        let max = settings.min_activations_depth_max;
        let is_over =
            (max > 0 && depth > max) || depth > self.length || depth > self.set.limits().messages as u64;
        (self.activations.len() as u64) < settings.min_activations && !is_over
    }

    fn add_recursion_texts(&mut self, first_new: usize) {
        let new = &self.activations[first_new..];
        self.budget.next_pass();
        let feeds = |activation: &&Activation| !self.member(activation.member).entry.prevents_recursion;
        let feeding: Vec<&Activation> = new.iter().filter(feeds).collect();
        if !feeding.is_empty() {
            self.texts.add_entries(&feeding);
        }
    }

    fn finish(mut self, passes: Vec<PassKind>) -> Scan {
        for activation in &self.activations {
            self.timed.start_effects(&self.set.members()[activation.member]);
        }
        if self.texts.is_cut {
            let limit = self.set.limits().text_bytes;
            let message = phrase!(
                "only the first {bytes} of text were searched for keys",
                bytes = count_of!(limit, "byte")
            );
            let finding = Diagnostic::warning(codes::TEXT_LIMIT, message);
            self.findings.push(finding.with_help(phrase!("reduce the scan depth")));
        }
        self.report_limits();
        Scan {
            activations: self.activations,
            statuses: self.statuses,
            state: self.timed.state,
            passes,
            budget: self.budget.limit(),
            diagnostics: self.findings,
        }
    }

    fn report_limits(&mut self) {
        let limit = self.set.limits().messages;
        let wanted = self.set.settings().depth.saturating_add(self.skew).max(self.set.own_depth() as u64);
        if wanted > limit as u64 && self.length > limit as u64 {
            let older = wanted.min(self.length) - limit as u64;
            let message = phrase!(
                "only the newest {messages} were searched for keys; {older} more are within the scan depth",
                messages = count_of!(limit, "message"),
                older
            );
            let finding = Diagnostic::warning(codes::TEXT_LIMIT, message);
            self.findings.push(finding.with_help(phrase!("reduce the scan depth")));
        }
        if self.hidden > 0 {
            let message = phrase!(
                "{findings} about keys, not listed",
                findings = count_of!(self.hidden, "more diagnostic")
            );
            self.findings.push(Diagnostic::warning(codes::KEY_GAVE_UP, message));
        }
    }

    fn pass(&mut self, kind: PassKind, number: usize) {
        let depth = self.set.settings().depth.saturating_add(self.skew);
        self.texts.read_to_depth(usize::try_from(depth).unwrap_or(usize::MAX).max(self.set.own_depth()));
        let mut candidates = self.candidates(kind);
        // Sticky entries come first. The sort is stable.
        candidates.sort_by_key(|candidate| self.timed.sticky(candidate.member).is_none());
        self.resolve_groups(&mut candidates, kind);
        for candidate in candidates {
            self.try_activate(candidate, number);
        }
    }

    fn candidates(&mut self, kind: PassKind) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for number in 0..self.set.members().len() {
            if !self.is_open[number] {
                continue;
            }
            if self.active_uids.contains_key(&self.member(number).first_with_uid) {
                self.close(number, Reason::SameUid);
                continue;
            }
            match self.consider(number, kind) {
                Ok(cause) => candidates.push(Candidate { member: number, cause }),
                Err(Verdict::AsBefore) => {}
                Err(Verdict::NotNow(reason)) => self.statuses[number] = Status::NotActivated(reason),
                Err(Verdict::Never(reason)) => self.close(number, reason),
            }
        }
        candidates
    }

    fn member(&self, number: usize) -> &'r Member {
        &self.set.members()[number]
    }

    fn close(&mut self, number: usize, reason: Reason) {
        self.statuses[number] = Status::NotActivated(reason);
        self.is_open[number] = false;
    }
}
