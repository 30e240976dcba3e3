//! The figures of a context, and what explains it.

use std::collections::BTreeMap;

use ctx_engine::Context;
use ctx_engine::inspect::TokenShare;
use ctx_language::Language;
use ctx_processors::Infeasible;
use ctx_tokens::BudgetError;
use ctx_types::session::LogLevel;
use ctx_types::{Phrase, SourceKind, phrase};

use super::names::Names;
use super::rows::{entry, root};
use super::{KeptRow, Shown};
use crate::api_preview::{
    BreakView, DecisionView, InfeasibleView, PrefixView, StableView, StageView, UsagePart, UsageView,
};
use crate::server::Server;

/// How many decisions are told.
const MAX_DECISIONS: usize = 2_000;

/// How many lines of a log are told.
const MAX_LINES: usize = 50;

/// The line of a budget that names what is kept free for the answer.
const RESERVE: &str = "response reserve";

/// Adds up what is used, by what it comes from.
pub(super) fn usage(context: &Context, shares: &[Vec<TokenShare>]) -> UsageView {
    let mut parts: BTreeMap<SourceKind, i64> = BTreeMap::new();
    for (message, shares) in context.messages.iter().zip(shares) {
        let is_own = |kind: &SourceKind| !matches!(kind, SourceKind::Overhead | SourceKind::Separator);
        let mut kinds = shares.iter().map(|share| root(&share.segment).kind);
        // What stands around the pieces of a joined message counts for the first of them.
        let first = kinds.find(is_own).unwrap_or(message.source.kind);
        for share in shares {
            let kind = Some(root(&share.segment).kind).filter(is_own).unwrap_or(first);
            *parts.entry(kind).or_default() += i64::from(share.tokens);
        }
    }
    let Some(usage) = &context.report.usage else { return UsageView::default() };
    let reserve = usage.budget.iter().find(|line| line.name.template() == RESERVE);
    UsageView {
        tokens: Some(shares.iter().flatten().map(|share| u64::from(share.tokens)).sum()),
        limit: usage.available.map(u64::from),
        reserved: reserve.map(|line| line.tokens.unsigned_abs()),
        is_exact: usage.is_exact,
        parts: parts
            .into_iter()
            .map(|(kind, tokens)| UsagePart { name: kind.as_str().to_owned(), tokens })
            .collect(),
    }
}

/// Adds up the tokens of each entry of the agent, by its pointer.
pub(super) fn entries(
    context: &Context,
    shares: &[Vec<TokenShare>],
    pointers: &BTreeMap<usize, String>,
) -> BTreeMap<String, u64> {
    let mut entries: BTreeMap<String, u64> = BTreeMap::new();
    for (message, shares) in context.messages.iter().zip(shares) {
        for share in shares {
            let root = root(&share.segment);
            let source = if root.kind == SourceKind::Overhead { &message.source } else { root };
            if let Some(pointer) = entry(source).and_then(|index| pointers.get(&index)) {
                *entries.entry(pointer.clone()).or_default() += u64::from(share.tokens);
            }
        }
    }
    entries
}

/// Says what the next turn sends again as it is.
pub(super) fn stable(names: Names<'_>, context: &Context) -> Option<StableView> {
    let stable = context.report.stable.as_ref()?;
    let tokens = context.tokens().into_iter().take(stable.messages).map(u64::from).sum();
    let reason = stable.ended_by.as_ref().map(|end| {
        let (source, reason) = (names.name_or_kind(&end.source), names.say(&end.reason));
        names.language.say(&phrase!("{source}: {reason}", source, reason))
    });
    Some(StableView { messages: stable.messages, tokens, reason })
}

/// Describes the part that the request repeats.
pub(super) fn prefix(names: Names<'_>, context: &Context) -> Option<PrefixView> {
    let prefix = context.report.prefix.as_ref()?;
    let planned_break = prefix.planned_break.as_ref();
    let planned_break =
        planned_break.map(|planned| BreakView { reason: names.say(&planned.reason), tokens: planned.tokens });
    Some(PrefixView { messages: prefix.messages, tokens: prefix.tokens, planned_break })
}

/// Lists what was decided, each with the rows that it is about.
pub(super) fn decisions(names: Names<'_>, context: &Context, rows: &[KeptRow]) -> Vec<DecisionView> {
    let mut of_source: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut of_decision: BTreeMap<usize, usize> = BTreeMap::new();
    for kept in rows {
        match kept.shows {
            Shown::Message(n) => {
                let source = context.messages.get(n).map(|message| message.source.to_string());
                of_source.entry(source.unwrap_or_default()).or_default().push(kept.row.row);
            }
            Shown::LeftOut(at) => drop(of_decision.insert(at, kept.row.row)),
        }
    }
    let decisions = context.report.decisions.iter().enumerate().take(MAX_DECISIONS);
    let view = |(at, decision): (usize, &ctx_types::report::Decision)| {
        let code = decision.source.to_string();
        let rows = match of_decision.get(&at) {
            Some(row) => vec![*row],
            None => of_source.get(&code).cloned().unwrap_or_default(),
        };
        let kind = names.language.word(&decision.outcome.as_str().replace('_', " ")).into_owned();
        let name = names.name_or_kind(&decision.source);
        let name = match decision.count {
            0 | 1 => name,
            count => names.language.say(&phrase!("{name} and {more} more", name, more = count - 1)),
        };
        DecisionView { code, name, kind, message: names.say(&decision.reason), rows }
    };
    decisions.map(view).collect()
}

/// Lists the stages, with what they logged.
pub(super) fn stages(names: Names<'_>, server: &Server, context: &Context) -> Vec<StageView> {
    let language = names.language;
    let registry = server.engine.processors();
    let name = |id: &str| {
        let own = registry.descriptors().find(|own| &*own.id == id);
        own.map_or_else(|| id.to_owned(), |own| language.word(&own.name).into_owned())
    };
    let line = |line: &ctx_types::session::LogLine| {
        let message = &line.message;
        match line.level {
            LogLevel::Info => names.say(message),
            level => {
                let level = Phrase::from(level.as_str());
                names.say(&phrase!("{level}: {message}", level, message))
            }
        }
    };
    let view = |stage: &ctx_types::report::StageReport| StageView {
        id: stage.id.clone(),
        name: name(&stage.id),
        before: stage.messages_before,
        after: stage.messages_after,
        added: stage.added,
        removed: stage.removed,
        changed: stage.changed,
        log: stage.log.iter().take(MAX_LINES).map(line).collect(),
    };
    context.report.stages.iter().map(view).collect()
}

/// Says what cannot be left out of a context that does not fit.
pub(super) fn infeasible(language: Language, error: &Infeasible) -> InfeasibleView {
    let part = |part: &ctx_processors::RequestPart| UsagePart {
        name: language.word(part.kind.as_str()).into_owned(),
        tokens: part.tokens,
    };
    InfeasibleView { parts: error.parts.iter().map(part).collect(), message: language.say(&error.phrase()) }
}

/// Says why there is no budget.
pub(super) fn no_budget(language: Language, error: &BudgetError) -> InfeasibleView {
    let parts = match error {
        BudgetError::NothingLeft { lines } => lines
            .iter()
            .map(|line| UsagePart { name: language.say(&line.name), tokens: line.tokens })
            .collect(),
        _ => Vec::new(),
    };
    InfeasibleView { parts, message: language.say(&error.phrase()) }
}
