//! What breaks the provider's prompt cache between two turns of one conversation.
//!
//! Providers cache a request by its beginning, byte for byte. A macro whose value changes from turn to turn
//! ends what they can reuse: everything below it is computed, and paid, anew. The same is true of a variable that
//! was set to such a value, and of a session variable, which the conversation changes.

use std::collections::BTreeMap;

use ctx_anchors::{Entry, Part, Preset};
use ctx_macros::{Dialect, Registry, Template, VolatileVariables};
use ctx_tokens::estimate;
use ctx_types::{Content, ContentPart, Diagnostic, Placement, Role, Span, Text, plural};

use crate::codes;

/// What decides which texts stand at the head of a request, and what differs in them.
#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    pub(crate) dialect: Dialect,
    /// System messages are moved to the head, so that those below the conversation stand above it.
    pub(crate) is_merging: bool,
    /// `$[name]` stands for a session variable.
    pub(crate) has_session_variables: bool,
}

/// Finds the volatile macros that stand above text which stays the same from turn to turn, readers of variables
/// that were set to what such macros gave, and session variables.
///
/// At most one finding for each entry, its first such macro. What stands in the conversation or
/// below it breaks nothing: there, each turn differs from the last in any case.
/// O(bytes of the preset); token figures are estimates.
pub(crate) fn breakers(preset: &Preset, macros: &Registry, conditions: Conditions) -> Vec<Diagnostic> {
    let is_merging = conditions.is_merging;
    let volatile = volatile(preset, macros, conditions);
    let pieces = head(preset, is_merging);
    let sizes: Vec<u32> = pieces.iter().map(|piece| estimate(piece.text)).collect();
    let mut found = Vec::new();
    let mut reported = None;
    for (place, piece) in pieces.iter().enumerate() {
        let Some((name, span)) = volatile.get(&(piece.entry.index, piece.part)) else { continue };
        if reported.replace(piece.entry.index) == Some(piece.entry.index) {
            continue;
        }
        let rest = piece.text.get(span.end..).unwrap_or_default();
        let below = sizes[place + 1..].iter().fold(estimate(rest), |sum, size| sum.saturating_add(*size));
        found.push(finding(piece, name, *span, below, is_merging));
    }
    found
}

/// The first thing in each text that differs from turn to turn, with its name and place; by the index of the entry
/// and the part of its content.
type Volatile = BTreeMap<(usize, Option<usize>), (String, Span)>;

/// Looks at all texts in the order in which they are expanded, which is that of the list.
fn volatile(preset: &Preset, macros: &Registry, conditions: Conditions) -> Volatile {
    let mut variables = VolatileVariables::default();
    let mut found = BTreeMap::new();
    let is_on = |entry: &&Entry| entry.has_own_content() && entry.off_reason().is_none();
    for piece in preset.entries().iter().filter(is_on).flat_map(texts) {
        let template = Template::parse(piece.text, conditions.dialect, macros);
        let used = template.volatile_macros(&mut variables);
        let used = used.first().map(|used| (used.name.to_owned(), used.span));
        let shown = session_variable(piece.text).filter(|_| conditions.has_session_variables);
        if let Some(first) = used.into_iter().chain(shown).min_by_key(|(_, span)| span.start) {
            found.insert((piece.entry.index, piece.part), first);
        }
    }
    found
}

/// Returns the first `$[name]` of a text.
fn session_variable(text: &str) -> Option<(String, Span)> {
    let references = text.match_indices("$[").filter_map(|(start, _)| {
        let name = text.get(start..)?.split_once(']')?.0.len() + 1;
        let span = Span::new(start, start + name);
        let is_one = span.len() > "$[]".len() && !text.get(start..span.end)?.contains('\n');
        is_one.then(|| text.get(start..span.end).map(|name| (name.to_owned(), span)))?
    });
    references.into_iter().next()
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
