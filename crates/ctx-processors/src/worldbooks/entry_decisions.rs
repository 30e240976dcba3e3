//! Decisions about entries.

use std::collections::BTreeMap;

use ctx_types::report::{Decision, Outcome};
use ctx_types::{Phrase, Source, phrase};
use ctx_worldbook::{BookSet, Scan, Status, internal::Reason};

use super::macro_expander::entry_source;
use super::transcript::{Transcript, message_name};
use crate::worldbook_processor::NewestHit;

/// Limit for inactive entries; the rest shares one decision.
const MAX_DECISIONS: usize = 1_000;

/// Inactive entries of a worldbook share a decision if the reason is the same.
pub(crate) fn entry_decisions(
    set: &BookSet,
    scan: &Scan,
    transcript: &Transcript,
    newest: &[Option<NewestHit>],
) -> Vec<Decision> {
    let mut decisions = Vec::new();
    let mut known: BTreeMap<(usize, String), usize> = BTreeMap::new();
    let mut books: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, (member, status)) in set.members().iter().zip(&scan.statuses).enumerate() {
        let next = books.len();
        let book = *books.entry(&member.book).or_insert(next);
        match status {
            Status::Activated(at) => {
                let Some(activation) = scan.activations.get(*at) else { continue };
                let mut reason = set.describe_with(activation, &|newest| transcript.name(newest));
                if activation.pass > 1 {
                    reason = phrase!("{reason}, in pass {pass}", reason, pass = activation.pass);
                }
                decisions.push(Decision::new(Outcome::Kept, entry_source(member), reason));
            }
            Status::NotActivated(reason) => {
                let newest = newest.get(number).and_then(Option::as_ref);
                let mut reason = describe_inactive(set, number, reason, newest, &transcript.sources);
                if known.len() >= MAX_DECISIONS && !known.contains_key(&(book, reason.to_string())) {
                    reason = phrase!("several other reasons");
                }
                let at = *known.entry((book, reason.to_string())).or_insert(decisions.len());
                if let Some(decision) = decisions.get_mut(at) {
                    decision.count += 1;
                    continue;
                }
                decisions.push(Decision::new(Outcome::NotActivated, entry_source(member), reason));
            }
        }
    }
    decisions
}

/// `sources` are the searched messages, oldest first.
pub(crate) fn describe_inactive(
    set: &BookSet,
    entry: usize,
    reason: &Reason,
    newest: Option<&NewestHit>,
    sources: &[Source],
) -> Phrase {
    if !matches!(reason, Reason::NoKeyFound) {
        return set.describe_reason(reason, &|newest| message_name(sources, newest));
    }
    let message = |_| newest.map_or_else(|| phrase!("a message"), |hit| hit.message.clone());
    set.describe_missing_key(entry, sources.len(), newest.map(|newest| &newest.hit), &message)
}
