//! Finds text that moves or changes from one request to the next, and its cost.

use std::collections::{HashMap, HashSet};

use ctx_tokens::internal::estimate;
use ctx_types::internal::{Argument, Divider};
use ctx_types::{Diagnostic, Fix, Phrase, Source, SourceKind, phrase};

use crate::codes;
use crate::context::Context;
use crate::inspect::sample_turns::{SAMPLE_TURNS, SamplePair};

/// Maximum number of owners in a request.
const MAX_OWNERS: usize = 20;

/// Maximum number of named owners.
const MAX_NAMED: usize = 5;

/// Smaller costs are not reported.
const MIN_TOKENS: u64 = 1_000;

/// Reports the sources of moving text, with the estimated tokens after each.
pub(crate) fn find_moving_text(pairs: &[SamplePair]) -> Option<Diagnostic> {
    let mut owners: Vec<Owner> = Vec::new();
    for pair in pairs {
        for found in broken_by(pair) {
            match owners.iter_mut().find(|owner| owner.name == found.name) {
                Some(owner) => owner.tokens += found.tokens,
                None => owners.push(found),
            }
        }
    }
    for owner in &mut owners {
        owner.tokens = rounded(owner.tokens * (SAMPLE_TURNS as u64 - 1) / pairs.len().max(1) as u64);
    }
    owners.retain(|owner| owner.tokens >= MIN_TOKENS);
    owners.sort_by_key(|owner| std::cmp::Reverse(owner.tokens));
    let more = owners.len().saturating_sub(MAX_NAMED);
    let named = owners.iter().take(MAX_NAMED);
    let mut list: Vec<Phrase> = named
        .map(|Owner { name, tokens }| phrase!("`{name}` {tokens}", name = name.clone(), tokens = *tokens))
        .collect();
    if list.is_empty() {
        return None;
    }
    if more > 0 {
        list.push(phrase!("{count} more", count = more));
    }
    let owners = Argument::list(list, Divider::Comma);
    let message = phrase!(
        "moving text breaks the prompt cache; tokens billed again in 50 turns, about: {owners}",
        owners
    );
    let help =
        phrase!("set `prefix: auto` to keep sent text in place, or `prefix: moving` to accept the cost");
    let finding = Diagnostic::info(codes::MOVING_TEXT, message).with_help(help).at_pointer("");
    Some(finding.with_fix(Fix::insert("auto").below("/prefix")))
}

/// The source of moving text.
struct Owner {
    name: String,
    tokens: u64,
}

/// A text of a request.
struct Piece {
    /// Equal for equal texts of one owner.
    id: usize,
    owner: String,
    is_history: bool,
    tokens: u64,
}

/// Finds the first difference of two requests, then the next one without the owner of the first, and so on.
fn broken_by(pair: &SamplePair) -> Vec<Owner> {
    let mut ids = HashMap::new();
    let [mut first, mut next] = [&pair.first, &pair.next].map(|context| pieces(context, &mut ids));
    let mut owners = Vec::new();
    while owners.len() < MAX_OWNERS {
        let shared = first.iter().zip(&next).take_while(|(a, b)| a.id == b.id).count();
        let Some(old) = first.get(shared) else { break };
        let [sent, again]: [HashSet<usize>; 2] =
            [&first, &next].map(|pieces| pieces.iter().map(|piece| piece.id).collect());
        let is_displaced = |new: &&Piece| {
            again.contains(&old.id) && !new.is_history && (old.is_history || !sent.contains(&new.id))
        };
        let moved = next.get(shared).filter(is_displaced).unwrap_or(old);
        let name = moved.owner.clone();
        let repeated = first[shared..].iter().filter(|piece| again.contains(&piece.id));
        let tokens = repeated.map(|piece| piece.tokens).sum();
        let count = first.len() + next.len();
        let is_other = |piece: &Piece| piece.owner != name || piece.is_history && again.contains(&piece.id);
        first.retain(is_other);
        next.retain(is_other);
        owners.push(Owner { name, tokens });
        if first.len() + next.len() == count {
            break;
        }
    }
    owners
}

fn pieces(context: &Context, ids: &mut HashMap<(String, String), usize>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for message in &context.messages {
        let text = message.text();
        for segment in &*message.segments() {
            if segment.source.kind == SourceKind::Separator {
                continue;
            }
            let source = owner_source(&segment.source, segment.via.last());
            let is_history = source.kind.is_history() && source.kind != SourceKind::Summary;
            let owner = name(source);
            let text = text.get(segment.span.start..segment.span.end).unwrap_or_default();
            let count = ids.len();
            let id = *ids.entry((owner.clone(), text.to_owned())).or_insert(count);
            pieces.push(Piece { id, owner, is_history, tokens: estimate(text).into() });
        }
    }
    pieces
}

/// Rules, recall and digests own the text that they write.
fn owner_source<'s>(source: &'s Source, origin: Option<&'s Source>) -> &'s Source {
    match source.kind {
        SourceKind::Rule | SourceKind::Summary | SourceKind::Formatter => source,
        _ => origin.unwrap_or(source),
    }
}

fn name(source: &Source) -> String {
    match (source.kind, source.name(), &source.id) {
        // Only the limiter takes messages away.
        (SourceKind::History | SourceKind::Input, ..) => "token-limiter".to_owned(),
        (SourceKind::Summary, _, Some(id)) => id.split('-').next().unwrap_or_default().to_owned(),
        (SourceKind::Formatter, _, Some(id)) => id.to_string(),
        (kind, Some(name), _) => format!("{}:{name}", kind.as_str()),
        _ => source.to_string(),
    }
}

/// Two digits, because it is an estimate.
fn rounded(tokens: u64) -> u64 {
    let unit = 10_u64.pow(tokens.checked_ilog10().unwrap_or_default().saturating_sub(1));
    (tokens + unit / 2) / unit * unit
}
