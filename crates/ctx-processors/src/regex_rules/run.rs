use std::fmt;
use std::sync::Arc;

use ctx_macros::Template;
use ctx_regex::{Error, Regex, Steps};
use ctx_types::{Diagnostic, Phrase, Text, count_of, excerpt, phrase};

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
    ready: Vec<Option<Ready>>,
    skipped: Vec<bool>,
    /// Rules of the last text, and the number of their list.
    last_list: Option<(Vec<ResolvedRule>, u64)>,
    is_spent: bool,
    findings: Vec<Diagnostic>,
}

#[derive(Clone)]
struct Ready {
    number: u64,
    regex: Regex,
    trims: Arc<[Text]>,
}

impl<'a> RuleRun<'a> {
    /// Starts a run. `expand` expands the macros of rules.
    pub fn new(set: &'a RuleSet, limits: RuleLimits, expand: &'a mut Expand<'a>) -> Self {
        let count = set.rules().len();
        Self {
            set,
            limits,
            expand,
            steps: Steps::new(limits.steps),
            ready: vec![None; count],
            skipped: vec![false; count],
            last_list: None,
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
        let key = (text.clone(), self.list(&rules));
        let known = self.set.memory.result(&key).filter(|known| known.steps <= self.steps.left());
        let result = match known {
            Some(known) => {
                // A cached result costs the same steps: the cache does not change the outcome.
                self.spend(known.steps);
                known
            }
            None => self.run(text, &rules),
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

    fn rules_for(&mut self, subject: Subject) -> Vec<ResolvedRule> {
        let set = self.set;
        let rules = set.rules().iter().enumerate().filter(|(_, rule)| rule.applies_to(subject));
        rules.filter_map(|(number, rule)| self.make_ready(number, rule)).collect()
    }

    /// Neighboring texts usually have the same list.
    fn list(&mut self, rules: &[ResolvedRule]) -> u64 {
        if let Some((last, number)) = &self.last_list
            && last == rules
        {
            return *number;
        }
        let number = self.set.memory.list(rules);
        self.last_list = Some((rules.to_vec(), number));
        number
    }

    fn make_ready(&mut self, number: usize, rule: &Rule) -> Option<ResolvedRule> {
        if self.skipped.get(number).copied().unwrap_or(true) {
            return None;
        }
        if let Some(Some(ready)) = self.ready.get(number) {
            return Some((number, ready.number));
        }
        let ready = self.resolve(number, rule)?;
        let resolved = (number, ready.number);
        if let Some(slot) = self.ready.get_mut(number) {
            *slot = Some(ready);
        }
        Some(resolved)
    }

    fn resolve(&mut self, number: usize, rule: &Rule) -> Option<Ready> {
        let is_plain = rule.trims().iter().all(Template::is_plain);
        if let (Find::Fixed(regex), true) = (rule.find(), is_plain) {
            let trims = rule.trims().iter().map(|trim| trim.text().clone()).collect();
            return Some(Ready { number: 0, regex: (**regex).clone(), trims });
        }
        let mut expression = String::new();
        if let Find::Macros { template, escaped } = rule.find() {
            expression = expanded(&(self.expand)(template, rule.source()), *escaped);
        }
        let trims = rule.trims().iter().map(|trim| (self.expand)(trim, rule.source()).text.to_string());
        let texts: Vec<String> = std::iter::once(expression).chain(trims).collect();
        let made = self.set.memory.expression(number, texts, |expression| match rule.find() {
            Find::Fixed(regex) => Ok((**regex).clone()),
            Find::Macros { .. } => rule.syntax().compile(expression),
        });
        match made.regex {
            Ok(regex) => Some(Ready { number: made.number, regex, trims: made.trims }),
            Err(error) => {
                let finding = bad_pattern(&made.text, &error);
                self.findings.push(rule.place().finding("/regex", finding));
                self.skip(number);
                None
            }
        }
    }

    fn run(&mut self, text: &Text, rules: &[ResolvedRule]) -> CachedResult {
        let mut result = CachedResult::new(text.clone());
        let set = self.set;
        for (number, _) in rules {
            let Some(Some(ready)) = self.ready.get(*number).cloned() else { continue };
            let Some(rule) = set.rules().get(*number) else { continue };
            let output_bytes = self.limits.text_bytes;
            let rewriting = RuleApplication {
                number: *number,
                rule,
                regex: &ready.regex,
                trims: &ready.trims,
                output_bytes,
            };
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

    fn skip(&mut self, number: usize) {
        if let Some(skipped) = self.skipped.get_mut(number) {
            *skipped = true;
        }
    }

    fn give_up(&mut self, number: usize, error: &Error) {
        self.skip(number);
        let Some(rule) = self.set.rules().get(number) else { return };
        let message = phrase!(
            "the regex rule `{title}` stopped: {error}",
            title = excerpt(rule.title()),
            error = Phrase::original(error.to_string())
        );
        let finding = Diagnostic::warning(codes::RULE_GAVE_UP, message)
            .with_help(phrase!("simplify nested quantifiers; the rule is skipped for the remaining texts"));
        self.findings.push(rule.place().finding("/regex", finding));
    }

    fn report_spent(&mut self, rule: &Rule) {
        self.is_spent = true;
        let steps = count_of!(self.limits.steps, "step");
        let title = excerpt(rule.title());
        let message = phrase!("the regex rules exceed {steps} in total, at the rule `{title}`", steps, title);
        let help = phrase!("raise `steps` of `regex-processor`; the remaining texts are unchanged");
        let finding = Diagnostic::warning(codes::RULES_SPENT, message).with_help(help);
        self.findings.push(rule.place().finding("/regex", finding));
    }
}

impl fmt::Debug for RuleRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limits, steps, findings, .. } = self;
        let run = &mut f.debug_struct("RuleRun");
        run.field("limits", limits).field("steps", steps).field("findings", findings).finish_non_exhaustive()
    }
}
