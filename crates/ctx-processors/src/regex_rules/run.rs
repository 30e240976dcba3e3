use std::sync::Arc;

use ctx_regex::{Error, Regex, Steps};
use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, Text, count_of, phrase};

use super::find::{Find, expanded};
use super::replace::Expand;
use super::result_cache::{CachedResult, ResolvedRule};
use super::rewrite::{RewrittenText, RuleApplication};
use super::rule::{Rule, bad_pattern};
use super::set::RuleSet;
use super::subject::Subject;
use crate::codes;

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleLimits {
    /// Maximum steps of one rule on one text, counted by [`Steps`]; default 2,000,000, about 20 ms.
    pub text_steps: u64,
    /// Maximum steps of all rules on all texts; default 25,000,000, about 250 ms.
    pub steps: u64,
    /// Maximum length of a changed text in bytes; default 4 MiB.
    pub text_bytes: usize,
}

impl Default for RuleLimits {
    fn default() -> Self {
        Self { text_steps: 2_000_000, steps: 25_000_000, text_bytes: 4 << 20 }
    }
}

/// Applies rules to the texts of one context, in conversation order.
///
/// A rule that exceeds a limit is reported and skipped for the remaining texts. When the total steps are used
/// up, the remaining texts stay unchanged, which is reported too.
pub struct RuleRun<'a> {
    set: &'a RuleSet,
    limits: RuleLimits,
    expand: &'a mut Expand<'a>,
    steps: Steps,
    states: Vec<RuleState>,
    /// Rules of the last text. Neighboring texts usually have the same.
    last_rules: Arc<[ResolvedRule]>,
    is_spent: bool,
    findings: Vec<Diagnostic>,
}

#[derive(Clone)]
enum RuleState {
    Unused,
    Ready(Box<(ResolvedRule, Regex)>),
    Skipped,
}

impl<'a> RuleRun<'a> {
    /// Starts a run. `expand` expands the macros of rules.
    pub fn new(set: &'a RuleSet, limits: RuleLimits, expand: &'a mut Expand<'a>) -> Self {
        Self {
            set,
            limits,
            expand,
            steps: Steps::new(limits.steps),
            states: vec![RuleState::Unused; set.rules().len()],
            last_rules: Arc::default(),
            is_spent: false,
            findings: Vec::new(),
        }
    }

    /// Continues with the steps that another run of the same context has left.
    #[must_use]
    pub fn with_steps(self, left: u64) -> Self {
        Self { steps: Steps::new(left), ..self }
    }

    /// Runs all matching rules in order.
    ///
    /// O(rules) if the result is cached; otherwise the cost of the searches.
    pub fn apply(&mut self, text: &Text, subject: Subject) -> RewrittenText {
        let rules = self.rules_for(subject);
        if self.is_spent || rules.is_empty() {
            return RewrittenText::unchanged(text.clone());
        }
        let key = (text.clone(), rules);
        let known = self.set.memory.result(&key).filter(|known| known.steps <= self.steps.left());
        let result = if let Some(known) = known {
            // A cached result costs the same steps: the cache does not change the outcome.
            self.spend(known.steps);
            known
        } else {
            self.run(text, &key.1)
        };
        for (rule, error) in &result.gave_up {
            self.give_up(*rule, error);
        }
        let rewritten = result.rewritten.clone();
        if !self.is_spent && !rewritten.is_volatile {
            self.set.memory.keep(key, result);
        }
        rewritten
    }

    /// Returns the number of remaining steps.
    pub fn steps_left(&self) -> u64 {
        self.steps.left()
    }

    /// Ends the run. Returns diagnostics for stopped rules and invalid expanded patterns.
    pub fn finish(self) -> Vec<Diagnostic> {
        self.findings
    }

    fn rules_for(&mut self, subject: Subject) -> Arc<[ResolvedRule]> {
        let set = self.set;
        let rules = set.rules().iter().enumerate().filter(|(_, rule)| rule.applies_to(subject));
        let rules: Vec<ResolvedRule> =
            rules.filter_map(|(number, rule)| self.resolve(number, rule)).collect();
        if *self.last_rules != *rules {
            self.last_rules = rules.into();
        }
        self.last_rules.clone()
    }

    fn resolve(&mut self, number: usize, rule: &Rule) -> Option<ResolvedRule> {
        match &self.states[number] {
            RuleState::Ready(ready) => return Some(ready.0.clone()),
            RuleState::Skipped => return None,
            RuleState::Unused => {}
        }
        let (pattern, regex) = match &rule.find {
            Find::Fixed(regex) => (None, Ok((**regex).clone())),
            Find::Macros { template, escaped } => {
                let pattern = expanded(&(self.expand)(template, rule.source()), *escaped);
                let regex = rule.syntax.compile(&pattern);
                (Some(Text::from(pattern)), regex)
            }
        };
        let trims = rule.trims.iter().map(|trim| (self.expand)(trim, rule.source()).text).collect();
        let resolved = ResolvedRule { number, pattern, trims };
        match regex {
            Ok(regex) => {
                self.states[number] = RuleState::Ready(Box::new((resolved.clone(), regex)));
                Some(resolved)
            }
            Err(error) => {
                let finding = bad_pattern(&resolved.pattern.unwrap_or_default(), &error);
                self.findings.push(rule.location.finding("/regex", finding));
                self.states[number] = RuleState::Skipped;
                None
            }
        }
    }

    fn run(&mut self, text: &Text, rules: &[ResolvedRule]) -> CachedResult {
        let rewritten = RewrittenText::unchanged(text.clone());
        let mut result = CachedResult { rewritten, steps: 0, gave_up: Vec::new() };
        let set = self.set;
        for ResolvedRule { number, trims, .. } in rules {
            let RuleState::Ready(ready) = &self.states[*number] else { continue };
            let regex = ready.1.clone();
            let rule = &set.rules()[*number];
            let output_bytes = self.limits.text_bytes;
            let rewriting = RuleApplication { number: *number, rule, regex: &regex, trims, output_bytes };
            let allowed = self.limits.text_steps.min(self.steps.left());
            let mut steps = Steps::new(allowed);
            let applied = rewriting.apply(&mut result.rewritten, &mut steps, self.expand);
            let spent = allowed - steps.left();
            result.steps += spent;
            self.spend(spent);
            match applied {
                Ok(()) => {}
                Err(Error::TooManySteps) if allowed < self.limits.text_steps => {
                    self.report_spent(rule);
                    break;
                }
                Err(error) => result.gave_up.push((*number, error)),
            }
        }
        result
    }

    fn spend(&mut self, steps: u64) {
        // Cannot fail: no rule gets more steps than are left.
        let _ = self.steps.spend(steps);
    }

    fn give_up(&mut self, number: usize, error: &Error) {
        self.states[number] = RuleState::Skipped;
        let rule = &self.set.rules()[number];
        let message = phrase!(
            "the regex rule `{title}` stopped: {error}",
            title = excerpt(rule.title()),
            error = Phrase::original(error.to_string())
        );
        let finding = Diagnostic::warning(codes::RULE_GAVE_UP, message)
            .with_help(phrase!("simplify nested quantifiers; the rule is skipped for the remaining texts"));
        self.findings.push(rule.location.finding("/regex", finding));
    }

    fn report_spent(&mut self, rule: &Rule) {
        self.is_spent = true;
        let steps = count_of!(self.limits.steps, "step");
        let title = excerpt(rule.title());
        let message = phrase!("the regex rules exceed {steps} in total, at the rule `{title}`", steps, title);
        let help = phrase!("raise `steps` of `regex-processor`; the remaining texts are unchanged");
        let finding = Diagnostic::warning(codes::RULES_SPENT, message).with_help(help);
        self.findings.push(rule.location.finding("/regex", finding));
    }
}

ctx_types::opaque!(RuleRun<'_>);
