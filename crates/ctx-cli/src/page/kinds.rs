//! The kinds of sources, as the page colours and names them.

use ctx_engine::Context;
use ctx_types::SourceKind;
use ctx_types::internal::thousands;
use serde::Serialize;

/// All kinds in the order of the legend, with what they mean.
const KINDS: [(SourceKind, &str); 13] = [
    (SourceKind::Preset, "an entry of the preset"),
    (SourceKind::History, "a message of the conversation"),
    (SourceKind::Input, "the pending user message"),
    (SourceKind::Summary, "a summary of older messages"),
    (SourceKind::Worldbook, "an entry of a worldbook"),
    (SourceKind::Macro, "the value of a macro"),
    (SourceKind::Variable, "a session variable"),
    (SourceKind::Rule, "a regex rule"),
    (SourceKind::File, "the text of a file"),
    (SourceKind::Plugin, "a plug-in or a processor"),
    (SourceKind::Formatter, "a formatting processor"),
    (SourceKind::Separator, "between joined texts"),
    (SourceKind::Overhead, "counted by the provider in addition to the text"),
];

/// One line of the legend.
#[derive(Debug, Serialize)]
pub(super) struct Legend {
    kind: &'static str,
    /// Whether pieces of it are marked in texts; what most people said is not, and what has no bytes cannot be.
    is_marked: bool,
    meaning: &'static str,
    tokens: String,
    percent: String,
}

/// Lists the kinds that a context has, with their tokens.
pub(super) fn legend(context: &Context) -> Vec<Legend> {
    let totals = totals(context);
    let all: u64 = totals.iter().map(|(_, tokens)| tokens).sum();
    let entry = |(kind, tokens): &(SourceKind, u64)| {
        let (_, meaning) = KINDS.iter().find(|(known, _)| known == kind)?;
        let tenths = (tokens * 1_000).checked_div(all).unwrap_or(0);
        let percent = format!("{}.{} %", tenths / 10, tenths % 10);
        let is_marked = !matches!(kind, SourceKind::History | SourceKind::Overhead);
        Some(Legend { kind: kind.as_str(), is_marked, meaning, tokens: thousands(*tokens), percent })
    };
    totals.iter().filter_map(entry).collect()
}

/// Adds up the tokens of each kind that there is, in the order of the legend.
pub(super) fn totals(context: &Context) -> Vec<(SourceKind, u64)> {
    let shares = context.token_shares();
    sum(shares.iter().flatten().map(|share| (share.segment.source.kind, share.tokens)))
}

/// Adds up tokens by kind, in the order of the legend; kinds that do not occur are left out.
pub(super) fn sum(shares: impl Iterator<Item = (SourceKind, u32)>) -> Vec<(SourceKind, u64)> {
    let mut totals: Vec<(SourceKind, u64, bool)> = KINDS.iter().map(|(kind, _)| (*kind, 0, false)).collect();
    for (kind, tokens) in shares {
        if let Some(total) = totals.iter_mut().find(|(known, ..)| *known == kind) {
            total.1 += u64::from(tokens);
            total.2 = true;
        }
    }
    totals.into_iter().filter(|(.., occurs)| *occurs).map(|(kind, tokens, _)| (kind, tokens)).collect()
}
