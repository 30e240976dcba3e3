//! What breaks the provider's prompt cache between two turns of one conversation.
//!
//! Providers cache a request by its beginning, byte for byte. A macro whose value changes from turn to turn
//! ends what they can reuse: everything below it is computed, and paid, anew.

use ctx_anchors::{Entry, Part, Preset};
use ctx_macros::{Dialect, Registry, Template};
use ctx_tokens::estimate;
use ctx_types::{Content, ContentPart, Diagnostic, Placement, Role, Span, Text, plural};

use crate::codes;

/// Finds the volatile macros that stand above text which stays the same from turn to turn.
///
/// `is_merging` tells whether system messages are moved to the head, so that those below the conversation
/// stand above it. At most one finding for each entry, its first such macro. What stands in the conversation or
/// below it breaks nothing: there, each turn differs from the last in any case.
/// O(bytes of the preset); token figures are estimates.
pub(crate) fn breakers(
    preset: &Preset,
    macros: &Registry,
    dialect: Dialect,
    is_merging: bool,
) -> Vec<Diagnostic> {
    let pieces = head(preset, is_merging);
    let sizes: Vec<u32> = pieces.iter().map(|piece| estimate(piece.text)).collect();
    let mut found = Vec::new();
    let mut reported = None;
    for (place, piece) in pieces.iter().enumerate() {
        let template = Template::parse(piece.text, dialect, macros);
        let Some(first) = template.macros().find(|used| used.volatile) else { continue };
        if reported.replace(piece.entry.index) == Some(piece.entry.index) {
            continue;
        }
        let rest = piece.text.get(first.span.end..).unwrap_or_default();
        let below = sizes[place + 1..].iter().fold(estimate(rest), |sum, size| sum.saturating_add(*size));
        found.push(finding(piece, first.name, first.span, below, is_merging));
    }
    found
}

/// One text of the head of a request.
struct Piece<'a> {
    entry: &'a Entry,
    part: Option<usize>,
    text: &'a Text,
}

/// Returns the texts above the conversation, in the order in which they are sent.
fn head(preset: &Preset, is_merging: bool) -> Vec<Piece<'_>> {
    let history = preset.entries().iter().position(|entry| entry.part == Part::History);
    let history = history.unwrap_or(preset.entries().len());
    let is_sent =
        |entry: &&Entry| entry.has_own_content() && entry.off_reason().is_none() && is_listed(entry);
    let is_moved = |entry: &Entry| is_merging && entry.role == Role::System;
    let entries = || preset.entries().iter().enumerate().filter(|(_, entry)| is_sent(entry));
    let moved = entries().filter(|(_, entry)| is_moved(entry));
    let stay = entries().filter(|(place, entry)| !is_moved(entry) && *place < history);
    moved.chain(stay).flat_map(|(_, entry)| texts(entry)).collect()
}

/// Tells whether an entry stands where the list has it, or beside something that does.
fn is_listed(entry: &Entry) -> bool {
    matches!(entry.placement, Placement::InOrder)
}

fn texts(entry: &Entry) -> Vec<Piece<'_>> {
    match &entry.content {
        Content::Text(text) => vec![Piece { entry, part: None, text }],
        Content::Parts(parts) => {
            let texts = parts.iter().enumerate().filter_map(|(part, content)| match content {
                ContentPart::Text(text) => Some(Piece { entry, part: Some(part), text }),
                ContentPart::Other(_) => None,
            });
            texts.collect()
        }
    }
}

fn finding(piece: &Piece<'_>, name: &str, span: Span, below: u32, is_merging: bool) -> Diagnostic {
    let tokens = plural(below as usize, "token");
    let message = format!(
        "`{name}` differs from turn to turn: everything below is sent uncached each turn, about {tokens} of \
         the preset and the whole conversation"
    );
    let help = if is_merging && piece.entry.role == Role::System {
        "move it below the conversation: into an entry of its own with `injectionStrategy: {type: depth, depth: 0}`"
    } else {
        "move it below `chat_history`, into an entry of its own"
    };
    let index = piece.entry.index;
    let pointer = match piece.part {
        None => format!("/presetMessages/{index}/content"),
        Some(part) => format!("/presetMessages/{index}/content/{part}/text"),
    };
    Diagnostic::warning(codes::CACHE_BREAKER, message).at_pointer(pointer).at_span(span).with_help(help)
}
