use std::sync::Arc;

use ctx_macros::{Dialect, Registry};
use ctx_types::{Diagnostic, RegexConfig, RegexPreset, RegexRule, Source, Trust, phrase};

use super::result_cache::ResultCache;
use super::rule::{Rule, RuleContext, RuleLocation};
use super::subject::Subject;
use crate::codes;

/// The regex rules of one file.
#[derive(Clone, Copy, Debug)]
pub struct RuleSource<'a> {
    /// The rules.
    pub config: &'a RegexConfig,
    /// JSON pointer of `config` in its file, such as `/regexConfig`.
    pub place: &'a str,
    /// Name of the file, if it is not the agent's.
    pub document: Option<&'a str>,
    /// Trust of the text that the rules write.
    pub trust: Trust,
}

/// Compiled rules in run order. `Send + Sync`.
///
/// Caches results by text. The cache does not change any result.
pub struct RuleSet {
    rules: Vec<Rule>,
    pub(super) memory: ResultCache,
}

impl RuleSet {
    /// Maximum number of rules. Further rules are reported and ignored.
    pub const MAX_RULES: usize = 1_000;

    /// Compiles the rules of several files, with diagnostics.
    ///
    /// Ignores disabled rules and, with a diagnostic, invalid ones. Rules run by preset priority, then by
    /// their own order, then in the order of files, presets (by their order), and lists. O(rules · log
    /// rules), plus the compilation of patterns.
    pub fn compile(
        sources: &[RuleSource<'_>],
        dialect: Dialect,
        registry: &Registry,
    ) -> (Self, Vec<Diagnostic>) {
        let mut findings = Vec::new();
        let mut found: Vec<(f64, f64, Rule)> = Vec::new();
        let mut left_out = 0;
        for (source, place, preset, index, rule) in listed_rules(sources) {
            if found.len() == Self::MAX_RULES {
                left_out += 1;
                continue;
            }
            let with = RuleContext { dialect, registry, trust: source.trust };
            let compiled = Rule::compile(rule, index, place, with, &mut findings);
            let (priority, order) = (preset.priority.unwrap_or(DEFAULT_PRIORITY), rule.order.unwrap_or(0.0));
            found.extend(compiled.map(|rule| (priority, order, rule)));
        }
        findings.extend((left_out > 0).then(|| too_many(left_out)));
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let rules = found.into_iter().map(|(_, _, rule)| rule).collect();
        (Self { rules, memory: ResultCache::default() }, findings)
    }

    /// Returns the rules in run order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns a depth. At this depth or deeper, the depth of a request message does not affect the rules.
    ///
    /// 0 if no rule has a depth range.
    pub fn settled_depth(&self) -> usize {
        self.rules.iter().map(|rule| rule.scope.settled_depth()).max().unwrap_or(0)
    }

    /// Returns whether a rule may write another text in each turn.
    pub fn is_volatile(&self, rule: &Source) -> bool {
        self.rules.iter().any(|other| other.source() == rule && other.is_volatile)
    }

    /// Returns whether any rule runs on a text.
    pub fn applies_to(&self, subject: Subject) -> bool {
        self.rules.iter().any(|rule| rule.applies_to(subject))
    }
}

ctx_types::opaque!(RuleSet);

/// AIO Hub's default.
const DEFAULT_PRIORITY: f64 = 100.0;

/// Enabled rules in the order of files, presets, and lists.
fn listed_rules<'a>(
    sources: &'a [RuleSource<'a>],
) -> impl Iterator<Item = (&'a RuleSource<'a>, RuleLocation, &'a RegexPreset, usize, &'a RegexRule)> {
    let presets = sources.iter().flat_map(|source| {
        let presets = source.config.presets.iter().enumerate();
        let mut presets: Vec<_> = presets.filter(|(_, preset)| preset.enabled != Some(false)).collect();
        presets.sort_by(|(_, a), (_, b)| a.order.unwrap_or(0.0).total_cmp(&b.order.unwrap_or(0.0)));
        presets.into_iter().map(move |(number, preset)| (source, number, preset))
    });
    presets.flat_map(|(source, number, preset)| {
        let rules = preset.rules.iter().enumerate();
        let rules = rules.filter(|(_, rule)| rule.enabled != Some(false) && !rule.kept.is_malformed());
        rules.map(move |(index, rule)| {
            let pointer = format!("{}/presets/{number}/rules/{index}", source.place);
            let place = RuleLocation { pointer, document: source.document.map(Arc::from) };
            (source, place, preset, index, rule)
        })
    })
}

fn too_many(left_out: usize) -> Diagnostic {
    let limit = RuleSet::MAX_RULES;
    let message = if left_out == 1 {
        phrase!("1 regex rule is ignored: the limit is {limit}", limit)
    } else {
        phrase!("{count} regex rules are ignored: the limit is {limit}", count = left_out, limit)
    };
    Diagnostic::warning(codes::RULES_LIMIT, message)
        .with_help(phrase!("disable presets that you do not need"))
}
